//! What is not paid in time can be had by others, at once.

use std::time::Duration;

use contracts::orders::{OrderBody, OrderStateBody};
use domain::OrderState;
use e2e::clock::seconds_from_now;
use e2e::error::ClientError;
use e2e::identity::new_word;
use e2e::plan::Plan;
use e2e::sale::{Sale, Shopper};
use e2e::until::{SOON, Seen, eventually};
use e2e::world::World;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

fn places(ticket_type: &str, quantity: u32) -> Value {
    json!([{"ticket_type": ticket_type, "quantity": quantity}])
}

/// Until the time to pay for an order is over, by the order's own word.
async fn until_overdue(hold: Duration, order: &OrderBody) -> Journey {
    eventually("the time to pay is over", hold + SOON, async || {
        let now = seconds_from_now(0);
        Ok(Seen::when(order.expires_at < Some(now), order.expires_at))
    })
    .await?;
    Ok(())
}

async fn stored(sale: &Sale, buyer: &Shopper, lines: Value) -> Result<OrderBody, ClientError> {
    let order = sale.bought(buyer, lines).await?;
    sale.settled(&buyer.fan, order.id).await
}

#[tokio::test]
async fn b4_nine_of_ten_are_not_paid_for_and_the_next_fan_gets_two_at_once() -> Journey {
    let world = World::connect()?;
    let hold = world.short_hold()?;
    let sale = Plan::new().standing("floor", 10).set_up(&world).await?;
    let (slow, next) = (sale.shopper().await?, sale.shopper().await?);
    let order = stored(&sale, &slow, places("floor", 9)).await?;
    let short = sale.buy(&next, &new_word(), places("floor", 2)).await?.expect(409)?;
    assert_eq!(short.problem()?.reason, "sold_out");
    until_overdue(hold, &order).await?;
    sale.bought(&next, places("floor", 2)).await?;
    let expired = sale.order(&slow.fan, order.id).await?;
    assert_eq!(expired.state, OrderStateBody::Stored(OrderState::Expired));
    assert_eq!(sale.remaining("floor").await?, 8);
    Ok(())
}

#[tokio::test]
async fn b25_500_unpaid_orders_of_one_type_make_no_other_type_sold_out() -> Journey {
    let world = World::connect()?;
    let hold = world.short_hold()?;
    let sale = Plan::new().standing("floor", 500).standing("balcony", 1).set_up(&world).await?;
    let buyers: Vec<Shopper> = stream::iter(world.identity.fans(10).await?)
        .map(|fan| sale.admit(fan))
        .buffered(5)
        .try_collect()
        .await?;
    let floor = stream::iter(buyers.iter().cycle().take(500))
        .map(|buyer| sale.bought(buyer, places("floor", 1)));
    let orders: Vec<OrderBody> = floor.buffered(16).try_collect().await?;
    assert_eq!(orders.len(), 500);
    let last = stored(&sale, &buyers[0], places("balcony", 1)).await?;
    let next = sale.shopper().await?;
    let short = sale.buy(&next, &new_word(), places("balcony", 1)).await?.expect(409)?;
    assert_eq!(short.problem()?.reason, "sold_out");
    until_overdue(hold, &last).await?;
    sale.bought(&next, places("balcony", 1)).await?;
    Ok(())
}

#[tokio::test]
async fn b21_a_seat_that_is_out_of_sale_is_refused_also_after_the_hold_time() -> Journey {
    let world = World::connect()?;
    let hold = world.short_hold()?;
    let sale = Plan::new().section("stalls", "A", 1, 3).set_up(&world).await?;
    let house = json!({"ticket_type": "stalls", "seats": ["A-1-1"]});
    sale.withdraw("house", &house).await?.expect(201)?;
    let (slow, next) = (sale.shopper().await?, sale.shopper().await?);
    let seat = |label: &str| json!([{"ticket_type": "stalls", "seats": [label]}]);
    let order = stored(&sale, &slow, seat("A-1-2")).await?;
    until_overdue(hold, &order).await?;
    let refused = sale.buy(&next, &new_word(), seat("A-1-1")).await?.expect(409)?;
    assert_eq!(refused.problem()?.reason, "seat_taken");
    sale.bought(&next, seat("A-1-2")).await?;
    Ok(())
}

#[tokio::test]
async fn a_key_whose_order_was_not_paid_in_time_buys_nothing_again() -> Journey {
    let world = World::connect()?;
    let hold = world.short_hold()?;
    let sale = Plan::new().standing("floor", 1).set_up(&world).await?;
    let (slow, next) = (sale.shopper().await?, sale.shopper().await?);
    let key = new_word();
    let answer = sale.buy(&slow, &key, places("floor", 1)).await?.expect(202)?;
    let order = sale.settled(&slow.fan, answer.json::<OrderBody>()?.id).await?;
    until_overdue(hold, &order).await?;
    let won = stored(&sale, &next, places("floor", 1)).await?;
    let repeated = sale.buy(&slow, &key, places("floor", 1)).await?;
    let told: Value = repeated.json()?;
    assert_eq!(told["id"].as_str(), Some(order.id.to_string().as_str()), "{told}");
    assert_eq!(told["state"], "expired", "{told}");
    let kept = sale.order(&next.fan, won.id).await?;
    assert_eq!(kept.state, OrderStateBody::Stored(OrderState::Pending));
    assert_eq!(sale.remaining("floor").await?, 0);
    Ok(())
}
