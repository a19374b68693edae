//! Functions die in the middle of their work, on the deployed stack.

use std::path::PathBuf;

use clap::Parser;
use contracts::orders::{OrderBody, OrderStateBody};
use domain::OrderState;
use e2e::error::ClientError;
use e2e::identity::new_word;
use e2e::plan::Plan;
use e2e::soak::options::Options;
use e2e::soak::{processes, runs};
use e2e::stack::Stack;
use e2e::until::{SOON, Seen, eventually};
use e2e::world::{Messages, World};
use fault_points::PERSISTENCE_COMMITTED;
use futures::future::try_join_all;
use serde_json::json;

type Journey = Result<(), ClientError>;

/// A file that goes with whoever wrote it: a fault must not outlive its test.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

/// The orders of a batch are committed, Redis doesn't know it, and the process is
/// gone. Its messages come back when the queue's visibility timeout is over, or the
/// stream settles them before.
#[tokio::test]
async fn a_process_that_is_killed_in_the_middle_of_a_batch_costs_nobody_an_order() -> Journey {
    let world = World::connect()?;
    let sale =
        Plan::new().standing("floor", 20).section("stalls", "A", 1, 6).set_up(&world).await?;
    let file = Stack::faults_file();
    let came = file.with_file_name("faults.reached");
    std::fs::remove_file(&came).ok();
    std::fs::write(&file, format!("{PERSISTENCE_COMMITTED} stop\n")).map_err(ClientError::File)?;
    let faults = Removed(file);
    let mut buyers = Vec::new();
    for _ in 1..=3 {
        buyers.push(sale.shopper().await?);
    }
    // Nothing is taken before all are there, so that one batch has them all.
    world.leave_intents().await?;
    let bought = try_join_all(buyers.into_iter().zip(1..).map(async |(buyer, seat)| {
        let lines = json!([{"ticket_type": "floor", "quantity": 2},
                           {"ticket_type": "stalls", "seats": [format!("A-1-{seat}")]}]);
        let key = new_word();
        let order: OrderBody = sale.buy(&buyer, &key, lines.clone()).await?.expect(202)?.json()?;
        Ok::<_, ClientError>((buyer, key, lines, order.id))
    }))
    .await;
    let waiting = world.until_intents(Messages { waiting: 3, taken: 0 }).await;
    world.take_intents().await?;
    let (bought, ()) = (bought?, waiting?);
    let pid = eventually("a process stands in the middle of its batch", SOON, async || {
        let pid = std::fs::read_to_string(&came).ok().and_then(|text| text.parse::<u32>().ok());
        Ok(pid.map_or(Seen::NotYet("nobody yet".to_owned()), Seen::Yes))
    })
    .await;
    let pid = pid?;
    world.until_intents(Messages { waiting: 0, taken: 3 }).await?;
    assert!(processes::kill(pid), "it stood there");
    drop(faults);
    for (buyer, key, lines, order) in &bought {
        let settled = sale.settled(&buyer.fan, *order).await?;
        assert_eq!(settled.state, OrderStateBody::Stored(OrderState::Pending));
        let again = sale.buy(buyer, key, lines.clone()).await?.expect(202)?;
        let again: OrderBody = again.json()?;
        assert_eq!((again.id, again.lines), (settled.id, settled.lines));
    }
    eventually("both stores agree", SOON, async || {
        let left = (sale.remaining("floor").await?, sale.remaining("stalls").await?);
        Ok(Seen::when(left == (14, 3), left))
    })
    .await?;
    world.until_intents_are_worked_off().await
}

/// The short version of `tests/soak`.
#[tokio::test]
async fn small_demos_in_which_things_break_keep_every_promise() -> Journey {
    let options = Options::parse_from(["soak", "--runs", "4", "--seed", "20260101"]);
    let outcome = runs::all(&options, |line| println!("{line}")).await?;
    assert_eq!((outcome.runs, outcome.broken, outcome.endless), (4, 0, 0), "{outcome:?}");
    assert!(outcome.sold > 0, "{outcome:?}");
    assert!(outcome.troubles.values().sum::<u32>() > 0, "{outcome:?}");
    Ok(())
}
