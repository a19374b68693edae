//! One who wants to connect.

use std::collections::BTreeMap;
use std::fmt;

use contracts::live::{Pass, Principal};
use contracts::problem::Language;
use domain::{CustomerId, EventId};
use dynamo_store::{CatalogStore, StoreError};
use jiff::Timestamp;
use lambda_kit::{Causes, StartError};
use serde::Deserialize;
use tokens::{FetchError, KeyRing, PublicKey, Purpose, VerifyError};

use crate::fan::{FanError, FanTokens};
use crate::policy::{Authorization, Kind};

/// The gateway's question.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectEvent {
    method_arn: String,
    #[serde(default)]
    headers: Option<BTreeMap<String, String>>,
    #[serde(default)]
    query_string_parameters: Option<BTreeMap<String, String>>,
}

/// The address holds the token: it does not print.
impl fmt::Debug for ConnectEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectEvent").field("method", &self.method_arn).finish_non_exhaustive()
    }
}

impl ConnectEvent {
    fn token(&self) -> Option<&str> {
        self.query_string_parameters.as_ref()?.get("token").map(String::as_str)
    }

    /// The gateway leaves names of headers as the client wrote them.
    fn language(&self) -> Language {
        let mut headers = self.headers.iter().flatten();
        let accepted = headers.find(|(name, _)| name.eq_ignore_ascii_case("accept-language"));
        accepted.map(|(_, value)| Language::negotiate(value)).unwrap_or_default()
    }
}

/// Keys can't be read: nothing can be said about a token.
#[derive(Debug, thiserror::Error)]
#[error("the keys to verify tokens with can't be read")]
pub struct KeysUnavailable(#[source] FetchError);

/// Says who may connect.
#[derive(Debug)]
pub struct Handler {
    ours: KeyRing,
    fans: FanTokens,
}

struct Someone {
    kind: Kind,
    customer: Option<CustomerId>,
    event: Option<EventId>,
}

impl Handler {
    /// With our keys from the catalogue, and the issuer's.
    #[must_use]
    pub fn new(catalog: CatalogStore, fans: FanTokens) -> Self {
        let ours = KeyRing::new(move || {
            let catalog = catalog.clone();
            async move { public_keys(&catalog).await }
        });
        Self { ours, fans }
    }

    /// Begins to fetch our keys and the issuer's in the background, and opens the
    /// connections to DynamoDB and to the issuer with that.
    #[must_use]
    pub fn load_ahead(self, now: Timestamp) -> Self {
        Self { ours: self.ours.load_ahead(now), fans: self.fans.load_ahead(now) }
    }

    /// Answers the gateway.
    ///
    /// # Errors
    /// When keys can't be read; the gateway then says 500, and the client tries again.
    pub async fn authorize(
        &self,
        asked: &ConnectEvent,
        now: Timestamp,
    ) -> Result<Authorization, StartError> {
        let arn = &asked.method_arn;
        let someone = match asked.token() {
            Some(token) => self.who(token, now).await.inspect_err(|error| {
                tracing::error!(error = %Causes(error), "nobody can connect");
            })?,
            None => None,
        };
        Ok(match someone {
            Some(Someone { kind, customer, event }) => {
                let principal = customer.map_or(Principal::Viewer, Principal::Customer);
                let language = asked.language();
                Authorization::allow(arn, kind, &Pass { principal, event, language })
            }
            None => Authorization::deny(arn),
        })
    }

    /// Who brings this token; none: nobody.
    async fn who(&self, token: &str, now: Timestamp) -> Result<Option<Someone>, KeysUnavailable> {
        match Purpose::claimed_by(token) {
            Some(Purpose::Admission) => {
                let admission = accepted(self.ours.admission(token, now).await)?;
                Ok(admission.map(|admission| Someone {
                    kind: Kind::Admission,
                    customer: Some(admission.customer),
                    event: Some(admission.event),
                }))
            }
            Some(Purpose::Viewer) => {
                let viewer = accepted(self.ours.viewer(token, now).await)?;
                Ok(viewer.map(|viewer| Someone {
                    kind: Kind::Viewer,
                    customer: None,
                    event: Some(viewer.event),
                }))
            }
            // A receipt proves a place, not a person who is here now.
            Some(Purpose::Receipt) => Ok(None),
            None => match self.fans.verify(token, now).await {
                Ok(customer) => {
                    Ok(Some(Someone { kind: Kind::Fan, customer: Some(customer), event: None }))
                }
                Err(FanError::Refused) => Ok(None),
                Err(FanError::Keys(error)) => Err(KeysUnavailable(error)),
            },
        }
    }
}

fn accepted<T>(verified: Result<T, VerifyError>) -> Result<Option<T>, KeysUnavailable> {
    match verified {
        Ok(claims) => Ok(Some(claims)),
        Err(VerifyError::Token(_)) => Ok(None),
        Err(VerifyError::Keys(error)) => Err(KeysUnavailable(error)),
    }
}

async fn public_keys(catalog: &CatalogStore) -> Result<Vec<PublicKey>, StoreError> {
    let stored = catalog.keys_list().await?;
    Ok(PublicKey::parse_all(stored.iter().map(|key| &key.jwk)))
}
