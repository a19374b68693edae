//! What the admission token of a request allows.

use domain::Intent;
use dynamo_store::{CatalogStore, StoreError};
use http::HeaderMap;
use jiff::Timestamp;
use redis_store::Session;
use tokens::{FetchError, KeyRing, PublicKey, TokenError, VerifyError};

/// The header that carries it.
pub const HEADER: &str = "Onsale-Admission";

/// Why a request may not buy. It may still learn what became of an earlier one.
#[derive(Debug, Clone)]
pub enum NotAdmitted {
    /// It has no token, or several.
    Missing,
    /// Its token's time is over, to the second.
    Expired,
    /// Its token is none of ours.
    Invalid,
    /// Its token is for another event or another fan.
    Foreign,
    /// The keys can't be read now, so nothing is known about its token.
    Unknown(FetchError),
}

/// The shopping session that the request's token stands for.
///
/// # Errors
/// When there is no valid token for this event and fan at this instant.
pub async fn session(
    headers: &HeaderMap,
    keys: &KeyRing,
    intent: &Intent,
    now: Timestamp,
) -> Result<Session, NotAdmitted> {
    let token = token_of(headers).ok_or(NotAdmitted::Missing)?;
    let admission = keys.admission(token, now).await.map_err(|error| match error {
        VerifyError::Token(TokenError::Expired) => NotAdmitted::Expired,
        VerifyError::Token(TokenError::Invalid | TokenError::UnknownKey) => NotAdmitted::Invalid,
        VerifyError::Keys(error) => NotAdmitted::Unknown(error),
    })?;
    if !admission.is_for(&intent.event, &intent.customer) {
        return Err(NotAdmitted::Foreign);
    }
    Ok(Session { id: admission.session, expires_at: admission.expires_at })
}

fn token_of(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(HEADER).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().map(str::trim).filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// The keys of admission tokens, as the catalogue has them.
#[must_use]
pub fn key_ring(catalog: CatalogStore) -> KeyRing {
    KeyRing::new(move || {
        let catalog = catalog.clone();
        async move {
            let stored = catalog.keys_list().await?;
            Ok::<_, StoreError>(PublicKey::parse_all(stored.iter().map(|key| &key.jwk)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn of_several_tokens_none_counts() {
        let mut headers = HeaderMap::new();
        assert_eq!(token_of(&headers), None);
        headers.append(HEADER, HeaderValue::from_static(" one "));
        assert_eq!(token_of(&headers), Some("one"));
        headers.append(HEADER, HeaderValue::from_static("two"));
        assert_eq!(token_of(&headers), None);
    }
}
