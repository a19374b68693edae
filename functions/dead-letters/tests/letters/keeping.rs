//! What becomes of the letter.

use jiff::Timestamp;
use serde_json::{Value, json};
use test_sale::{now, places};

use crate::desk::{Desk, buried, given_up, text};

#[tokio::test]
async fn a_letter_is_kept_as_it_came_with_what_is_known_of_it() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let before = now();
    assert!(desk.batch(&[buried(&intent)]).await.is_empty());
    let mut kept = desk.parked.take_sent();
    assert_eq!(kept.len(), 1);
    let mut kept = kept.remove(0);
    assert_eq!(kept.text, serde_json::to_string(&intent).unwrap());
    let at: Timestamp = kept.attributes.remove("dead_lettered_at").unwrap().parse().unwrap();
    assert!(before <= at && at <= now());
    let kept: Vec<(&str, &str)> =
        kept.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let order = intent.order.to_string();
    assert_eq!(
        kept,
        [
            ("detail", "no such type"),
            ("event", "show"),
            ("order", order.as_str()),
            ("order_state", "rejected"),
            ("reason", "unwritable"),
        ]
    );
}

#[tokio::test]
async fn a_letter_that_the_queue_gave_up_says_so() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    assert!(desk.batch(&[given_up(&intent)]).await.is_empty());
    assert_eq!(desk.parked.take_sent()[0].attributes["reason"], "too_many_receives");
}

#[tokio::test]
async fn what_is_no_intent_is_kept_and_nothing_else_happens() {
    let desk = Desk::of(10, 0).await;
    let letters = ["no json", "{}", "7", r#"{"order": "x"}"#];
    assert!(desk.batch(&letters.map(text)).await.is_empty());
    let kept = desk.parked.take_sent();
    assert_eq!(kept.len(), letters.len());
    for letter in &kept {
        assert_eq!(letter.attributes["reason"], "unreadable");
        assert!(!letter.attributes.contains_key("order"), "{letter:?}");
        assert!(letters.contains(&letter.text.as_str()), "{letter:?}");
    }
    assert_eq!(desk.told(), []);
}

#[tokio::test]
async fn a_letter_whose_lines_are_broken_ends_its_order_all_the_same() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let mut broken: Value = serde_json::to_value(&intent).unwrap();
    broken["lines"] = json!([{"ticket_type": "no such/type"}]);
    assert!(desk.batch(&[text(&broken.to_string())]).await.is_empty());
    desk.assert_ended(&intent).await;
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
    let kept = desk.parked.take_sent();
    assert_eq!(kept[0].attributes["reason"], "unreadable");
    assert_eq!(kept[0].attributes["order"], intent.order.to_string());
}

#[tokio::test]
async fn the_queues_own_event_is_understood() {
    let desk = Desk::of(10, 0).await;
    let fixture: aws_lambda_events::sqs::SqsEvent =
        serde_json::from_str(include_str!("../../events/dead-letters.json")).unwrap();
    let bodies = fixture.records.iter().filter_map(|record| record.body.as_deref());
    let letters: Vec<_> = bodies.map(text).collect();
    // They are of an event that is not here: there is no inventory to agree.
    assert!(desk.batch(&letters).await.is_empty());
    assert_eq!(desk.parked.take_sent().len(), letters.len());
}
