//! One intent has one decision: however often, at once or later, in whatever
//! words it is repeated.

use std::collections::BTreeSet;

use contracts::catalog::TicketTypeBody;
use contracts::messages::OrderIntent;
use contracts::orders::{OrderBody, OrderStateBody, OrdersBody};
use domain::{CustomerId, OrderId, OrderState};
use e2e::error::ClientError;
use e2e::http::Answer;
use e2e::identity::new_word;
use e2e::plan::{PRICE, Plan};
use e2e::sale::{Sale, Shopper};
use e2e::stores::Stores;
use e2e::world::World;
use futures::future::try_join_all;
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

fn places(quantity: u32) -> Value {
    json!([{"ticket_type": "floor", "quantity": quantity}])
}

fn order_of(answer: Answer) -> Result<OrderBody, ClientError> {
    answer.expect(202)?.json()
}

async fn accepted(
    sale: &Sale,
    buyer: &Shopper,
    key: &str,
    lines: Value,
) -> Result<OrderId, ClientError> {
    Ok(order_of(sale.buy(buyer, key, lines).await?)?.id)
}

#[tokio::test]
async fn b8_one_cart_posted_four_times_at_once_is_one_order_with_four_equal_answers() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 20).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let key = new_word();
    let answers = try_join_all((0..4).map(|_| sale.buy(&buyer, &key, places(3)))).await?;
    let orders: Vec<OrderBody> = answers.into_iter().map(order_of).collect::<Result<_, _>>()?;
    for order in &orders {
        // A later answer may already say `pending`; what was bought is the same.
        let told = (order.id, &order.lines, order.total);
        let first = (orders[0].id, &orders[0].lines, orders[0].total);
        assert_eq!(told, first);
    }
    sale.settled(&buyer.fan, orders[0].id).await?;
    let page: OrdersBody = world.api.get("/orders").by(&buyer.fan).read().await?;
    assert_eq!(page.orders.len(), 1);
    assert_eq!(sale.remaining("floor").await?, 17);
    Ok(())
}

#[tokio::test]
async fn b9_the_same_content_in_other_words_is_a_repeat_and_other_content_is_refused() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new().standing("floor", 20).section("stalls", "A", 1, 6);
    let sale = plan.set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let key = new_word();
    let cart = json!([{"ticket_type": "floor", "quantity": 1},
                      {"ticket_type": "stalls", "seats": ["A-1-1", "A-1-2"]}]);
    let order = accepted(&sale, &buyer, &key, cart).await?;
    let reworded = json!([{"seats": ["A-1-2", "A-1-1"], "quantity": 2, "ticket_type": "stalls"},
                          {"quantity": 1, "ticket_type": "floor"}]);
    assert_eq!(accepted(&sale, &buyer, &key, reworded).await?, order);
    for other in [places(1), places(2)] {
        let refused = sale.buy(&buyer, &key, other).await?.expect(422)?;
        assert_eq!(refused.problem()?.reason, "key_reused");
    }
    assert_eq!((sale.remaining("floor").await?, sale.remaining("stalls").await?), (19, 4));
    sale.settled(&buyer.fan, order).await?;
    let refused = sale.buy(&buyer, &key, places(1)).await?.expect(422)?;
    assert_eq!(refused.problem()?.reason, "key_reused", "also once it is stored");
    Ok(())
}

#[tokio::test]
async fn b9_one_key_of_another_event_customer_or_case_is_an_order_of_its_own() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 20).set_up(&world).await?;
    let elsewhere = Plan::new().standing("floor", 20).set_up_by(&world, sale.operator.clone());
    let elsewhere = elsewhere.await?;
    let buyer = sale.shopper().await?;
    let there = elsewhere.admit(buyer.fan.clone()).await?;
    let other = sale.shopper().await?;
    let key = format!("key-{}", new_word());
    let orders = BTreeSet::from([
        accepted(&sale, &buyer, &key, places(1)).await?,
        accepted(&sale, &buyer, &key.to_uppercase(), places(1)).await?,
        accepted(&sale, &other, &key, places(1)).await?,
        accepted(&elsewhere, &there, &key, places(1)).await?,
    ]);
    assert_eq!(orders.len(), 4);
    assert_eq!((sale.remaining("floor").await?, elsewhere.remaining("floor").await?), (17, 19));
    Ok(())
}

