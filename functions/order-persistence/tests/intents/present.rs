//! The order was there already: its item says what is true.

use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{Fingerprint, Order, OrderState, Rejection};
use dynamo_store::{Ended, Refused};
use lambda_kit::testing::{logged, metrics};
use test_sale::{LONG, PATIENT, currency, now, partitions, places, seats};

use crate::desk::{Desk, with_other_content};

#[tokio::test]
async fn a_live_order_is_settled_with_its_own_units_and_acknowledged() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let stored = desk.sale.persist_unsettled(&intent, LONG).await;
    assert_eq!(desk.counts("floor").await, (2, 0, 8));
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
        assert_eq!(desk.order(&intent).await, stored);
    }
}

#[tokio::test]
async fn an_ended_order_gets_no_second_set_of_units() {
    let desk = Desk::of(10, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![seats([1])]).await;
    let order = desk.sale.persist_unsettled(&intent, Duration::ZERO).await;
    let ended = desk.sale.orders.order_end(&order, OrderState::Expired, now(), &partitions()).await;
    assert!(matches!(ended.unwrap(), Ended::Ended { .. }));
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.order(&intent).await.state, OrderState::Expired);
        assert_eq!(desk.counts("stalls").await, (0, 0, 4), "the hold is released");
        assert_eq!(desk.sale.owned("stalls").await, 0);
    }
}

#[tokio::test]
async fn b23_a_refusal_that_was_stored_first_stays_and_the_hold_is_released() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let refusal = refusal_of(&intent);
    assert_eq!(desk.sale.orders.order_refuse(&refusal).await.unwrap(), Refused::Stored);
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.order(&intent).await, refusal);
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
        assert_eq!(desk.sale.owned("floor").await, 0);
    }
}

fn refusal_of(intent: &OrderIntent) -> Order {
    let rejection = Rejection::SoldOut { ticket_type: test_sale::kind("floor") };
    // As it is stored: to the millisecond.
    let refused_at = intent.held_at;
    Order::refusal(intent.intent(), intent.epoch, rejection, currency(), refused_at)
}

#[tokio::test]
async fn an_order_of_another_content_is_left_alone_and_has_its_own_units_only() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let time = domain::HoldTime::default();
    let mut other = with_other_content(intent.clone().into_order(&time, now()));
    other.lines.clear();
    desk.sale.orders.order_persist(&other, &partitions(), PATIENT).await.unwrap();
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.order(&intent).await.fingerprint, other.fingerprint);
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
    }
}

#[tokio::test]
async fn an_intent_of_another_content_takes_nothing_from_its_live_order_and_is_counted() {
    let desk = Desk::of(10, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2), seats([1])]).await;
    let stored = desk.sale.persist_unsettled(&intent, LONG).await;
    let other = OrderIntent { fingerprint: Fingerprint([1; 32]), ..intent.clone() };
    for _ in 0..2 {
        let (back, lines) = logged(desk.batch(std::slice::from_ref(&other))).await;
        assert!(back.is_empty());
        assert_eq!(metrics(&lines).collect::<Vec<_>>(), ["intent_with_other_content"]);
        assert_eq!(desk.order(&intent).await, stored);
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
        assert_eq!(desk.counts("stalls").await, (0, 1, 3));
    }
    let (_, lines) = logged(desk.batch(&[intent])).await;
    assert_eq!(metrics(&lines).next(), None, "its own content is none to count");
}

#[tokio::test]
async fn an_intent_of_another_content_gives_back_the_hold_of_an_ended_order() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist_unsettled(&intent, Duration::ZERO).await;
    let ended = desk.sale.orders.order_end(&order, OrderState::Expired, now(), &partitions()).await;
    assert!(matches!(ended.unwrap(), Ended::Ended { .. }));
    let other = OrderIntent { fingerprint: Fingerprint([1; 32]), ..intent.clone() };
    for _ in 0..2 {
        let (back, lines) = logged(desk.batch(std::slice::from_ref(&other))).await;
        assert!(back.is_empty());
        assert_eq!(metrics(&lines).collect::<Vec<_>>(), ["intent_with_other_content"]);
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
    }
}

#[tokio::test]
async fn a_hold_that_is_about_to_lapse_is_not_worth_a_messages_return() {
    let mut desk = Desk::of(10, 0).await;
    let late = Duration::from_secs(35);
    let intent = desk.sale.hold_for("ann", "k", vec![places(2)], late).await;
    desk.lose_redis();
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.refusal(&intent).await, Rejection::HoldExpired);
    }
    desk.find_redis();
    assert_eq!(desk.counts("floor").await, (2, 0, 8), "Redis gives it back by itself");
}

#[tokio::test]
async fn a_release_that_fails_is_tried_again_while_the_hold_lives() {
    let mut desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.orders.order_refuse(&refusal_of(&intent)).await.unwrap();
    desk.lose_redis();
    assert_eq!(desk.batch(std::slice::from_ref(&intent)).await, ["0"]);
    desk.find_redis();
    assert!(desk.batch(&[intent]).await.is_empty());
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
}
