//! Fans hear what became of their orders.

use contracts::messages::LiveUpdate;
use domain::{ConnectionId, CustomerId, IdempotencyKey, Operation, OrderId, OrderState};
use lambda_kit::batch::Deadline;
use lambda_kit::clock;
use lambda_kit::testing::sqs_event_of_texts;
use live_broadcast::handler::LONGEST;
use serde_json::json;
use test_sale::gala;

use crate::stage::{Stage, tick};

fn outcome(customer: &str, state: OrderState, reason: Option<&str>) -> LiveUpdate {
    let customer = CustomerId::parse(customer).unwrap();
    let key = IdempotencyKey::parse("k").unwrap();
    LiveUpdate::Order {
        event: gala(),
        order: OrderId::derive(&customer, Operation::PlaceOrder, &gala(), &key),
        customer,
        state,
        reason: reason.map(str::to_owned),
        version: 1,
    }
}

#[tokio::test]
async fn an_order_s_outcome_reaches_all_tabs_of_its_owner_and_nobody_else() {
    let stage = Stage::on_sale().await;
    stage.connect("tab-1", Some("fan-1")).await;
    stage.connect("tab-2", Some("fan-1")).await;
    stage.connect("other", Some("fan-2")).await;
    stage.watch("viewer", &[]).await;
    let rejected = outcome("fan-1", OrderState::Rejected, Some("hold_expired"));
    assert!(stage.deliver(&[rejected]).await.is_empty());
    let mut posted = stage.gateway.take_posted();
    posted.sort_by(|a, b| a.connection.cmp(&b.connection));
    let to: Vec<&str> = posted.iter().map(|post| post.connection.as_str()).collect();
    assert_eq!(to, ["tab-1", "tab-2"]);
    let frame = &posted[0].frame;
    assert_eq!((&frame["action"], &frame["event"]), (&json!("order"), &json!("gala")));
    assert_eq!((&frame["state"], &frame["reason"]), (&json!("rejected"), &json!("hold_expired")));
    assert_eq!(frame["version"], 1);
}

#[tokio::test]
async fn an_outcome_for_somebody_who_is_not_connected_is_nothing_to_do() {
    let stage = Stage::on_sale().await;
    assert!(stage.deliver(&[outcome("fan-1", OrderState::Pending, None)]).await.is_empty());
    assert!(stage.gateway.take_posted().is_empty());
}

#[tokio::test]
async fn a_tab_that_is_gone_is_removed_and_the_other_hears() {
    let stage = Stage::on_sale().await;
    stage.connect("gone", Some("fan-1")).await;
    stage.connect("tab", Some("fan-1")).await;
    stage.gateway.set_gone("gone");
    assert!(stage.deliver(&[outcome("fan-1", OrderState::Pending, None)]).await.is_empty());
    let fan_1 = CustomerId::parse("fan-1").unwrap();
    let left = stage.hall.connections.customer_connections_list(&fan_1).await.unwrap();
    assert_eq!(left, [ConnectionId::parse("tab").unwrap()]);
}

#[tokio::test]
async fn an_outcome_that_can_not_be_posted_is_tried_again() {
    let stage = Stage::on_sale().await;
    stage.connect("tab", Some("fan-1")).await;
    stage.gateway.set_broken("tab", true);
    let pending = [outcome("fan-1", OrderState::Pending, None)];
    assert_eq!(stage.deliver(&pending).await, ["0"]);
    assert_eq!(stage.queue.take_postponed(), [1]);
    let _ = stage.gateway.take_posted();
    stage.gateway.set_broken("tab", false);
    assert!(stage.deliver(&pending).await.is_empty());
    assert_eq!(stage.heard("tab").len(), 1);
}

#[tokio::test]
async fn a_message_that_can_not_be_read_is_reported_and_the_others_are_worked_off() {
    let stage = Stage::watched().await;
    stage.connect("tab", Some("fan-1")).await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.pass(1_000);
    let readable = |update: &LiveUpdate| serde_json::to_string(update).unwrap();
    let texts = [
        "no JSON".to_owned(),
        readable(&tick(None)),
        r#"{"kind":"confetti"}"#.to_owned(),
        readable(&outcome("fan-1", OrderState::Pending, None)),
    ];
    let deadline = Deadline::at(clock::now() + LONGEST * 5, LONGEST);
    let batch = sqs_event_of_texts(texts);
    let answer = stage.function.handle_batch(batch, "invocation", deadline).await;
    let failed: Vec<_> =
        answer.batch_item_failures.iter().map(|failure| &failure.item_identifier).collect();
    assert_eq!(failed, ["0", "2"]);
    let to: std::collections::BTreeSet<String> =
        stage.gateway.take_posted().into_iter().map(|post| post.connection).collect();
    assert_eq!(to, ["c", "tab"].map(str::to_owned).into());
}

#[tokio::test]
async fn the_fixture_of_the_trigger_is_understood() {
    let stage = Stage::on_sale().await;
    let event = serde_json::from_str(include_str!("../../events/live-updates.json")).unwrap();
    let deadline = Deadline::at(clock::now() + LONGEST * 5, LONGEST);
    let answer = stage.function.handle_batch(event, "invocation", deadline).await;
    assert!(answer.batch_item_failures.is_empty());
}
