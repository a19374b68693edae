//! What goes to SQS, at the wire.

#![cfg(test)]

use contracts::messages::{GivenUp, LiveUpdate, OrderIntent, SettleRetry};
use domain::{
    Currency, CustomerId, Epoch, EventId, Fingerprint, IdempotencyKey, Operation, OrderId,
};
use jiff::Timestamp;
use queues::{
    DeadLetters, IntentQueue, LONGEST_DELAY, LiveQueue, ParkedLetters, SettleQueue, Visibility,
    client,
};
use test_support::endpoint::{Answer, Endpoint};
use test_support::queue::FakeQueue;

fn event(id: &str) -> EventId {
    EventId::parse(id).unwrap()
}

fn fan() -> CustomerId {
    CustomerId::parse("fan-1").unwrap()
}

fn order() -> OrderId {
    let key = IdempotencyKey::parse("k").unwrap();
    OrderId::derive(&fan(), Operation::PlaceOrder, &event("gala"), &key)
}

fn intent() -> OrderIntent {
    OrderIntent {
        order: order(),
        customer: fan(),
        event: event("gala"),
        epoch: Epoch(3),
        fingerprint: Fingerprint([7; 32]),
        lines: Vec::new(),
        currency: Currency::parse("TWD").unwrap(),
        held_at: Timestamp::UNIX_EPOCH,
        expires_at: Timestamp::UNIX_EPOCH,
    }
}

fn tick(id: &str) -> LiveUpdate {
    LiveUpdate::Tick { event: event(id), ticker: None }
}

#[tokio::test]
async fn an_intent_is_grouped_by_its_event_and_read_back_as_it_was() {
    let sqs = FakeQueue::start().await;
    let queue = IntentQueue::new(client(&sqs.sdk_config()), sqs.queue_url("intents"));
    queue.send(&intent()).await.unwrap();
    let sent = sqs.take_sent();
    assert_eq!((sent[0].group.as_str(), sent[0].delay), ("gala", 0));
    assert_eq!(serde_json::from_value::<OrderIntent>(sent[0].body.clone()).unwrap(), intent());
}

#[tokio::test]
async fn the_first_intent_finds_the_connection_that_was_opened_ahead() {
    let sqs = Endpoint::start(|_| {
        Answer::new(200, r#"{"MessageId": "m"}"#)
            .header("content-type", "application/x-amz-json-1.0")
    })
    .await;
    let queue = IntentQueue::new(client(&sqs.sdk_config()), format!("{}/1/intents", sqs.url()));
    queue.queue_reach().await.unwrap();
    queue.send(&intent()).await.unwrap();
    let asked = sqs.take_asked();
    let actions: Vec<&str> = asked.iter().map(|asked| asked.header("x-amz-target")).collect();
    assert_eq!(actions, ["AmazonSQS.GetQueueAttributes", "AmazonSQS.SendMessage"]);
    assert_eq!(sqs.connections(), 1);
}

#[tokio::test]
async fn a_delay_is_kept_and_bounded_by_what_sqs_knows() {
    let sqs = FakeQueue::start().await;
    let client = client(&sqs.sdk_config());
    let live = LiveQueue::new(client.clone(), sqs.queue_url("live"));
    live.send(&tick("gala")).await.unwrap();
    live.send_delayed(&tick("gala"), 10).await.unwrap();
    let settle = SettleQueue::new(client, sqs.queue_url("settle"));
    let retry = SettleRetry { order: order(), customer: fan(), event: event("gala") };
    settle.send(&retry, u32::MAX).await.unwrap();
    let sent = sqs.take_sent();
    let delays: Vec<u64> = sent.iter().map(|message| message.delay).collect();
    assert_eq!(delays, [0, 10, u64::from(LONGEST_DELAY)]);
    assert_eq!((sent[0].group.as_str(), sent[2].group.as_str()), ("gala", ""));
}

#[tokio::test]
async fn a_queue_that_gives_no_answer_leaves_the_outcome_unknown() {
    let sqs = FakeQueue::start().await;
    let client = client(&sqs.sdk_config());
    let queue = IntentQueue::new(client.clone(), sqs.queue_url("intents"));
    sqs.set_refusing(true);
    assert!(queue.send(&intent()).await.is_err());
    let letters = DeadLetters::new(client, sqs.queue_url("dead"));
    assert!(letters.bury("nonsense", GivenUp::Unreadable, "").await.is_err());
    sqs.set_refusing(false);
    assert!(queue.send(&intent()).await.is_ok());
}

#[tokio::test]
async fn a_message_that_failed_comes_back_when_it_is_said_to() {
    let sqs = FakeQueue::start().await;
    let visibility = Visibility::new(client(&sqs.sdk_config()), sqs.queue_url("intents"));
    visibility.postpone("receipt", 7).await.unwrap();
    assert_eq!(sqs.take_postponed(), [7]);
}

#[tokio::test]
async fn many_updates_go_ten_a_call_and_one_that_is_refused_is_no_success() {
    let sqs = FakeQueue::start().await;
    let live = LiveQueue::new(client(&sqs.sdk_config()), sqs.queue_url("live"));
    let updates: Vec<LiveUpdate> = (0..12).map(|at| tick(&format!("event-{at}"))).collect();
    live.send_all(&updates).await.unwrap();
    let groups: Vec<String> = sqs.take_sent().into_iter().map(|sent| sent.group).collect();
    assert_eq!(groups, (0..12).map(|at| format!("event-{at}")).collect::<Vec<_>>());

    let partly =
        r#"{"Successful": [], "Failed": [{"Id": "1", "Code": "x", "SenderFault": false}]}"#;
    let sqs = Endpoint::start(move |_| {
        Answer::new(200, partly).header("content-type", "application/x-amz-json-1.0")
    })
    .await;
    let live = LiveQueue::new(client(&sqs.sdk_config()), format!("{}/1/live", sqs.url()));
    assert!(live.send_all(&updates).await.is_err());
    assert_eq!(sqs.take_asked().len(), 1, "what follows a failure is not sent");
}

#[tokio::test]
async fn a_dead_letter_is_what_came_and_says_why() {
    let sqs = FakeQueue::start().await;
    let letters = DeadLetters::new(client(&sqs.sdk_config()), sqs.queue_url("dead"));
    letters.bury("no {json", GivenUp::Unreadable, "expected a value").await.unwrap();
    let sent = sqs.take_sent().remove(0);
    assert_eq!(sent.text, "no {json");
    let attribute = |name: &str| sent.attributes.get(name).map(String::as_str);
    assert_eq!(attribute("reason"), Some("unreadable"));
    assert_eq!(attribute("detail"), Some("expected a value"));
}

#[tokio::test]
async fn no_text_keeps_a_letter_from_being_kept() {
    let sqs = FakeQueue::start().await;
    let letters = ParkedLetters::new(client(&sqs.sdk_config()), sqs.queue_url("parked"));
    let (wild, long) = ("a\u{0}b\u{ffff}c", "x".repeat(1_000));
    letters.park("{}", &[("wild", wild), ("long", &long), ("none", "")]).await.unwrap();
    let sent = sqs.take_sent().remove(0);
    assert_eq!(sent.attributes["wild"], "a?b?c");
    assert_eq!(sent.attributes["long"].len(), 300);
    assert!(!sent.attributes.contains_key("none"), "SQS takes no empty attribute");
}
