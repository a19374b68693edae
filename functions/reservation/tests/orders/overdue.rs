//! Orders that were not paid in time are ended where they are in the way, and as
//! long as one is, nothing is called sold out.

use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{HoldTime, Line, Order, OrderState, TicketKind, TicketType, Wanted};
use dynamo_store::PartitionCounts;
use redis_store::{Settle, Settled, TypeControl};
use serde_json::json;
use test_sale::{EPOCH, PATIENT, Sale, kind, show};
use test_support::wire::Fault;

use crate::shop::{Shop, places, seats};

/// A further type of general admission, all of whose places may be issued.
async fn add_type(sale: &Sale, name: &str, index: u8, ceiling: u32) -> PartitionCounts {
    let floor = sale.catalog.ticket_type_fetch(&show(), &kind("floor")).await.unwrap().unwrap();
    let added =
        TicketType { id: kind(name), index, ceiling, capacity: ceiling, version: 1, ..floor };
    sale.catalog.ticket_type_create(&show(), &added).await.unwrap();
    let control = TypeControl {
        id: added.id.clone(),
        index,
        kind: TicketKind::GeneralAdmission,
        amount: added.price.amount,
        version: 1,
        limit_per_customer: None,
        ceiling,
        mark: ceiling,
    };
    sale.inventory.type_set(&show(), EPOCH, &control).await.unwrap();
    PartitionCounts::of(&[added])
}

fn one_of(name: &str) -> Line {
    Line { ticket_type: kind(name), wanted: Wanted::Quantity(1) }
}

/// The order that an intent becomes: to be paid by now.
fn due_now(intent: &OrderIntent) -> Order {
    let order = intent.clone().into_order(&HoldTime::default(), test_sale::now());
    Order { pay_by: Some(test_sale::now()), ..order }
}

async fn settle(sale: &Sale, order: &Order) {
    let settled = sale.inventory.settle(&Settle::of(order, EPOCH, false)).await.unwrap();
    assert_eq!(settled, Settled::Applied);
}

async fn state_of(shop: &Shop, fan: &str, intent: &OrderIntent) -> OrderState {
    shop.sale.stored(fan, &intent.order).await.unwrap().state
}

/// So many fans with a place of the floor each, none paid in time.
async fn unpaid_floor(shop: &Shop, fans: usize) -> Vec<OrderIntent> {
    let mut intents = Vec::new();
    for number in 0..fans {
        let fan = format!("fan-{number}");
        let intent = shop.sale.hold(&fan, "k", vec![test_sale::places(1)]).await;
        shop.sale.persist(&intent, Duration::ZERO).await;
        intents.push(intent);
    }
    intents
}

#[tokio::test]
async fn an_order_that_was_not_paid_in_time_makes_room_at_once() {
    for asked in [places(1), seats(&[0])] {
        let shop = Shop::of(1, 1).await;
        let unpaid =
            shop.sale.hold("ann", "k", vec![test_sale::places(1), test_sale::seats([0])]).await;
        shop.sale.persist(&unpaid, Duration::ZERO).await;
        shop.accepted("ben", "k", &asked).await;
        let ended = shop.sale.stored("ann", &unpaid.order).await.unwrap();
        assert_eq!(ended.state, OrderState::Expired);
        assert_eq!((shop.sale.owned("floor").await, shop.sale.owned("stalls").await), (0, 0));
        // Once: a second fan finds it sold out, and it is not freed twice.
        assert_eq!(shop.order("cat", "k", &asked).await.status, 409);
    }
}

#[tokio::test]
async fn who_ends_an_overdue_order_beside_others_tries_again() {
    for asked in [places(1), seats(&[0])] {
        let shop = Shop::of(1, 1).await;
        let unpaid =
            shop.sale.hold("ann", "k", vec![test_sale::places(1), test_sale::seats([0])]).await;
        shop.sale.persist(&unpaid, Duration::ZERO).await;
        let conflict = Fault::cancelled(&["TransactionConflict", "None", "None"]);
        shop.sale.wire.next("TransactWriteItems", conflict);
        shop.accepted("ben", "k", &asked).await;
        assert!(shop.sale.wire.is_spent());
        assert_eq!(state_of(&shop, "ann", &unpaid).await, OrderState::Expired);
    }
}

