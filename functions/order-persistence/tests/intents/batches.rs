//! Batches: copies, poison, and the time they have.

use domain::{OrderState, Rejection};
use test_sale::{places, seats};
use test_support::wire::Fault;

use crate::desk::Desk;

#[tokio::test]
async fn m1_the_same_message_twice_in_one_batch_is_persisted_once() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let _ = desk.transactions();
    assert!(desk.batch(&[intent.clone(), intent.clone()]).await.is_empty());
    assert_eq!(desk.transactions(), 1);
    assert_eq!(desk.order(&intent).await.version, 1);
    assert_eq!(desk.sale.owned("floor").await, 2);
}

#[tokio::test]
async fn m1_the_same_message_in_two_batches_is_persisted_once() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.batch(std::slice::from_ref(&intent)).await;
    let first = desk.order(&intent).await;
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.order(&intent).await, first);
    assert_eq!(desk.sale.owned("floor").await, 2);
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
}

#[tokio::test]
async fn m1_the_same_message_in_two_functions_at_once_is_persisted_once() {
    let desk = Desk::of(10, 0).await;
    let batch = [desk.sale.hold("ann", "k", vec![places(2)]).await];
    let (one, other) = tokio::join!(desk.batch(&batch), desk.batch(&batch));
    assert!(one.is_empty() && other.is_empty());
    assert_eq!(desk.order(&batch[0]).await.version, 1);
    assert_eq!(desk.sale.owned("floor").await, 2);
}

#[tokio::test]
async fn m2_one_that_can_never_be_persisted_is_buried_and_the_others_persist() {
    let desk = Desk::of(10, 4).await;
    let mut intents = Vec::new();
    for number in 0..4 {
        intents.push(desk.sale.hold(&format!("fan-{number}"), "k", vec![seats([number])]).await);
    }
    // Its type is none of the event's.
    let mut poison = desk.sale.hold("poison", "k", vec![places(1)]).await;
    poison.lines[0].ticket_type = test_sale::kind("nosuch");
    intents.insert(2, poison.clone());
    assert!(desk.batch(&intents).await.is_empty());
    assert_eq!(desk.sale.owned("stalls").await, 4);
    assert_eq!(desk.refusal(&poison).await, Rejection::Unprocessable);
    assert_eq!(desk.counts("floor").await, (0, 0, 10), "its hold is released");
    let buried = desk.dead_letters.take_sent();
    assert_eq!(buried.len(), 1);
    assert_eq!(buried[0].body, serde_json::to_value(&poison).unwrap());
    let reason = "the partitions of ticket type nosuch are not known";
    assert!(buried[0].attributes["reason"].contains(reason), "{:?}", buried[0].attributes);
    // Redriven, it changes nothing.
    assert!(desk.batch(std::slice::from_ref(&poison)).await.is_empty());
    assert_eq!(desk.refusal(&poison).await, Rejection::Unprocessable);
}

#[tokio::test]
async fn an_intent_that_dynamodb_refuses_is_buried_with_its_reason() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let invalid = Fault::error(400, "ValidationException", "an attribute is not as it must be");
    desk.sale.wire.next("TransactWriteItems", invalid);
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.refusal(&intent).await, Rejection::Unprocessable);
    let buried = desk.dead_letters.take_sent();
    assert_eq!(buried.len(), 1);
    let reason = &buried[0].attributes["reason"];
    assert!(reason.contains("an attribute is not as it must be"), "{reason}");
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
}

#[tokio::test]
async fn an_intent_that_can_not_be_buried_now_comes_back() {
    let desk = Desk::of(10, 0).await;
    let mut intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    intent.lines[0].ticket_type = test_sale::kind("nosuch");
    desk.dead_letters.set_refusing(true);
    assert_eq!(desk.batch(std::slice::from_ref(&intent)).await, ["0"]);
    assert_eq!(desk.intents.take_postponed(), [1]);
    desk.dead_letters.set_refusing(false);
    assert!(desk.batch(&[intent]).await.is_empty());
    assert_eq!(desk.dead_letters.take_sent().len(), 1);
}

#[tokio::test]
async fn what_can_not_be_read_comes_back_and_holds_up_nothing() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let readable = serde_json::to_string(&intent).unwrap();
    let texts = ["nonsense".to_owned(), readable, r#"{"order":7}"#.to_owned()];
    assert_eq!(desk.texts(&texts, 30).await, ["0", "2"]);
    assert_eq!(desk.order(&intent).await.state, OrderState::Pending);
}

#[tokio::test]
async fn nothing_is_begun_that_can_not_be_finished() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let _ = desk.sale.wire.take_sent();
    let text = serde_json::to_string(&intent).unwrap();
    assert_eq!(desk.texts(&[text], 1).await, ["0"]);
    assert!(desk.sale.wire.take_sent().is_empty());
}

#[tokio::test]
async fn the_queues_own_event_is_understood() {
    let desk = Desk::of(10, 0).await;
    let fixture: aws_lambda_events::sqs::SqsEvent =
        serde_json::from_str(include_str!("../../events/intents.json")).unwrap();
    let bodies: Vec<String> =
        fixture.records.iter().filter_map(|record| record.body.clone()).collect();
    assert!(!bodies.is_empty());
    for body in &bodies {
        let read: Result<contracts::messages::OrderIntent, _> = serde_json::from_str(body);
        assert!(read.is_ok(), "{body}");
    }
    // They are of a hold that has long lapsed, or of an event that is not here.
    assert!(desk.texts(&bodies, 30).await.is_empty());
}
