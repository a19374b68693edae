//! What fails on the way makes the letter come back, and only that letter.

use test_sale::places;
use test_support::wire::Fault;

use crate::desk::{Desk, buried, text};

#[tokio::test]
async fn with_redis_out_of_reach_a_letter_comes_back_until_its_hold_is_given_back() {
    let mut desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.lose_redis();
    assert_eq!(desk.batch(&[text("no json"), buried(&intent)]).await, ["1"]);
    assert_eq!(desk.letters.take_postponed(), [2]);
    assert_eq!(desk.parked.take_sent().len(), 1, "the other one is done with");
    desk.assert_ended(&intent).await;
    desk.find_redis();
    assert!(desk.batch(&[buried(&intent)]).await.is_empty());
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
    assert_eq!(desk.parked.take_sent().len(), 1);
}

#[tokio::test]
async fn with_a_queue_out_of_reach_a_letter_comes_back_until_it_is_kept() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    for queue in [&desk.live, &desk.parked] {
        queue.set_refusing(true);
        assert_eq!(desk.batch(&[buried(&intent)]).await, ["0"]);
        assert_eq!(desk.parked.take_sent(), []);
        queue.set_refusing(false);
    }
    assert!(desk.batch(&[buried(&intent)]).await.is_empty());
    assert_eq!(desk.parked.take_sent().len(), 1);
}

#[tokio::test]
async fn with_the_tables_out_of_reach_nothing_is_given_back() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.wire.break_after(0);
    assert_eq!(desk.batch(&[buried(&intent)]).await, ["0"]);
    desk.sale.wire.heal();
    assert_eq!(desk.counts("floor").await, (2, 0, 8));
    assert_eq!(desk.parked.take_sent(), []);
    assert!(desk.batch(&[buried(&intent)]).await.is_empty());
    desk.assert_ended(&intent).await;
}

#[tokio::test]
async fn a_lost_reply_to_the_refusal_is_found_by_reading_and_by_its_repeat() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.wire.next("PutItem", Fault::ReplyLost);
    assert!(desk.batch(&[buried(&intent)]).await.is_empty());
    assert!(desk.sale.wire.is_spent());
    desk.assert_ended(&intent).await;
    assert!(desk.batch(&[buried(&intent)]).await.is_empty());
    desk.assert_ended(&intent).await;
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
}

#[tokio::test]
async fn an_order_that_dynamodb_will_not_even_refuse_loses_its_hold_and_is_kept() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.wire.next("PutItem", Fault::error(400, "ValidationException", "no"));
    assert!(desk.batch(&[buried(&intent)]).await.is_empty());
    assert_eq!(desk.sale.stored("ann", &intent.order).await, None);
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
    let kept = desk.parked.take_sent();
    assert!(!kept[0].attributes.contains_key("order_state"), "{kept:?}");
}

#[tokio::test]
async fn while_another_epoch_is_active_a_letter_waits_for_the_recovery() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.epoch_raise().await;
    assert_eq!(desk.batch(&[buried(&intent)]).await, ["0"]);
    desk.assert_ended(&intent).await;
}

#[tokio::test]
async fn nothing_is_begun_that_can_not_be_finished() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let _ = desk.sale.wire.take_sent();
    assert_eq!(desk.in_seconds(&[buried(&intent), text("no json")], 5).await, ["0", "1"]);
    assert!(desk.sale.wire.take_sent().is_empty());
    assert_eq!(desk.parked.take_sent(), []);
}
