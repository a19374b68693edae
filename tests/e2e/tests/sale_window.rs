//! When a sale is open: the server's clock and the operator decide.

use contracts::catalog::EventBody;
use contracts::orders::OrderBody;
use domain::SaleState;
use e2e::clock::seconds_from_now;
use e2e::error::ClientError;
use e2e::identity::new_word;
use e2e::plan::Plan;
use e2e::until::{SOON, Seen, eventually};
use e2e::world::World;
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

fn one_place() -> Value {
    json!([{"ticket_type": "floor", "quantity": 1}])
}

#[tokio::test]
async fn b17_a_sale_opens_and_closes_at_its_instants_by_the_servers_clock() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 500).window(8, 16).set_up(&world).await?;
    let event: EventBody = world.api.get(&sale.path("")).read().await?;
    assert!(event.sale.opens_at_local.ends_with("+08:00"), "shown in the event's zone");
    let buyer = sale.shopper().await?;
    let key = new_word();
    let early = sale.buy(&buyer, &key, one_place()).await?;
    let asked_before_opening = seconds_from_now(0) < event.sale.opens_at;
    assert!(asked_before_opening, "the machine is too slow to ask before the sale opens");
    assert_eq!((early.status, early.problem()?.reason.as_str()), (409, "not_open"));
    let (order, accepted_by) = eventually("the sale opens", SOON, async || {
        let answer = sale.buy(&buyer, &key, one_place()).await?;
        if answer.status == 409 && answer.problem()?.reason == "not_open" {
            return Ok(Seen::NotYet(answer.text()));
        }
        let order: OrderBody = answer.expect(202)?.json()?;
        Ok(Seen::Yes((order, seconds_from_now(0))))
    })
    .await?;
    assert!(accepted_by >= event.sale.opens_at, "{accepted_by}");
    let order = sale.settled(&buyer.fan, order.id).await?;
    assert!(order.created_at >= Some(event.sale.opens_at), "{order:?}");
    assert!(order.created_at < Some(event.sale.closes_at), "{order:?}");
    let late = eventually("the sale ends", SOON, async || {
        let answer = sale.buy(&buyer, &new_word(), one_place()).await?;
        let over = answer.status != 202;
        Ok(if over { Seen::Yes(answer) } else { Seen::NotYet(answer.text()) })
    })
    .await?;
    assert!(seconds_from_now(0) >= event.sale.closes_at);
    assert_eq!((late.status, late.problem()?.reason.as_str()), (409, "closed"));
    let event: EventBody = world.api.get(&sale.path("")).read().await?;
    assert_eq!(event.state, SaleState::Closed);
    Ok(())
}

#[tokio::test]
async fn b22_who_was_refused_because_of_a_pause_is_accepted_with_the_same_key_afterwards() -> Journey
{
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 9).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    sale.switch("paused").await?;
    let key = new_word();
    let refused = sale.buy(&buyer, &key, one_place()).await?.expect(409)?;
    assert_eq!(refused.problem()?.reason, "paused");
    sale.switch("open").await?;
    let order: OrderBody = sale.buy(&buyer, &key, one_place()).await?.expect(202)?.json()?;
    sale.settled(&buyer.fan, order.id).await?;
    sale.switch("closed").await?;
    let closed = sale.buy(&buyer, &new_word(), one_place()).await?.expect(409)?;
    assert_eq!(closed.problem()?.reason, "closed");
    let replayed = sale.buy(&buyer, &key, one_place()).await?.expect(202)?;
    assert_eq!(replayed.json::<OrderBody>()?.id, order.id, "a decision outlives the sale");
    assert_eq!(sale.remaining("floor").await?, 8);
    Ok(())
}

#[tokio::test]
async fn b22_who_came_before_the_operator_opened_is_accepted_with_the_same_key_afterwards()
-> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 9).unopened().set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let key = new_word();
    let refused = sale.buy(&buyer, &key, one_place()).await?.expect(409)?;
    assert_eq!(refused.problem()?.reason, "not_open");
    sale.switch("open").await?;
    eventually("the sale opens", SOON, async || {
        let answer = sale.buy(&buyer, &key, one_place()).await?;
        Ok(if answer.status == 202 { Seen::Yes(()) } else { Seen::NotYet(answer.text()) })
    })
    .await?;
    assert_eq!(sale.remaining("floor").await?, 8);
    Ok(())
}
