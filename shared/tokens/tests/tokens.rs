//! Tokens against everything that was ever tried with them.

#![cfg(test)]

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use domain::{CustomerId, EventId, SessionId};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokens::{
    Admission, Keys, PublicKey, Purpose, Receipt, Signer, TokenError, UnusableSecret, Viewer,
};

const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OTHER_SECRET: &str = "another-secret-that-is-just-as-long-as-the-first-one-really-is!!";

fn signer() -> Signer {
    Signer::derive(SECRET).unwrap()
}

fn keys() -> Keys {
    Keys::new(vec![signer().public_key().clone()])
}

fn now() -> Timestamp {
    "2026-12-01T02:00:00Z".parse().unwrap()
}

fn admission() -> Admission {
    Admission {
        customer: CustomerId::parse("fan-1").unwrap(),
        event: EventId::parse("show").unwrap(),
        session: SessionId::parse("1-17").unwrap(),
        issued_at: now(),
        expires_at: now() + SignedDuration::from_secs(300),
    }
}

fn viewer() -> Viewer {
    Viewer {
        event: admission().event,
        issued_at: now(),
        expires_at: now() + SignedDuration::from_secs(60),
    }
}

fn receipt() -> Receipt {
    Receipt {
        customer: admission().customer,
        event: admission().event,
        generation: 2,
        number: 17,
        issued_at: now(),
    }
}

/// A token with its header or its claims rewritten and the signature kept.
fn rewritten(token: &str, part: usize, change: impl Fn(&mut Value)) -> String {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(&parts[part]).unwrap();
    let mut value = serde_json::from_slice(&bytes).unwrap();
    change(&mut value);
    parts[part] = BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    parts.join(".")
}

#[test]
fn what_is_signed_is_read_back() {
    let token = signer().admission(&admission()).unwrap();
    assert_eq!(keys().admission(&token, now()), Ok(admission()));
    let token = signer().receipt(&receipt()).unwrap();
    assert_eq!(keys().receipt(&token, now()), Ok(receipt()));
    let token = signer().viewer(&viewer()).unwrap();
    assert_eq!(keys().viewer(&token, now()), Ok(viewer()));
}

#[test]
fn a_token_ends_on_the_second_without_leeway() {
    let token = signer().admission(&admission()).unwrap();
    let end = admission().expires_at;
    let just_before = end - SignedDuration::from_millis(1);
    assert!(keys().admission(&token, just_before).is_ok());
    assert_eq!(keys().admission(&token, end), Err(TokenError::Expired));
}

#[test]
fn a_token_for_one_purpose_is_none_for_another() {
    let admission = signer().admission(&admission()).unwrap();
    let viewer = signer().viewer(&viewer()).unwrap();
    let receipt = signer().receipt(&receipt()).unwrap();
    assert_eq!(keys().viewer(&admission, now()), Err(TokenError::Invalid));
    assert_eq!(keys().receipt(&admission, now()), Err(TokenError::Invalid));
    assert_eq!(keys().admission(&viewer, now()), Err(TokenError::Invalid));
    assert_eq!(keys().admission(&receipt, now()), Err(TokenError::Invalid));
}

#[test]
fn a_token_tells_what_it_claims_to_be() {
    let claimed = |token: &str| Purpose::claimed_by(token);
    let token = signer().admission(&admission()).unwrap();
    assert_eq!(claimed(&token), Some(Purpose::Admission));
    assert_eq!(claimed(&signer().viewer(&viewer()).unwrap()), Some(Purpose::Viewer));
    assert_eq!(claimed(&signer().receipt(&receipt()).unwrap()), Some(Purpose::Receipt));
    let foreign = rewritten(&token, 1, |claims| claims["iss"] = json!("https://idp.test"));
    assert_eq!(claimed(&foreign), None);
    assert_eq!(claimed("no.token.at all"), None);
    assert_eq!(claimed(""), None);
}

#[test]
fn an_admission_is_for_one_event_and_one_fan() {
    let admission = admission();
    let event = |id| EventId::parse(id).unwrap();
    let fan = |id| CustomerId::parse(id).unwrap();
    assert!(admission.is_for(&event("show"), &fan("fan-1")));
    assert!(!admission.is_for(&event("show2"), &fan("fan-1")));
    assert!(!admission.is_for(&event("show"), &fan("fan-2")));
}

#[test]
fn a_changed_token_is_no_token() {
    let token = signer().admission(&admission()).unwrap();
    let changes: [(&str, Value); 6] = [
        ("sub", json!("fan-2")),
        ("event", json!("show2")),
        ("sid", json!("1-18")),
        ("exp", json!(4_000_000_000_u64)),
        ("iss", json!("onsale2")),
        ("aud", json!(["admission", "viewer"])),
    ];
    for (name, value) in changes {
        let forged = rewritten(&token, 1, |claims| claims[name] = value.clone());
        assert_eq!(keys().admission(&forged, now()), Err(TokenError::Invalid), "{name}");
    }
    let (signed, signature) = token.rsplit_once('.').unwrap();
    for forged in [
        format!("{signed}."),
        signed.to_owned(),
        format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode([0; 64])),
        format!("{signed}.{signature}{signature}"),
        format!("{token}.{signature}"),
        String::new(),
        "..".to_owned(),
        "\u{0}".to_owned(),
    ] {
        assert_eq!(keys().admission(&forged, now()), Err(TokenError::Invalid), "{forged:?}");
    }
}

