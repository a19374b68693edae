//! Settings, the public status, passes and keys.

use crate::room::{PLACES, QUEUE, Room, SETTINGS, body, settings};
use contracts::queue::{QueueSettingsBody, QueueState, StoredQueueSettingsBody, ViewerBody};
use lambda_kit::clock;
use lambda_kit::testing::TestRequest;
use serde_json::{Value, json};
use test_support::endpoint::Answer;
use tokens::{Keys, PublicKey};

const VIEWERS: &str = "/events/gala/viewers";
const KEYS: &str = "/.well-known/jwks.json";

#[tokio::test]
async fn an_operator_sets_the_line_and_edits_what_was_read() {
    let room = Room::open().await;
    let first = room.set(&settings(1), "if-none-match", "*").await;
    assert_eq!((first.status, first.header("etag")), (201, "\"v1\""));
    for (condition, tag, status) in
        [("if-none-match", "*", 412), ("if-match", "*", 200), ("if-match", "\"v0\"", 200)]
    {
        let repeat = room.set(&settings(1), condition, tag).await;
        assert_eq!((repeat.status, repeat.json()["version"].as_u64()), (status, Some(1)), "{tag}");
    }
    for fan in ["fan-1", "fan-2", "fan-3"] {
        room.joined(fan).await;
    }
    assert_eq!(room.enter("fan-3").await.status, 409);
    let more = room.set(&settings(3), "if-match", "\"v1\"").await;
    assert_eq!((more.status, more.header("etag")), (200, "\"v2\""));
    assert_eq!(body::<StoredQueueSettingsBody>(&more).version, 2);
    assert_eq!(room.enter("fan-3").await.status, 200, "the new cap holds at once");
    let status = room.status().await;
    assert_eq!((status.cap, status.settings_version), (3, 2));
}

#[tokio::test]
async fn whichever_settings_there_are_can_be_edited_but_none_can_not() {
    let room = Room::open().await;
    let nothing = room.set(&settings(1), "if-match", "*").await;
    assert_eq!((nothing.status, nothing.json()["version"].as_u64()), (412, Some(0)));
    assert_eq!(room.set(&settings(1), "if-none-match", "*").await.status, 201);
    for (cap, tag) in [(2, "\"v2\""), (3, "\"v3\"")] {
        let edited = room.set(&settings(cap), "if-match", "*").await;
        assert_eq!((edited.status, edited.header("etag")), (200, tag));
    }
    assert_eq!(room.status().await.cap, 3);
}

#[tokio::test]
async fn an_edit_of_what_somebody_else_changed_is_refused() {
    let room = Room::with_cap(5).await;
    assert_eq!(room.set(&settings(6), "if-match", "\"v1\"").await.status, 200);
    let stale = room.set(&settings(7), "if-match", "\"v1\"").await;
    assert_eq!((stale.status, stale.reason().as_str()), (412, "version_mismatch"));
    assert_eq!(stale.json()["version"], 2);
    assert_eq!(room.set(&settings(7), "if-none-match", "*").await.status, 412);
    let blind = room.set(&settings(7), "x-nothing", "x").await;
    assert_eq!((blind.status, blind.reason().as_str()), (428, "precondition_required"));
    assert_eq!(room.status().await.cap, 6);
}

#[tokio::test]
async fn only_operators_set_and_only_what_makes_sense() {
    let room = Room::open().await;
    let put = || TestRequest::put(SETTINGS).header("if-none-match", "*");
    assert_eq!(room.send(put().json(&settings(5))).await.status, 401);
    assert_eq!(room.send(put().fan("fan-1").json(&settings(5))).await.status, 403);
    let elsewhere = TestRequest::put("/events/unknown/queue/settings").operator("op");
    let elsewhere = elsewhere.header("if-none-match", "*").json(&settings(5));
    assert_eq!(room.send(elsewhere).await.status, 404);
    let good = json!(settings(5));
    let with = |name: &str, value: Value| {
        let mut changed = good.clone();
        changed[name] = value;
        changed
    };
    for (sent, pointer) in [
        (with("cap", json!(-1)), "/cap"),
        (with("cap", json!(1.5)), "/cap"),
        (with("cap", json!("5")), "/cap"),
        (with("cap", json!(1_000_001)), "/cap"),
        (with("grace_seconds", json!(0)), "/grace_seconds"),
        (with("token_seconds", json!(301)), "/token_seconds"),
        (with("session_seconds", json!(null)), "/session_seconds"),
        (with("admissions", json!(1)), "/admissions"),
        (json!([]), ""),
    ] {
        let answer = room.send(put().operator("op").json(&sent)).await;
        assert_eq!(answer.status, 400, "{sent}");
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{sent}");
    }
    assert_eq!(room.status().await.settings_version, 0);
}

