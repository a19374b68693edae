//! The plain way, and what it costs.

use domain::OrderState;
use test_sale::{PRICES, now, places, seats};

use crate::desk::Desk;

#[tokio::test]
async fn an_intent_becomes_an_order_that_owns_its_units_in_both_stores() {
    let desk = Desk::of(10, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2), seats([1, 2])]).await;
    let before = now();
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    let order = desk.order(&intent).await;
    assert_eq!((order.state, order.version, order.epoch), (OrderState::Pending, 1, intent.epoch));
    assert_eq!(order.lines, intent.lines);
    assert_eq!(order.total.amount, 2 * PRICES.0 + 2 * PRICES.1);
    assert_eq!(order.created_at, intent.held_at);
    let pays_within = order.pay_by.unwrap().duration_since(before).as_secs();
    assert!((599..=601).contains(&pays_within), "the whole hold time, from now: {pays_within}");
    assert_eq!((desk.sale.owned("floor").await, desk.sale.owned("stalls").await), (2, 2));
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
    assert_eq!(desk.counts("stalls").await, (0, 2, 2));
}

#[tokio::test]
async fn a_one_ticket_order_costs_four_write_units_and_one_read_unit() {
    let desk = Desk::of(10, 4).await;
    for (first, second) in [(places(1), places(1)), (seats([0]), seats([1]))] {
        // A warm function knows the partitions, the ceiling and the section.
        let first =
            desk.sale.hold("ann", &format!("first-{}", first.ticket_type), vec![first]).await;
        desk.batch(&[first]).await;
        let key = second.ticket_type.to_string();
        let intent = desk.sale.hold("ann", &key, vec![second]).await;
        let _ = desk.sale.wire.take_sent();
        desk.batch(&[intent]).await;
        let sent = desk.sale.wire.take_sent();
        let (written, read): (Vec<f64>, Vec<f64>) =
            sent.iter().map(|sent| (sent.written, sent.read)).unzip();
        assert_eq!(written.iter().sum::<f64>(), 4.0, "{sent:?}");
        assert_eq!(read.iter().sum::<f64>(), 1.0, "the batch's look at the epoch: {sent:?}");
    }
}

#[tokio::test]
async fn the_epoch_is_read_once_a_batch_however_many_orders_it_has() {
    let desk = Desk::of(10, 0).await;
    let mut intents = Vec::new();
    for number in 0..8 {
        intents.push(desk.sale.hold(&format!("fan-{number}"), "k", vec![places(1)]).await);
    }
    desk.batch(&intents[..1]).await;
    let _ = desk.sale.wire.take_sent();
    assert!(desk.batch(&intents[1..]).await.is_empty());
    let reads = desk.sale.wire.take_sent();
    assert_eq!(reads.iter().filter(|sent| sent.action == "GetItem").count(), 1);
    assert_eq!(desk.counts("floor").await, (0, 8, 2));
}

#[tokio::test]
async fn without_redis_orders_are_persisted_all_the_same() {
    let mut desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.lose_redis();
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty(), "the stream settles it");
    assert_eq!(desk.order(&intent).await.state, OrderState::Pending);
    desk.find_redis();
    assert_eq!(desk.counts("floor").await, (2, 0, 8));
    assert!(desk.batch(&[intent]).await.is_empty());
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
}