#[tokio::test]
async fn b11_sold_out_stays_sold_out_for_its_key_when_stock_comes_back() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 3).set_up(&world).await?;
    let three = json!({"ticket_type": "floor", "quantity": 3});
    sale.withdraw("house", &three).await?.expect(201)?;
    let buyer = sale.shopper().await?;
    let key = new_word();
    let refused = sale.buy(&buyer, &key, places(1)).await?.expect(409)?;
    assert_eq!(refused.problem()?.reason, "sold_out");
    sale.give_back("house").await?;
    assert_eq!(sale.remaining("floor").await?, 3);
    let again = sale.buy(&buyer, &key, places(1)).await?.expect(409)?;
    assert_eq!(again.problem()?.reason, "sold_out");
    let location = again.header("location").unwrap_or_default().to_owned();
    let stored: OrderBody = world.api.get(&location).by(&buyer.fan).read().await?;
    assert_eq!(stored.state, OrderStateBody::Stored(OrderState::Rejected));
    assert_eq!(stored.reason.as_deref(), Some("sold_out"));
    sale.bought(&buyer, places(1)).await?;
    Ok(())
}

#[tokio::test]
async fn b12_after_a_price_change_the_same_key_has_the_first_order_at_the_first_price() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 9).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let key = new_word();
    let order = order_of(sale.buy(&buyer, &key, places(2)).await?)?;
    let current: TicketTypeBody = sale.ticket_type("floor").await?;
    let edit = json!({"kind": "general_admission", "name": "floor", "capacity": 9,
                      "price": {"amount": PRICE + 100, "currency": "TWD"}});
    sale.edit("/ticket-types/floor", current.version, &edit).await?.expect(200)?;
    let again = order_of(sale.buy(&buyer, &key, places(2)).await?)?;
    assert_eq!((again.id, again.total), (order.id, order.total));
    sale.settled(&buyer.fan, order.id).await?;
    let stored = order_of(sale.buy(&buyer, &key, places(2)).await?)?;
    assert_eq!(stored.total.amount, 2 * PRICE, "the quoted price stands");
    let new = sale.bought(&buyer, places(2)).await?;
    assert_eq!(new.total.amount, 2 * (PRICE + 100));
    assert_eq!(sale.remaining("floor").await?, 5);
    Ok(())
}

#[tokio::test]
async fn m1_the_same_intent_twice_in_one_batch_and_in_two_is_persisted_once() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 20).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let key = new_word();
    // Each repeat that finds the hold sends its intent again.
    let answers = try_join_all((0..8).map(|_| sale.buy(&buyer, &key, places(2)))).await?;
    let order: OrderBody = answers[0].json()?;
    let stored = sale.settled(&buyer.fan, order.id).await?;
    let intent = intent_of(&world, &buyer, order.id).await?;
    send_intents(&world, &[&intent, &intent, &intent]).await?;
    send_intents(&world, &[&intent]).await?;
    world.until_intents_are_worked_off().await?;
    let after = sale.order(&buyer.fan, order.id).await?;
    assert_eq!(after, stored, "version and all");
    let page: OrdersBody = world.api.get("/orders").by(&buyer.fan).read().await?;
    assert_eq!(page.orders.len(), 1);
    assert_eq!(sale.remaining("floor").await?, 18);
    Ok(())
}

/// The intent that an order came from, as the reservation had queued it.
async fn intent_of(
    world: &World,
    buyer: &Shopper,
    id: OrderId,
) -> Result<OrderIntent, ClientError> {
    let customer = CustomerId::parse(&buyer.fan.id)
        .map_err(|_| ClientError::InvalidId { id: buyer.fan.id.clone() })?;
    let stored = Stores::of(&world.stack).orders.order_fetch(&customer, &id).await?;
    let order = stored.ok_or_else(|| ClientError::InvalidId { id: id.to_string() })?;
    Ok(OrderIntent {
        order: order.id,
        customer: order.customer,
        event: order.event,
        epoch: order.epoch,
        fingerprint: order.fingerprint,
        lines: order.lines,
        currency: order.total.currency,
        held_at: order.created_at,
        expires_at: order.pay_by.unwrap_or(order.created_at),
    })
}

async fn send_intents(world: &World, intents: &[&OrderIntent]) -> Journey {
    let entries: Vec<Value> = (0..)
        .zip(intents)
        .map(|(at, intent): (u32, _)| {
            let body = serde_json::to_string(intent).unwrap_or_default();
            json!({"Id": at.to_string(), "MessageBody": body})
        })
        .collect();
    let url = &world.stack.order_intents_queue_url;
    world.sqs("SendMessageBatch", &json!({"QueueUrl": url, "Entries": entries})).await?;
    Ok(())
}
