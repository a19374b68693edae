//! What becomes of the order.

use std::time::Duration;

use contracts::messages::LiveUpdate;
use domain::{Epoch, Fingerprint, Order, OrderState, Rejection};
use dynamo_store::Refused;
use lambda_kit::testing::{logged, metrics};
use redis_store::SeatStatus;
use test_sale::{LONG, currency, now, partitions, places, seats, show};

use crate::desk::{Desk, buried, given_up};

#[tokio::test]
async fn the_order_is_refused_its_hold_given_back_and_its_fan_told() {
    let desk = Desk::of(10, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2), seats([1])]).await;
    assert_eq!((desk.counts("floor").await.0, desk.counts("stalls").await.0), (2, 1));
    for letter in [buried(&intent), given_up(&intent)] {
        assert!(desk.batch(&[letter]).await.is_empty());
        desk.assert_ended(&intent).await;
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
        assert_eq!(desk.counts("stalls").await, (0, 0, 4));
        let order = desk.order(&intent).await;
        assert_eq!(desk.told(), [LiveUpdate::order(&order), LiveUpdate::tick(&show())]);
    }
}

#[tokio::test]
async fn the_same_letter_twice_in_one_batch_and_in_two_at_once_ends_the_order_once() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let letter = buried(&intent);
    assert!(desk.batch(&[letter.clone(), letter.clone()]).await.is_empty());
    assert_eq!(desk.parked.take_sent().len(), 1);
    let first = desk.order(&intent).await;
    let twice = [letter];
    let (one, other) = tokio::join!(desk.batch(&twice), desk.batch(&twice));
    assert!(one.is_empty() && other.is_empty());
    assert_eq!(desk.order(&intent).await, first);
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
}

#[tokio::test]
async fn an_order_that_was_persisted_all_the_same_is_left_alone_and_settled() {
    let desk = Desk::of(10, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2), seats([1])]).await;
    let stored = desk.sale.persist_unsettled(&intent, LONG).await;
    for _ in 0..2 {
        assert!(desk.batch(&[given_up(&intent)]).await.is_empty());
        assert_eq!(desk.order(&intent).await, stored);
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
        assert_eq!(desk.sale.seat_status(1).await, SeatStatus::Sold);
        assert_eq!((desk.sale.owned("floor").await, desk.sale.owned("stalls").await), (2, 1));
        assert_eq!(desk.told()[0], LiveUpdate::order(&stored));
        assert_eq!(desk.parked.take_sent()[0].attributes["order_state"], "pending");
    }
}

#[tokio::test]
async fn a_letter_with_another_content_than_its_live_order_takes_nothing_from_it() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let stored = desk.sale.persist_unsettled(&intent, LONG).await;
    let mut other = intent.clone();
    other.fingerprint = Fingerprint([1; 32]);
    for _ in 0..2 {
        let (back, lines) = logged(desk.batch(&[buried(&other)])).await;
        assert!(back.is_empty());
        assert!(metrics(&lines).any(|metric| metric == "intent_with_other_content"));
        assert_eq!(desk.order(&intent).await, stored);
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
    }
}

#[tokio::test]
async fn redriving_one_whose_order_has_ended_changes_nothing() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist(&intent, Duration::ZERO).await;
    let expired = OrderState::Expired;
    desk.sale.orders.order_end(&order, expired, now(), &partitions()).await.unwrap();
    let ended = desk.order(&intent).await;
    for _ in 0..2 {
        assert!(desk.batch(&[given_up(&intent)]).await.is_empty());
        assert_eq!(desk.order(&intent).await, ended);
        assert_eq!(desk.counts("floor").await, (0, 0, 10), "Redis had not heard of the end");
        assert_eq!(desk.sale.owned("floor").await, 0);
        assert_eq!(desk.parked.take_sent()[0].attributes["order_state"], "expired");
    }
}

#[tokio::test]
async fn a_refusal_that_was_stored_first_stays_as_it_is() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let rejection = Rejection::SoldOut { ticket_type: test_sale::kind("floor") };
    let refusal =
        Order::refusal(intent.intent(), intent.epoch, rejection, currency(), intent.held_at);
    assert_eq!(desk.sale.orders.order_refuse(&refusal).await.unwrap(), Refused::Stored);
    for _ in 0..2 {
        assert!(desk.batch(&[buried(&intent)]).await.is_empty());
        assert_eq!(desk.order(&intent).await, refusal);
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
        assert_eq!(desk.told()[0], LiveUpdate::order(&refusal));
    }
}

#[tokio::test]
async fn m13_a_live_order_of_an_older_epoch_is_settled_as_it_was_read_after_this_one_was_seen() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let stored = desk.sale.persist_unsettled(&intent, LONG).await;
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    let _ = desk.sale.wire.take_sent();
    for _ in 0..2 {
        assert!(desk.batch(&[given_up(&intent)]).await.is_empty());
        assert_eq!(desk.order(&intent).await, stored);
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
    }
    let sent = desk.sale.wire.take_sent();
    let reads: Vec<_> = sent.iter().filter(|sent| sent.action == "GetItem").collect();
    assert!(!reads.is_empty());
    for read in reads {
        assert_eq!(read.request["ConsistentRead"], true, "{}", read.request);
    }
}

#[tokio::test]
async fn a_hold_of_a_newer_epoch_is_given_back_too() {
    // M15: a slow repeat of the same request held again after a loss.
    let desk = Desk::of(10, 0).await;
    let first = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    let again = desk.sale.hold("ann", "k", vec![places(2)]).await;
    assert_eq!((again.order, desk.counts("floor").await.0), (first.order, 2));
    for _ in 0..2 {
        assert!(desk.batch(&[buried(&first)]).await.is_empty());
        assert_eq!(desk.order(&first).await.state, OrderState::Rejected);
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
    }
}

#[tokio::test]
async fn who_bought_the_units_since_keeps_them() {
    let desk = Desk::of(0, 1).await;
    let late = desk.sale.hold("ann", "k", vec![seats([0])]).await;
    desk.sale.release(&late).await;
    let next = desk.sale.hold("ben", "k", vec![seats([0])]).await;
    let stored = desk.sale.persist(&next, LONG).await;
    for _ in 0..2 {
        assert!(desk.batch(&[given_up(&late)]).await.is_empty());
        desk.assert_ended(&late).await;
        assert_eq!(desk.order(&next).await, stored);
        assert_eq!(desk.sale.seat_status(0).await, SeatStatus::Sold);
    }
}