#[tokio::test]
async fn an_order_that_was_paid_meanwhile_is_not_ended_for_another() {
    let shop = Shop::of(1, 0).await;
    let pending = due_now(&shop.sale.hold("ann", "k", vec![test_sale::places(1)]).await);
    // Paid, and Redis has not heard of it.
    let paid = Order { state: OrderState::Paid, version: 2, pay_by: None, ..pending.clone() };
    shop.sale.orders.order_persist(&paid, &test_sale::partitions(), PATIENT).await.unwrap();
    settle(&shop.sale, &pending).await;

    let answer = shop.order("ben", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "sold_out"));
    let order = shop.sale.stored("ann", &paid.id).await.unwrap();
    assert_eq!(order.state, OrderState::Paid);
}

#[tokio::test]
async fn b25_five_hundred_unpaid_orders_of_one_type_do_not_hide_one_of_another() {
    let shop = Shop::of(500, 0).await;
    let partitions = add_type(&shop.sale, "balcony", 3, 1).await;
    let crowd = unpaid_floor(&shop, 500).await;
    let last = shop.sale.hold("last", "k", vec![one_of("balcony")]).await;
    let order = due_now(&last);
    shop.sale.orders.order_persist(&order, &partitions, PATIENT).await.unwrap();
    settle(&shop.sale, &order).await;

    let balcony = json!({"lines": [{"ticket_type": "balcony", "quantity": 1}]});
    shop.accepted("ann", "k", &balcony).await;
    assert_eq!(state_of(&shop, "last", &last).await, OrderState::Expired);
    assert_eq!(state_of(&shop, "fan-0", &crowd[0]).await, OrderState::Pending, "not in the way");
    // Now it is sold out, although the crowd has not been ended.
    assert_eq!(shop.order("ben", "k", &balcony).await.reason(), "sold_out");
    // And of the crowd's own type forty are to be had.
    shop.accepted("ben", "l", &places(40)).await;
}

#[tokio::test]
async fn however_many_were_paid_meanwhile_one_that_was_not_makes_room() {
    let shop = Shop::of(61, 0).await;
    for number in 0..60 {
        let fan = format!("fan-{number}");
        let intent = shop.sale.hold(&fan, "k", vec![test_sale::places(1)]).await;
        // Paid, and Redis has not heard of it.
        let pending = due_now(&intent);
        let paid = Order { state: OrderState::Paid, version: 2, pay_by: None, ..pending.clone() };
        shop.sale.orders.order_persist(&paid, &test_sale::partitions(), PATIENT).await.unwrap();
        settle(&shop.sale, &pending).await;
    }
    let last = shop.sale.hold("last", "k", vec![test_sale::places(1)]).await;
    shop.sale.persist(&last, Duration::ZERO).await;
    shop.accepted("ann", "k", &places(1)).await;
    assert_eq!(state_of(&shop, "last", &last).await, OrderState::Expired);
    assert_eq!(shop.order("ben", "k", &places(1)).await.reason(), "sold_out");
}

#[tokio::test]
async fn an_unpaid_order_that_can_not_be_ended_makes_nothing_sold_out() {
    let shop = Shop::of(1, 1).await;
    // Redis alone believes in it.
    let line = vec![test_sale::places(1), test_sale::seats([0])];
    let phantom = shop.sale.hold("phantom", "k", line).await;
    let believed = due_now(&phantom);
    settle(&shop.sale, &believed).await;
    for (key, asked) in [("a", places(1)), ("b", seats(&[0]))] {
        let answer = shop.order("ann", key, &asked).await;
        assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    }
    settle(&shop.sale, &Order { state: OrderState::Expired, version: 2, ..believed }).await;
    // Nothing was stored: the same keys buy.
    shop.accepted("ann", "a", &places(1)).await;
    shop.accepted("ann", "b", &seats(&[0])).await;
}

#[tokio::test]
async fn b6_an_own_order_that_was_not_paid_in_time_stands_against_no_limit() {
    let shop = Shop::of(10, 4).await;
    shop.sale.set_sale(2, |sale| sale.limit_per_customer = Some(1)).await;
    let unpaid = shop.sale.hold("ann", "a", vec![test_sale::places(1)]).await;
    shop.sale.persist(&unpaid, Duration::ZERO).await;
    let answer = shop.order("ann", "two", &places(2)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "over_limit"));
    assert_eq!(state_of(&shop, "ann", &unpaid).await, OrderState::Pending);
    shop.accepted("ann", "b", &seats(&[0])).await;
    assert_eq!(state_of(&shop, "ann", &unpaid).await, OrderState::Expired);
    assert_eq!(shop.sale.owned("floor").await, 0);
    let answer = shop.order("ann", "c", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "over_limit"));
}
