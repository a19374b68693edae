//! An identity provider: signs fans' tokens with RS256, as Cognito does, and
//! publishes its keys over HTTP.

use std::sync::{Arc, Mutex};

use aws_lc_rs::encoding::PublicKeyX509Der;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use live_authorizer::Issuer;
use serde_json::{Value, json};
use test_support::endpoint::{Answer, Endpoint};

/// Whom its tokens are for.
pub(crate) const AUDIENCE: &str = "client-1";
const ISSUER: &str = "https://idp.test/pool";

pub(crate) struct IdentityProvider {
    key: KeyPair,
    kid: String,
    answer: Arc<Mutex<(u16, String)>>,
    endpoint: Endpoint,
    fetches: Mutex<u32>,
}

impl IdentityProvider {
    pub(crate) async fn start() -> Self {
        let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let kid = "key-1".to_owned();
        let answer = Arc::new(Mutex::new((200, key_set(&key, &kid))));
        let current = Arc::clone(&answer);
        let endpoint = Endpoint::start(move |_| {
            let (status, body) = current.lock().unwrap().clone();
            Answer::new(status, body).header("location", "/elsewhere")
        });
        Self { key, kid, answer, endpoint: endpoint.await, fetches: Mutex::new(0) }
    }

    pub(crate) fn issuer(&self) -> Issuer {
        Issuer {
            name: ISSUER.to_owned(),
            audience: AUDIENCE.to_owned(),
            jwks_url: format!("{}/.well-known/jwks.json", self.endpoint.url()),
        }
    }

    pub(crate) fn kid(&self) -> &str {
        &self.kid
    }

    /// How often its keys were fetched.
    pub(crate) fn fetches(&self) -> u32 {
        let mut fetches = self.fetches.lock().unwrap();
        *fetches += u32::try_from(self.endpoint.take_asked().len()).unwrap();
        *fetches
    }

    pub(crate) fn answer_with(&self, status: u16, body: &str) {
        *self.answer.lock().unwrap() = (status, body.to_owned());
    }

    pub(crate) fn recover(&self) {
        self.answer_with(200, &key_set(&self.key, &self.kid));
    }

    /// An access token of fan-1, with changed claims.
    pub(crate) fn token(&self, change: impl Fn(&mut Value)) -> String {
        let mut claims = claims();
        change(&mut claims);
        self.sign(&json!({"alg": "RS256", "kid": self.kid}), &claims)
    }

    /// A token with another header, signed with RS256 all the same.
    pub(crate) fn with_header(&self, header: &Value) -> String {
        self.sign(header, &claims())
    }

    /// A token of this provider's key that claims to be another's.
    pub(crate) fn token_as(&self, other: &Self) -> String {
        self.sign(&json!({"alg": "RS256", "kid": other.kid}), &claims())
    }

    /// HS256 with the public key as the secret.
    pub(crate) fn signed_with_public_key(&self) -> String {
        let public =
            aws_lc_rs::encoding::AsDer::<PublicKeyX509Der<'_>>::as_der(self.key.public_key())
                .unwrap();
        let signed = unsigned(&json!({"alg": "HS256", "kid": self.kid}), &claims());
        let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, public.as_ref());
        let signature = aws_lc_rs::hmac::sign(&key, signed.as_bytes());
        format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = unsigned(header, claims);
        let mut signature = vec![0; self.key.public_modulus_len()];
        let random = SystemRandom::new();
        self.key.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
        format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "fan-1", "client_id": AUDIENCE, "token_use": "access",
        "exp": 4_000_000_000_i64,
    })
}

fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

/// The key among others that are of no use for verifying.
fn key_set(key: &KeyPair, kid: &str) -> String {
    let number = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let n = number(key.public_key().modulus().big_endian_without_leading_zero());
    let e = number(key.public_key().exponent().big_endian_without_leading_zero());
    json!({"keys": [
        {"kty": "oct", "k": "AAAA", "kid": "secret"},
        {"kty": "RSA", "n": n, "e": e, "use": "enc", "kid": "for-encryption"},
        {"kty": "new", "kid": "unheard-of"},
        {"kty": "RSA", "n": n, "e": e, "use": "sig", "alg": "RS256", "kid": kid},
    ]})
    .to_string()
}
