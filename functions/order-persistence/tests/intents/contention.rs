//! Conflict, throttle, time-out: the outcome is unknown until it is read.

use std::time::Duration;

use domain::OrderState;
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event;
use test_sale::{now, places};
use test_support::wire::Fault;

use crate::desk::Desk;

const TRANSACT: &str = "TransactWriteItems";

#[tokio::test]
async fn contention_is_met_in_place() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    for _ in 0..2 {
        desk.sale.wire.next(TRANSACT, Fault::cancelled(&["TransactionConflict", "None"]));
    }
    let _ = desk.transactions();
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.transactions(), 3);
    assert_eq!(desk.order(&intent).await.state, OrderState::Pending);
}

#[tokio::test]
async fn contention_without_end_comes_back_soon_and_then_lands() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    for _ in 0..3 {
        desk.sale.wire.next(TRANSACT, Fault::cancelled(&["None", "TransactionConflict"]));
    }
    assert_eq!(desk.batch(std::slice::from_ref(&intent)).await, ["0"]);
    assert_eq!(desk.intents.take_postponed(), [1]);
    assert!(desk.sale.wire.is_spent());
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.order(&intent).await.state, OrderState::Pending);
}

#[tokio::test]
async fn m4_conflict_and_throttle_together_go_back_to_the_queue() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let mixed = Fault::cancelled(&["TransactionConflict", "ProvisionedThroughputExceeded"]);
    desk.sale.wire.next(TRANSACT, mixed);
    let _ = desk.sale.wire.take_sent();
    assert_eq!(desk.batch(std::slice::from_ref(&intent)).await, ["0"]);
    assert_eq!(desk.transactions(), 1);
    assert_eq!(desk.intents.take_postponed(), [1]);
    assert_eq!(desk.sale.stored("ann", &intent.order).await, None);
    assert!(desk.batch(&[intent]).await.is_empty());
}

#[tokio::test]
async fn a_transaction_whose_reply_is_lost_is_found_by_reading() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.wire.next(TRANSACT, Fault::ReplyLost);
    let _ = desk.transactions();
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.transactions(), 1, "reading comes before a further try");
    assert_eq!(desk.order(&intent).await.version, 1);
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
    assert_eq!(desk.sale.owned("floor").await, 2);
}

#[tokio::test]
async fn a_table_out_of_reach_refuses_nobody() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    // Partitions are known; then everything is lost.
    let known = desk.sale.hold("ben", "k", vec![places(1)]).await;
    desk.batch(&[known]).await;
    for _ in 0..9 {
        desk.sale.wire.next(TRANSACT, Fault::RequestLost);
        desk.sale.wire.next("GetItem", Fault::RequestLost);
    }
    assert_eq!(desk.batch(std::slice::from_ref(&intent)).await, ["0"]);
    assert_eq!(desk.counts("floor").await, (2, 1, 7), "the hold is kept");
    assert_eq!(desk.intents.take_postponed(), [1]);
}

#[tokio::test]
async fn no_further_try_is_begun_that_can_not_end_in_time() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    desk.sale.wire.next(TRANSACT, Fault::cancelled(&["TransactionConflict", "None"]));
    let _ = desk.transactions();
    // Of which half a second is for the answer: less than another try takes.
    let end = now() + SignedDuration::from_millis(1_400);
    let deadline = Deadline::at(end, Duration::ZERO);
    let response = desk.persistence.batch(sqs_event(&[&intent]), deadline).await;
    assert_eq!(response.batch_item_failures.len(), 1);
    assert_eq!(desk.transactions(), 1);
    assert!(desk.batch(&[intent]).await.is_empty());
}
