//! Asking for tickets: who gets them, who is refused, and that nothing else
//! changes.

use std::collections::BTreeSet;

use contracts::orders::{OrderBody, OrderStateBody};
use contracts::seats::{LockStatus, LockStatusBody};
use domain::{OrderState, UnitState};
use e2e::error::ClientError;
use e2e::http::Answer;
use e2e::identity::new_word;
use e2e::plan::{PRICE, Plan};
use e2e::sale::{Sale, Shopper};
use e2e::until::{SOON, Seen, eventually};
use e2e::world::World;
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

fn places(ticket_type: &str, quantity: u32) -> Value {
    json!([{"ticket_type": ticket_type, "quantity": quantity}])
}

fn seats(labels: &[&str]) -> Value {
    json!([{"ticket_type": "stalls", "seats": labels}])
}

async fn shoppers(sale: &Sale, count: usize) -> Result<Vec<Shopper>, ClientError> {
    let fans = sale.world.identity.fans(count).await?;
    try_join_all(fans.into_iter().map(|fan| sale.admit(fan))).await
}

/// Asserts a refusal, and that nothing was taken for it.
fn refusal(answer: &Answer, status: u16, reason: &str) -> Result<(), ClientError> {
    let problem = answer.problem()?;
    assert_eq!((answer.status, problem.reason.as_str()), (status, reason), "{}", answer.text());
    Ok(())
}

/// One accepted, all others clearly refused; the accepted one persists.
async fn one_of(sale: &Sale, buyers: &[Shopper], answers: &[Answer]) -> Journey {
    let accepted: Vec<usize> = (0..answers.len()).filter(|&at| answers[at].status == 202).collect();
    assert_eq!(accepted.len(), 1, "{accepted:?}");
    for answer in answers.iter().filter(|answer| answer.status != 202) {
        refusal(answer, 409, "sold_out")?;
    }
    let order: OrderBody = answers[accepted[0]].json()?;
    let stored = sale.settled(&buyers[accepted[0]].fan, order.id).await?;
    assert_eq!(stored.state, OrderStateBody::Stored(OrderState::Pending));
    assert_eq!(stored.lines[0].units.len(), 1);
    assert_eq!(sale.remaining("floor").await?, 0);
    Ok(())
}

#[tokio::test]
async fn b1_one_unit_left_and_50_parallel_purchases_is_one_accepted_and_49_refused() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 1).set_up(&world).await?;
    let buyers = shoppers(&sale, 50).await?;
    let key = new_word();
    let buys = buyers.iter().map(|buyer| sale.buy(buyer, &key, places("floor", 1)));
    let answers = try_join_all(buys).await?;
    one_of(&sale, &buyers, &answers).await
}

#[tokio::test]
async fn b1_one_unit_left_and_1000_buyers_is_one_accepted_and_999_refused() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 1).set_up(&world).await?;
    let fans = world.identity.crowd(1_000, || ()).await?;
    let admitted = stream::iter(fans).map(|fan| sale.admit(fan)).buffered(16);
    let buyers: Vec<Shopper> = admitted.try_collect().await?;
    let buys = buyers.iter().map(|buyer| {
        let post = world.api.post(&sale.path("/orders")).by(&buyer.fan);
        post.header("onsale-admission", &buyer.admission)
            .header("idempotency-key", &new_word())
            .json(&json!({"lines": places("floor", 1)}))
            .send_politely()
    });
    let answers = try_join_all(buys).await?;
    one_of(&sale, &buyers, &answers).await
}

#[tokio::test]
async fn b2_the_last_unit_alone_is_accepted_and_not_called_sold_out() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 1).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let order = sale.bought(&buyer, places("floor", 1)).await?;
    assert_eq!(order.state, OrderStateBody::QUEUED);
    assert_eq!(order.total.amount, PRICE);
    assert!(order.expires_at.is_some());
    let stored = sale.settled(&buyer.fan, order.id).await?;
    assert_eq!(stored.state, OrderStateBody::Stored(OrderState::Pending));
    assert_eq!(stored.lines, order.lines);
    Ok(())
}

#[tokio::test]
async fn b3_three_left_and_five_asked_is_refused_and_three_are_still_left() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 3).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    refusal(&sale.buy(&buyer, &new_word(), places("floor", 5)).await?, 409, "sold_out")?;
    assert_eq!(sale.remaining("floor").await?, 3);
    sale.bought(&buyer, places("floor", 3)).await?;
    assert_eq!(sale.remaining("floor").await?, 0);
    Ok(())
}

#[tokio::test]
async fn b6_a_limit_of_one_holds_over_types_and_orders_and_in_parallel() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new().standing("floor", 10).standing("balcony", 10).limit(1);
    let sale = plan.set_up(&world).await?;
    let buyers = shoppers(&sale, 3).await?;
    let both = json!([{"ticket_type": "floor", "quantity": 1},
                      {"ticket_type": "balcony", "quantity": 1}]);
    refusal(&sale.buy(&buyers[0], &new_word(), both).await?, 409, "over_limit")?;
    sale.bought(&buyers[1], places("floor", 1)).await?;
    let second = sale.buy(&buyers[1], &new_word(), places("balcony", 1)).await?;
    refusal(&second, 409, "over_limit")?;
    let keys = [new_word(), new_word()];
    let (one, other) = futures::future::try_join(
        sale.buy(&buyers[2], &keys[0], places("floor", 1)),
        sale.buy(&buyers[2], &keys[1], places("balcony", 1)),
    )
    .await?;
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409], "{} {}", one.text(), other.text());
    let left = sale.remaining("floor").await? + sale.remaining("balcony").await?;
    assert_eq!(left, 18);
    Ok(())
}

