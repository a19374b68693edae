//! The identity provider's keys.

use std::collections::HashMap;
use std::time::Duration;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde::Deserialize;
use serde_json::Value;

/// Connecting and reading end while the gateway still waits for the answer.
const CONNECT: Duration = Duration::from_secs(1);
const WHOLE: Duration = Duration::from_secs(3);
/// A key set is a few kilobytes; more is not one.
const MOST_BYTES: usize = 256 * 1024;

/// Whose tokens fans bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// The `iss` of its tokens.
    pub name: String,
    /// Whom its tokens must be for: `aud`, or where there is none, `client_id`.
    pub audience: String,
    /// Where it publishes its keys.
    pub jwks_url: String,
}

/// The key set could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeySetError {
    #[error("the issuer's key set can't be fetched")]
    Fetch(#[from] reqwest::Error),
    #[error("the issuer's key set is too large to be one")]
    TooLarge,
    #[error("the issuer's key set can't be read")]
    Read(#[from] serde_json::Error),
}

/// The issuer's keys by their names, each with the one algorithm it verifies.
#[derive(Clone, Default)]
pub struct IssuerKeys(HashMap<String, (Algorithm, DecodingKey)>);

impl IssuerKeys {
    /// Reads a key set (RFC 7517). Keys that are of no use here are left out.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct KeySet {
            keys: Vec<Value>,
        }
        let set: KeySet = serde_json::from_slice(text)?;
        let keys = set.keys.into_iter().filter_map(|key| usable(serde_json::from_value(key).ok()?));
        Ok(Self(keys.collect()))
    }

    /// The key of this name. The algorithm comes from the key: a token that
    /// could choose it could turn a public key into a secret.
    pub(crate) fn get(&self, kid: &str) -> Option<(Algorithm, &DecodingKey)> {
        self.0.get(kid).map(|(algorithm, key)| (*algorithm, key))
    }
}

fn usable(jwk: Jwk) -> Option<(String, (Algorithm, DecodingKey))> {
    let is_for_signatures = match &jwk.common.public_key_use {
        None | Some(PublicKeyUse::Signature) => true,
        Some(PublicKeyUse::Encryption | PublicKeyUse::Other(_)) => false,
    };
    let algorithm = if let AlgorithmParameters::RSA(_) = &jwk.algorithm {
        Algorithm::RS256
    } else if let AlgorithmParameters::EllipticCurve(key) = &jwk.algorithm
        && key.curve == EllipticCurve::P256
    {
        Algorithm::ES256
    } else {
        return None;
    };
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    is_for_signatures.then_some((jwk.common.key_id?, (algorithm, key)))
}

/// A client for key sets. Redirects are not followed: the address is where the
/// keys are, and TLS to it is what they are trusted for.
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    Client::builder().connect_timeout(CONNECT).timeout(WHOLE).redirect(Policy::none()).build()
}

pub(crate) async fn fetch(client: Client, url: String) -> Result<IssuerKeys, KeySetError> {
    let response = client.get(url).send().await?.error_for_status()?;
    let text = bounded(response).await?;
    Ok(IssuerKeys::parse(&text)?)
}

async fn bounded(mut response: Response) -> Result<Vec<u8>, KeySetError> {
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if text.len() + chunk.len() > MOST_BYTES {
            return Err(KeySetError::TooLarge);
        }
        text.extend_from_slice(&chunk);
    }
    Ok(text)
}
