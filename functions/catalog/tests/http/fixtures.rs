//! The events beside the function, as `sam local invoke` sends them.

use lambda_kit::testing::{TestRequest, TestResponse};
use serde_json::Value;

use crate::given::{Office, numbered};

async fn send(office: &Office, name: &str) -> TestResponse {
    let path = format!("{}/events/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let event: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    TestRequest::from_event(event).send(&office.router).await
}

async fn assert_answers(office: &Office, fixtures: &[(&str, u16)]) {
    for (name, status) in fixtures {
        let answer = send(office, name).await;
        assert_eq!(answer.status, *status, "{name}: {}", answer.raw.body);
    }
}

#[tokio::test]
async fn every_fixture_is_answered_in_its_turn() {
    let office = Office::open().await;
    let begun = [("event-put", 201), ("event-get", 200), ("ticket-type-put", 201)];
    assert_answers(&office, &begun).await;
    // The fixture of a type has places; those of the seat map are about seats.
    office.create("/events/autumn-gala/ticket-types/stalls", &numbered()).await;
    let others = [
        ("section-put", 201),
        ("ticket-types-get", 200),
        ("seat-map-get", 200),
        ("sale-put", 200),
        ("withdrawal-put", 201),
        ("seats-get", 200),
        ("lock-status-get", 200),
        // It asks for what came after a change that this sale has not seen.
        ("seat-changes-get", 410),
        ("withdrawal-delete", 204),
        ("unknown-path", 404),
        ("wrong-method", 405),
    ];
    assert_answers(&office, &others).await;
}

#[tokio::test]
async fn what_a_fixture_needs_and_does_not_find_is_named() {
    let office = Office::open().await;
    for name in ["event-get", "ticket-type-put", "section-put", "sale-put", "withdrawal-put"] {
        let answer = send(&office, name).await;
        assert_eq!((answer.status, answer.reason().as_str()), (404, "not_found"), "{name}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let office = Office::open().await;
    let answer = send(&office, "wrong-method").await;
    assert_eq!(answer.header("allow"), "POST");
    assert_eq!(answer.reason(), "method_not_allowed");
    assert_eq!(answer.header("content-type"), "application/problem+json");
}
