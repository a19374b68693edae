//! Public keys, and verifying with them.

use std::collections::HashMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use p256::elliptic_curve::sec1::ToSec1Point;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::claims::{Admission, Kind, Receipt, Viewer};

/// A public key as a JWK.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicKey {
    /// Its name: the thumbprint of RFC 7638.
    pub kid: String,
    /// The whole JWK.
    pub jwk: Value,
}

/// A JWK that is no key of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an ES256 public key named by its thumbprint")]
pub struct InvalidKey;

impl PublicKey {
    pub(crate) fn of(key: &p256::PublicKey) -> Option<Self> {
        let point = key.to_sec1_point(false);
        let (x, y) = (point.x()?, point.y()?);
        Some(Self::from_coordinates(
            &BASE64_URL_SAFE_NO_PAD.encode(x),
            &BASE64_URL_SAFE_NO_PAD.encode(y),
        ))
    }

    /// Reads a JWK as it was stored. Its name must be its thumbprint, so that
    /// no key can pass for another.
    ///
    /// # Errors
    /// When it is no ES256 key, or has another name.
    pub fn from_jwk(jwk: Value) -> Result<Self, InvalidKey> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let (Some("EC"), Some("P-256"), Some(x), Some(y)) =
            (text("kty"), text("crv"), text("x"), text("y"))
        else {
            return Err(InvalidKey);
        };
        let key = Self::from_coordinates(x, y);
        if text("kid") == Some(&key.kid) { Ok(key) } else { Err(InvalidKey) }
    }

    /// Reads a JWK from its text; see [`Self::from_jwk`].
    ///
    /// # Errors
    /// When it is no JSON, no ES256 key, or has another name.
    pub fn parse(jwk: &str) -> Result<Self, InvalidKey> {
        Self::from_jwk(serde_json::from_str(jwk).map_err(|_| InvalidKey)?)
    }

    /// Reads keys as they were stored. One that can't be read is left out: the
    /// others still verify.
    #[must_use]
    pub fn parse_all<T: AsRef<str>>(jwks: impl IntoIterator<Item = T>) -> Vec<Self> {
        jwks.into_iter().filter_map(|jwk| Self::parse(jwk.as_ref()).ok()).collect()
    }

    fn from_coordinates(x: &str, y: &str) -> Self {
        // RFC 7638: the required members, in this order, without spaces.
        let canonical = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        let kid = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(canonical.as_bytes()));
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "x": x, "y": y,
            "kid": kid, "alg": "ES256", "use": "sig",
        });
        Self { kid, jwk }
    }

    fn coordinate(&self, name: &str) -> &str {
        self.jwk.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Signed by a key that is not (yet) known here.
    #[error("the token's key is not known")]
    UnknownKey,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Not a token of ours, or for another purpose.
    #[error("the token is not valid")]
    Invalid,
}

/// A set of public keys that tokens are verified with.
#[derive(Clone, Default)]
pub struct Keys {
    by_kid: HashMap<String, DecodingKey>,
    public: Vec<PublicKey>,
}

impl Keys {
    /// These keys; what is no usable key is left out.
    #[must_use]
    pub fn new(keys: Vec<PublicKey>) -> Self {
        let mut set = Self::default();
        for key in keys {
            let (x, y) = (key.coordinate("x"), key.coordinate("y"));
            if let Ok(decoding) = DecodingKey::from_ec_components(x, y) {
                set.by_kid.insert(key.kid.clone(), decoding);
                set.public.push(key);
            }
        }
        set
    }

    /// The keys as a JWKS document.
    #[must_use]
    pub fn document(&self) -> Value {
        let keys: Vec<&Value> = self.public.iter().map(|key| &key.jwk).collect();
        json!({ "keys": keys })
    }

    /// Verifies an admission token. Whom and what it is for is then
    /// [`Admission::is_for`].
    ///
    /// # Errors
    /// When it is not to be accepted at this instant.
    pub fn admission(&self, token: &str, now: Timestamp) -> Result<Admission, TokenError> {
        self.verify(token, now)
    }

    /// Verifies a place's receipt, which does not expire.
    ///
    /// # Errors
    /// When it is not to be accepted.
    pub fn receipt(&self, token: &str, now: Timestamp) -> Result<Receipt, TokenError> {
        self.verify(token, now)
    }

    /// Verifies a viewer's pass.
    ///
    /// # Errors
    /// When it is not to be accepted at this instant.
    pub fn viewer(&self, token: &str, now: Timestamp) -> Result<Viewer, TokenError> {
        self.verify(token, now)
    }

    fn verify<K: Kind>(&self, token: &str, now: Timestamp) -> Result<K, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| TokenError::Invalid)?;
        if header.alg != Algorithm::ES256 {
            return Err(TokenError::Invalid);
        }
        let kid = header.kid.ok_or(TokenError::Invalid)?;
        let key = self.by_kid.get(&kid).ok_or(TokenError::UnknownKey)?;
        let wire = jsonwebtoken::decode::<K::Wire>(token, key, &validation(K::AUDIENCE))
            .map_err(|_| TokenError::Invalid)?;
        let token = K::from_wire(wire.claims).ok_or(TokenError::Invalid)?;
        match token.expires_at() {
            Some(expires_at) if now >= expires_at => Err(TokenError::Expired),
            _ => Ok(token),
        }
    }
}

/// The expiry is checked by hand, against the instant that was passed in.
fn validation(audience: &str) -> Validation {
    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_issuer(&[crate::ISSUER]);
    validation.set_audience(&[audience]);
    validation.set_required_spec_claims(&["iss", "aud"]);
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation
}
