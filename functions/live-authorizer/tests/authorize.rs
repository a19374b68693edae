//! Who may connect, and who may not.

#![cfg(test)]

mod identity_provider;

use domain::{CustomerId, EventId, SessionId};
use dynamo_store::{CatalogStore, StoredKey};
use identity_provider::{AUDIENCE, IdentityProvider};
use jiff::{SignedDuration, Timestamp};
use live_authorizer::{ConnectEvent, FanTokens, Handler};
use serde_json::{Value, json};
use test_support::dynamo::Dynamo;
use tokens::{Admission, Receipt, Signer, Viewer};

const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const ARN: &str = "arn:aws:execute-api:us-east-1:123456789012:api/live/$connect";

fn now() -> Timestamp {
    "2026-12-01T02:00:00Z".parse().unwrap()
}

fn in_seconds(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

struct Stack {
    provider: IdentityProvider,
    signer: Signer,
    handler: Handler,
    _dynamo: Dynamo,
}

impl Stack {
    async fn start() -> Self {
        let (provider, dynamo) = (IdentityProvider::start().await, Dynamo::start().await);
        let catalog = CatalogStore::new(dynamo.client(), &dynamo.tables.catalog);
        let signer = Signer::derive(SECRET).unwrap();
        let key = signer.public_key();
        let stored = StoredKey { kid: key.kid.clone(), jwk: key.jwk.to_string() };
        catalog.key_put(&stored).await.unwrap();
        let handler = Handler::new(catalog, FanTokens::new(provider.issuer()).unwrap());
        Self { provider, signer, handler, _dynamo: dynamo }
    }

    /// What the gateway is answered to this token at this instant.
    async fn at(&self, token: &str, instant: Timestamp) -> Value {
        let event = json!({"type": "REQUEST", "methodArn": ARN,
                           "queryStringParameters": {"token": token}});
        let event: ConnectEvent = serde_json::from_value(event).unwrap();
        let answer = self.handler.authorize(&event, instant).await.unwrap();
        serde_json::to_value(answer).unwrap()
    }

    async fn now(&self, token: &str) -> Value {
        self.at(token, now()).await
    }
}

fn effect(answer: &Value) -> &str {
    answer["policyDocument"]["Statement"][0]["Effect"].as_str().unwrap()
}

fn admission() -> Admission {
    Admission {
        customer: CustomerId::parse("fan-1").unwrap(),
        event: EventId::parse("show").unwrap(),
        session: SessionId::parse("1-17").unwrap(),
        issued_at: now(),
        expires_at: in_seconds(300),
    }
}

#[tokio::test]
async fn a_fan_connects_with_a_token_of_the_identity_provider() {
    let stack = Stack::start().await;
    let token = stack.provider.token(|_| {});
    let answer = stack.now(&token).await;
    assert_eq!(effect(&answer), "Allow");
    assert_eq!(answer["policyDocument"]["Version"], "2012-10-17");
    let statement = &answer["policyDocument"]["Statement"][0];
    assert_eq!(
        (&statement["Action"], &statement["Resource"]),
        (&json!("execute-api:Invoke"), &json!(ARN))
    );
    assert_eq!(answer["principalId"], "fan-1");
    assert_eq!(answer["context"], json!({"customer": "fan-1", "kind": "fan", "language": "en"}));
}

#[tokio::test]
async fn all_keys_are_there_before_the_first_token_where_they_are_loaded_ahead() {
    let mut stack = Stack::start().await;
    stack.handler = stack.handler.load_ahead(now());
    while stack.provider.fetches() == 0 {
        tokio::task::yield_now().await;
    }
    stack.provider.answer_with(500, "");
    let answer = stack.now(&stack.provider.token(|_| {})).await;
    assert_eq!(effect(&answer), "Allow");
    assert_eq!(stack.provider.fetches(), 1, "not once more for the token");
    let answer = stack.now(&stack.signer.admission(&admission()).unwrap()).await;
    assert_eq!(effect(&answer), "Allow");
}

#[tokio::test]
async fn an_admitted_fan_and_a_viewer_connect_with_our_tokens() {
    let stack = Stack::start().await;
    let answer = stack.now(&stack.signer.admission(&admission()).unwrap()).await;
    assert_eq!(effect(&answer), "Allow");
    let expected =
        json!({"customer": "fan-1", "kind": "admission", "event": "show", "language": "en"});
    assert_eq!(answer["context"], expected);

    let viewer = Viewer { event: admission().event, issued_at: now(), expires_at: in_seconds(60) };
    let token = stack.signer.viewer(&viewer).unwrap();
    let answer = stack.now(&token).await;
    assert_eq!(effect(&answer), "Allow");
    assert_eq!(answer["context"], json!({"kind": "viewer", "event": "show", "language": "en"}));
    assert_eq!(effect(&stack.at(&token, in_seconds(60)).await), "Deny");
}

#[tokio::test]
async fn the_language_of_the_handshake_is_handed_on() {
    let stack = Stack::start().await;
    let token = stack.provider.token(|_| {});
    for (name, accepted, language) in [
        ("Accept-Language", "zh-TW,en;q=0.5", "zh-Hant"),
        ("accept-language", "fr, zh;q=0.1", "zh-Hant"),
        ("Accept-Language", "en-GB", "en"),
        ("X-Other", "zh", "en"),
    ] {
        let event = json!({"methodArn": ARN, "headers": {name: accepted},
                           "queryStringParameters": {"token": token}});
        let event: ConnectEvent = serde_json::from_value(event).unwrap();
        let answer = stack.handler.authorize(&event, now()).await.unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        assert_eq!(answer["context"]["language"], language, "{name}: {accepted}");
    }
}

#[tokio::test]
async fn cognitos_two_kinds_of_token_are_for_us_by_audience_or_client() {
    let stack = Stack::start().await;
    let id_token = stack.provider.token(|claims| {
        claims["token_use"] = json!("id");
        claims["aud"] = json!(AUDIENCE);
        claims.as_object_mut().unwrap().remove("client_id");
    });
    assert_eq!(effect(&stack.now(&id_token).await), "Allow");
    let several = stack.provider.token(|claims| claims["aud"] = json!(["other", AUDIENCE]));
    assert_eq!(effect(&stack.now(&several).await), "Allow");
    type Change = fn(&mut Value);
    let foreign: [(&str, Change); 5] = [
        ("another client", |claims| claims["client_id"] = json!("other")),
        ("another audience, our client", |claims| claims["aud"] = json!("other")),
        ("an empty list", |claims| claims["aud"] = json!([])),
        ("for nobody", |claims| {
            claims.as_object_mut().unwrap().remove("client_id");
        }),
        ("a refresh token", |claims| claims["token_use"] = json!("refresh")),
    ];
    for (name, change) in foreign {
        assert_eq!(effect(&stack.now(&stack.provider.token(change)).await), "Deny", "{name}");
    }
}

#[tokio::test]
async fn a_token_of_another_issuer_time_or_person_is_denied() {
    let stack = Stack::start().await;
    type Change = fn(&mut Value);
    let bad: [(&str, Change); 9] = [
        ("issuer", |claims| claims["iss"] = json!("https://evil.test")),
        ("no issuer", |claims| {
            claims.as_object_mut().unwrap().remove("iss");
        }),
        ("ours by name only", |claims| {
            claims["iss"] = json!("onsale");
            claims["aud"] = json!("admission");
        }),
        ("expired", |claims| claims["exp"] = json!(now().as_second())),
        ("no expiry", |claims| {
            claims.as_object_mut().unwrap().remove("exp");
        }),
        ("not yet", |claims| claims["nbf"] = json!(in_seconds(61).as_second())),
        ("nobody", |claims| claims["sub"] = json!("")),
        ("no name", |claims| claims["sub"] = json!("a b")),
        ("no person", |claims| claims["sub"] = json!("withdrawn:house")),
    ];
    for (name, change) in bad {
        assert_eq!(effect(&stack.now(&stack.provider.token(change)).await), "Deny", "{name}");
    }
    let soon = stack.provider.token(|claims| claims["nbf"] = json!(in_seconds(60).as_second()));
    assert_eq!(effect(&stack.now(&soon).await), "Allow", "clocks differ a little");
}

#[tokio::test]
async fn forged_tokens_are_denied() {
    let stack = Stack::start().await;
    let provider = &stack.provider;
    let good = provider.token(|_| {});
    let (signed, _) = good.rsplit_once('.').unwrap();
    let stranger = IdentityProvider::start().await;
    let forged = [
        String::new(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        format!("{signed}."),
        provider.with_header(&json!({"alg": "none", "kid": provider.kid()})),
        provider.with_header(&json!({"alg": "HS256", "kid": provider.kid()})),
        provider.with_header(&json!({"alg": "RS512", "kid": provider.kid()})),
        provider.with_header(&json!({"alg": "ES256", "kid": provider.kid()})),
        provider.with_header(&json!({"alg": "RS256"})),
        provider.signed_with_public_key(),
        stranger.token_as(provider),
        Signer::derive(&SECRET.replace('0', "x")).unwrap().admission(&admission()).unwrap(),
    ];
    for token in forged {
        assert_eq!(effect(&stack.now(&token).await), "Deny", "{token}");
    }
    let receipt = Receipt {
        customer: admission().customer,
        event: admission().event,
        generation: 1,
        number: 1,
        issued_at: now(),
    };
    let receipt = stack.signer.receipt(&receipt).unwrap();
    assert_eq!(effect(&stack.now(&receipt).await), "Deny", "a receipt opens nothing");
}

#[tokio::test]
async fn made_up_keys_are_no_flood_to_the_identity_provider() {
    let stack = Stack::start().await;
    let made_up = stack.provider.with_header(&json!({"alg": "RS256", "kid": "made-up"}));
    for _ in 0..20 {
        assert_eq!(effect(&stack.now(&made_up).await), "Deny");
    }
    assert_eq!(effect(&stack.now(&stack.provider.token(|_| {})).await), "Allow");
    assert_eq!(stack.provider.fetches(), 1);
    assert_eq!(effect(&stack.at(&made_up, in_seconds(10)).await), "Deny");
    assert_eq!(stack.provider.fetches(), 2);
}

#[tokio::test]
async fn keys_that_can_not_be_read_are_no_verdict_on_the_token() {
    let stack = Stack::start().await;
    let token = stack.provider.token(|_| {});
    let event = json!({"methodArn": ARN, "queryStringParameters": {"token": token}});
    let event: ConnectEvent = serde_json::from_value(event).unwrap();
    for broken in [(500, "{}"), (302, "{}"), (200, "no keys"), (200, "{}")] {
        stack.provider.answer_with(broken.0, broken.1);
        let later = in_seconds(i64::from(stack.provider.fetches()) * 10);
        assert!(stack.handler.authorize(&event, later).await.is_err(), "{broken:?}");
    }
    stack.provider.recover();
    assert_eq!(effect(&stack.at(&token, in_seconds(100)).await), "Allow");
}

#[tokio::test]
async fn whoever_brings_no_token_is_denied() {
    let stack = Stack::start().await;
    for event in [
        json!({"methodArn": ARN}),
        json!({"methodArn": ARN, "queryStringParameters": null}),
        json!({"methodArn": ARN, "queryStringParameters": {"Token": "x"}}),
    ] {
        let event: ConnectEvent = serde_json::from_value(event).unwrap();
        assert!(!stack.handler.authorize(&event, now()).await.unwrap().is_allowed());
    }
}

#[tokio::test]
async fn the_gateways_event_is_understood_and_does_not_print_its_token() {
    let stack = Stack::start().await;
    let event: ConnectEvent = serde_json::from_str(include_str!("../events/connect.json")).unwrap();
    assert!(!format!("{event:?}").contains("c2lnbmF0dXJl"));
    let answer = stack.handler.authorize(&event, now()).await.unwrap();
    assert!(!answer.is_allowed(), "its token is signed by nobody");
}