#[tokio::test]
async fn the_status_is_one_copy_for_all_who_poll() {
    let room = Room::open().await;
    let empty = room.status().await;
    assert_eq!((empty.state, empty.issued, empty.generation), (QueueState::Empty, 0, 0));
    assert_eq!(room.set(&settings(1), "if-none-match", "*").await.status, 201);
    for fan in ["fan-1", "fan-2", "fan-3"] {
        room.joined(fan).await;
    }
    let answer = room.send(TestRequest::get(QUEUE)).await;
    assert_eq!(answer.header("cache-control"), "public, max-age=1, s-maxage=1");
    let status = answer.json();
    assert_eq!((&status["serving"], &status["issued"]), (&json!(1), &json!(3)));
    assert_eq!((&status["waiting"], &status["state"]), (&json!(2), &json!("open")));
    assert_eq!(status["next_poll_seconds"], 2);
    let tag = answer.header("etag").to_owned();
    let again = room.send(TestRequest::get(QUEUE).header("if-none-match", &tag)).await;
    assert_eq!((again.status, again.raw.body.as_str()), (304, ""));
    room.joined("fan-4").await;
    let changed = room.send(TestRequest::get(QUEUE).header("if-none-match", &tag)).await;
    assert_eq!(changed.status, 200);
    let unknown = room.send(TestRequest::get("/events/unknown/queue")).await;
    assert_eq!((unknown.status, unknown.reason().as_str()), (404, "not_found"));
}

#[tokio::test]
async fn a_cap_of_nothing_halts_the_line() {
    let room = Room::with_cap(0).await;
    room.joined("fan-1").await;
    assert_eq!(room.enter("fan-1").await.reason(), "not_called");
    assert_eq!(room.status().await.state, QueueState::Halted);
}

#[tokio::test]
async fn anybody_gets_a_pass_to_watch_an_event_that_exists() {
    let room = Room::open().await;
    let answer = room.send(TestRequest::post(VIEWERS)).await;
    assert_eq!(answer.status, 201);
    let pass: ViewerBody = body(&answer);
    let keys = room.hall.catalog.keys_list().await.unwrap();
    let keys = Keys::new(PublicKey::parse_all(keys.iter().map(|key| &key.jwk)));
    let viewer = keys.viewer(&pass.viewer_token, clock::now()).unwrap();
    assert_eq!((viewer.event.as_str(), viewer.expires_at), ("gala", pass.expires_at));
    assert_eq!(room.send(TestRequest::post("/events/unknown/viewers")).await.status, 404);
}

#[tokio::test]
async fn the_keys_are_published_before_anything_is_signed_with_them() {
    let room = Room::open().await;
    let answer = room.send(TestRequest::get(KEYS)).await;
    assert_eq!(answer.header("content-type"), "application/jwk-set+json");
    assert_eq!(answer.header("cache-control"), "public, max-age=60");
    let keys = answer.json();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1);
    assert_eq!(keys["keys"][0]["alg"], "ES256");
    assert_eq!(keys["keys"][0]["d"], Value::Null);
    let tag = answer.header("etag").to_owned();
    let again = room.send(TestRequest::get(KEYS).header("if-none-match", &tag)).await;
    assert_eq!(again.status, 304);
    assert_eq!(room.secret_reads(), 1, "the secret is read once");
}

#[tokio::test]
async fn without_the_signing_secret_nobody_uses_up_a_number() {
    let denied = r#"{"__type": "AccessDeniedException", "message": "no"}"#;
    for answer in [Answer::new(400, denied), Answer::new(200, r#"{"SecretString": "short"}"#)] {
        let room = Room::with_secret(answer).await;
        let join = room.send(TestRequest::post(PLACES).fan("fan-1")).await;
        assert_eq!((join.status, join.reason().as_str()), (503, "unavailable"));
        assert!(!join.header("retry-after").is_empty());
        assert_eq!(room.send(TestRequest::post(VIEWERS)).await.status, 503);
        assert_eq!(room.status().await.issued, 0);
    }
}

#[tokio::test]
async fn the_gateways_events_are_understood() {
    let room = Room::open().await;
    for (text, expected) in [
        (include_str!("../../events/place-post.json"), 404),
        (include_str!("../../events/place-get.json"), 404),
        (include_str!("../../events/place-delete.json"), 204),
        (include_str!("../../events/admission-post.json"), 404),
        (include_str!("../../events/queue-get.json"), 404),
        (include_str!("../../events/viewer-post.json"), 404),
        (include_str!("../../events/keys-get.json"), 200),
    ] {
        let event: Value = serde_json::from_str(text).unwrap();
        let route = event["routeKey"].clone();
        let answer = room.send(TestRequest::from_event(event)).await;
        assert_eq!(answer.status, expected, "{route}: {}", answer.raw.body);
        let ours =
            serde_json::from_str::<Value>(&text.replace("/events/autumn-gala/", "/events/gala/"));
        let answer = room.send(TestRequest::from_event(ours.unwrap())).await;
        assert!(answer.status != 405 && answer.status < 500, "{route}: {}", answer.raw.body);
    }
    // Whoever joined has stored the defaults: the first settings are another room's.
    let room = Room::open().await;
    let text = include_str!("../../events/settings-put.json");
    let mut event: Value = serde_json::from_str(&text.replace("autumn-gala", "gala")).unwrap();
    event["headers"]["if-none-match"] = json!("*");
    let answer = room.send(TestRequest::from_event(event)).await;
    assert_eq!(answer.status, 201, "{}", answer.raw.body);
    let stored: QueueSettingsBody = body::<StoredQueueSettingsBody>(&answer).settings;
    assert_eq!(stored.cap, 500);
}