#[tokio::test]
async fn b6_a_limit_of_a_type_holds_over_orders() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new().standing("floor", 10).standing("balcony", 10).limit_of("floor", 2);
    let sale = plan.set_up(&world).await?;
    let buyer = sale.shopper().await?;
    sale.bought(&buyer, places("floor", 1)).await?;
    refusal(&sale.buy(&buyer, &new_word(), places("floor", 2)).await?, 409, "over_limit")?;
    sale.bought(&buyer, places("floor", 1)).await?;
    sale.bought(&buyer, places("balcony", 4)).await?;
    assert_eq!(sale.remaining("floor").await?, 8);
    Ok(())
}

#[tokio::test]
async fn b16_a_seat_that_is_held_at_checkout_is_sold_and_exactly_that_one() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 2, 5).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let order = sale.bought(&buyer, seats(&["A-1-4", "A-2-2"])).await?;
    let units: BTreeSet<&str> = order.lines[0].units.iter().map(String::as_str).collect();
    assert_eq!(units, BTreeSet::from(["A-1-4", "A-2-2"]));
    let path = sale.path("/seats/A-2-2/lock-status");
    let status: LockStatusBody = world.api.get(&path).read().await?;
    assert!(matches!(status.status, LockStatus::Locked | LockStatus::Sold), "{status:?}");
    assert_eq!(status.remaining_seconds.is_some(), status.status == LockStatus::Locked);
    let expected: Vec<UnitState> = (0..10)
        .map(|seat| if seat == 3 || seat == 6 { UnitState::Sold } else { UnitState::Free })
        .collect();
    eventually("exactly those two are sold", SOON, async || {
        let states = sale.seats().await?.sections[0].unpack().unwrap_or_default();
        Ok(Seen::when(states == expected, states))
    })
    .await?;
    let other = sale.shopper().await?;
    let taken = sale.buy(&other, &new_word(), seats(&["A-2-2", "A-2-3"])).await?;
    refusal(&taken, 409, "seat_taken")?;
    let body: Value = taken.json()?;
    assert_eq!(body["seats"], json!(["A-2-2"]), "names which");
    sale.bought(&other, seats(&["A-2-3"])).await?;
    Ok(())
}

#[tokio::test]
async fn b20_as_many_as_are_left_are_sold_more_are_refused_and_negative_ones_are_malformed()
-> Journey {
    let world = World::connect()?;
    let plan = Plan::new().standing("one", 1).standing("single", 1).standing("five", 5);
    let sale = plan.set_up(&world).await?;
    let buyer = sale.shopper().await?;
    sale.bought(&buyer, places("one", 1)).await?;
    refusal(&sale.buy(&buyer, &new_word(), places("single", 3)).await?, 409, "sold_out")?;
    assert_eq!(sale.remaining("single").await?, 1);
    let negative = json!([{"ticket_type": "five", "quantity": -3}]);
    let answer = sale.buy(&buyer, &new_word(), negative).await?;
    refusal(&answer, 400, "invalid_request")?;
    assert_eq!(answer.problem()?.errors[0].pointer, "/lines/0/quantity");
    assert_eq!(sale.remaining("five").await?, 5);
    Ok(())
}

#[tokio::test]
async fn b21_an_invented_seat_is_unknown_and_a_quantity_beside_seats_must_be_their_number()
-> Journey {
    let world = World::connect()?;
    let plan = Plan::new().section("stalls", "A", 1, 4).standing("floor", 5);
    let sale = plan.set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let invented = sale.buy(&buyer, &new_word(), seats(&["A-1-1", "A-1-9"])).await?;
    refusal(&invented, 404, "unknown_seat")?;
    assert_eq!(invented.problem()?.errors[0].pointer, "/lines/0/seats/1");
    let differs = json!([{"ticket_type": "stalls", "seats": ["A-1-1", "A-1-2"], "quantity": 3}]);
    let answer = sale.buy(&buyer, &new_word(), differs).await?;
    refusal(&answer, 400, "invalid_request")?;
    assert_eq!(answer.problem()?.errors[0].pointer, "/lines/0/quantity");
    let unknown = sale.buy(&buyer, &new_word(), places("terrace", 1)).await?;
    refusal(&unknown, 404, "unknown_ticket_type")?;
    let by_number = sale.buy(&buyer, &new_word(), places("stalls", 1)).await?;
    refusal(&by_number, 400, "invalid_request")?;
    let numbered = json!([{"ticket_type": "floor", "seats": ["A-1-1"]}]);
    refusal(&sale.buy(&buyer, &new_word(), numbered).await?, 400, "invalid_request")?;
    assert_eq!(sale.remaining("stalls").await?, 4);
    let lock = |seat: &str| sale.path(&format!("/seats/{seat}/lock-status"));
    world.api.get(&lock("A-1-9")).send().await?.expect(404)?;
    let free: LockStatusBody = world.api.get(&lock("A-1-1")).read().await?;
    assert_eq!(free.status, LockStatus::Available);
    Ok(())
}

#[tokio::test]
async fn several_lines_are_given_all_or_none() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new().section("stalls", "A", 1, 4).standing("floor", 5);
    let sale = plan.set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let lines = |quantity: u32| {
        json!([{"ticket_type": "stalls", "seats": ["A-1-1"]},
               {"ticket_type": "floor", "quantity": quantity}])
    };
    refusal(&sale.buy(&buyer, &new_word(), lines(6)).await?, 409, "sold_out")?;
    assert_eq!((sale.remaining("stalls").await?, sale.remaining("floor").await?), (4, 5));
    let order = sale.bought(&buyer, lines(5)).await?;
    assert_eq!(order.total.amount, 6 * PRICE);
    assert_eq!((sale.remaining("stalls").await?, sale.remaining("floor").await?), (3, 0));
    Ok(())
}
