//! Fans' own tokens, from the identity provider.

use domain::CustomerId;
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use tokens::{FetchError, Refreshed};

use crate::issuer::{self, Issuer, IssuerKeys};

/// A token that is valid from a moment to come: our clocks may differ so much.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_secs(60);

/// Why a fan's token was not accepted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FanError {
    /// The token is at fault.
    #[error("the token is not to be accepted")]
    Refused,
    /// The issuer's keys can't be read now.
    #[error("the issuer's keys can't be read")]
    Keys(#[source] FetchError),
}

/// Verifies fans' tokens.
#[derive(Debug)]
pub struct FanTokens {
    issuer: Issuer,
    keys: Refreshed<IssuerKeys>,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: i64,
    #[serde(default)]
    nbf: Option<i64>,
    #[serde(default)]
    aud: Option<Audience>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    token_use: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn names(&self, audience: &str) -> bool {
        match self {
            Self::One(one) => one == audience,
            Self::Several(several) => several.iter().any(|one| one == audience),
        }
    }
}

impl FanTokens {
    /// Of this issuer. Without [`Self::load_ahead`], its keys are fetched when the
    /// first token comes.
    ///
    /// # Errors
    /// When no TLS client can be built.
    pub fn new(issuer: Issuer) -> Result<Self, reqwest::Error> {
        let client = issuer::client()?;
        let url = issuer.jwks_url.clone();
        let keys = Refreshed::new(move || issuer::fetch(client.clone(), url.clone()));
        Ok(Self { issuer, keys })
    }

    /// Begins to fetch the issuer's keys in the background.
    #[must_use]
    pub fn load_ahead(self, now: Timestamp) -> Self {
        Self { keys: self.keys.load_ahead(now), ..self }
    }

    /// Whose token it is.
    ///
    /// # Errors
    /// When it is not to be accepted, or the issuer's keys can't be read.
    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<CustomerId, FanError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| FanError::Refused)?;
        let kid = header.kid.ok_or(FanError::Refused)?;
        if self.keys.current(now).await.get(&kid).is_none() {
            self.keys.refresh(now).await.map_err(FanError::Keys)?;
        }
        let keys = self.keys.known();
        let (algorithm, key) = keys.get(&kid).ok_or(FanError::Refused)?;
        self.verify_with(token, algorithm, key, now).ok_or(FanError::Refused)
    }

    fn verify_with(
        &self,
        token: &str,
        algorithm: Algorithm,
        key: &DecodingKey,
        now: Timestamp,
    ) -> Option<CustomerId> {
        let validation = self.validation(algorithm);
        let claims = jsonwebtoken::decode::<Claims>(token, key, &validation).ok()?.claims;
        let expires_at = Timestamp::from_second(claims.exp).ok()?;
        let valid_from = Timestamp::from_second(claims.nbf.unwrap_or(0)).ok()?;
        let is_in_time = now < expires_at && valid_from.duration_since(now) <= CLOCKS_DIFFER;
        let is_for_us = match (&claims.aud, &claims.client_id) {
            (Some(audience), _) => audience.names(&self.issuer.audience),
            (None, Some(client)) => *client == self.issuer.audience,
            (None, None) => false,
        };
        let is_of_use = matches!(claims.token_use.as_deref(), None | Some("access" | "id"));
        let customer = CustomerId::of_subject(&claims.sub).ok()?;
        (is_in_time && is_for_us && is_of_use).then_some(customer)
    }

    /// Signature, algorithm and issuer; the times are compared with the instant
    /// that was passed in, and an access token of Cognito has no `aud` at all.
    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.set_issuer(&[&self.issuer.name]);
        validation.set_required_spec_claims(&["iss", "sub"]);
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation
    }
}