#[test]
fn a_token_that_names_another_algorithm_is_no_token() {
    let token = signer().admission(&admission()).unwrap();
    for algorithm in ["none", "HS256", "ES384", "RS256", "es256"] {
        let forged = rewritten(&token, 0, |header| header["alg"] = json!(algorithm));
        assert_eq!(keys().admission(&forged, now()), Err(TokenError::Invalid), "{algorithm}");
    }
}

#[test]
fn the_public_key_is_no_secret_to_sign_with() {
    let public = signer().public_key().clone();
    let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::HS256);
    header.kid = Some(public.kid.clone());
    let claims = json!({
        "iss": "onsale", "aud": "admission", "sub": "fan-1", "event": "show", "sid": "1-17",
        "iat": 0, "exp": 4_000_000_000_u64,
    });
    let key = jsonwebtoken::EncodingKey::from_secret(public.jwk.to_string().as_bytes()).unwrap();
    let forged = jsonwebtoken::encode(&header, &claims, &key).unwrap();
    assert_eq!(keys().admission(&forged, now()), Err(TokenError::Invalid));
}

#[test]
fn another_secrets_token_is_unknown_even_under_our_name() {
    let stranger = Signer::derive(OTHER_SECRET).unwrap();
    let token = stranger.admission(&admission()).unwrap();
    assert_eq!(keys().admission(&token, now()), Err(TokenError::UnknownKey));
    let ours = signer().public_key().kid.clone();
    let forged = rewritten(&token, 0, |header| header["kid"] = json!(ours));
    assert_eq!(keys().admission(&forged, now()), Err(TokenError::Invalid));
    let nameless = rewritten(&token, 0, |header| {
        header.as_object_mut().unwrap().remove("kid");
    });
    assert_eq!(keys().admission(&nameless, now()), Err(TokenError::Invalid));
}

#[test]
fn a_token_can_not_bring_its_own_key() {
    let stranger = Signer::derive(OTHER_SECRET).unwrap();
    let token = stranger.admission(&admission()).unwrap();
    let ours = signer().public_key().kid.clone();
    let forged = rewritten(&token, 0, |header| {
        header["kid"] = json!(ours);
        header["jwk"] = stranger.public_key().jwk.clone();
    });
    assert_eq!(keys().admission(&forged, now()), Err(TokenError::Invalid));
}

#[test]
fn the_same_secret_always_gives_the_same_key() {
    assert_eq!(signer().public_key(), Signer::derive(SECRET).unwrap().public_key());
    assert_eq!(signer().public_key().kid, "gJguoNs9OR7QZBsisqQ48CjTwqNqaC2kaBGdVVV_10I");
    assert_ne!(signer().public_key(), Signer::derive(OTHER_SECRET).unwrap().public_key());
    assert_eq!(Signer::derive("too short").unwrap_err(), UnusableSecret);
}

#[test]
fn a_key_is_named_by_its_thumbprint_as_others_compute_it() {
    let key = signer().public_key().clone();
    let jwk: jsonwebtoken::jwk::Jwk = serde_json::from_value(key.jwk).unwrap();
    assert_eq!(jwk.thumbprint(jsonwebtoken::jwk::ThumbprintHash::SHA256).unwrap(), key.kid);
}

#[test]
fn neither_signer_nor_keys_print_a_secret() {
    assert!(!format!("{:?}", signer()).contains(SECRET));
}

#[test]
fn a_stored_key_is_read_back_only_under_its_own_name() {
    let key = signer().public_key().clone();
    assert_eq!(PublicKey::from_jwk(key.jwk.clone()), Ok(key.clone()));
    let mut renamed = key.jwk.clone();
    renamed["kid"] = json!("mine");
    assert!(PublicKey::from_jwk(renamed).is_err());
    let mut other_curve = key.jwk.clone();
    other_curve["crv"] = json!("secp256k1");
    assert!(PublicKey::from_jwk(other_curve).is_err());
    assert!(PublicKey::from_jwk(json!({"kty": "oct", "k": "AAAA"})).is_err());
}

#[test]
fn the_key_set_document_has_the_keys_and_nothing_private() {
    let document = keys().document();
    let key = &document["keys"][0];
    assert_eq!(
        (&key["alg"], &key["use"], &key["crv"]),
        (&json!("ES256"), &json!("sig"), &json!("P-256"))
    );
    assert_eq!(key["kid"], json!(signer().public_key().kid));
    assert_eq!(key["d"], Value::Null);
    assert_eq!(document["keys"].as_array().unwrap().len(), 1);
}
