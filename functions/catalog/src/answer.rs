//! Answers: bodies with their tags, and failures of the stores.

use axum::Json;
use axum::response::{IntoResponse, Response};
use contracts::problem::{FieldError, Problem};
use dynamo_store::StoreError;
use http::header::{CACHE_CONTROL, ETAG};
use http::{HeaderMap, HeaderValue, StatusCode};
use lambda_kit::http::{Failure, etag};
use redis_store::RedisStoreError;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What failed on the way to a store, as what the client is told.
pub(crate) trait OrFail<T> {
    /// The value, or the failure: 503 where repeating helps, else 500.
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T> OrFail<T> for Result<T, StoreError> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| match error.is_retryable() {
            true => Failure::unavailable(error),
            false => Failure::internal(error),
        })
    }
}

impl<T> OrFail<T> for Result<T, RedisStoreError> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| match error.is_retryable() {
            true => Failure::unavailable(error),
            false => Failure::internal(error),
        })
    }
}

/// What an edit left behind, with the tag of its version.
pub(crate) fn edited(status: StatusCode, tag: HeaderValue, body: impl Serialize) -> Response {
    (status, [(ETAG, tag)], Json(body)).into_response()
}

/// What anybody may read and keep for a while; 304 where the client has it.
pub(crate) fn readable(
    headers: &HeaderMap,
    tag: HeaderValue,
    keep: &'static str,
    body: impl Serialize,
) -> Response {
    let cached = [(ETAG, tag.clone()), (CACHE_CONTROL, HeaderValue::from_static(keep))];
    if etag::is_current(headers, &tag) {
        return (StatusCode::NOT_MODIFIED, cached).into_response();
    }
    (cached, Json(body)).into_response()
}

/// The tag of a body that no version names.
pub(crate) fn tag_of(body: &impl Serialize) -> HeaderValue {
    let digest = Sha256::digest(serde_json::to_vec(body).unwrap_or_default());
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::try_from(format!("\"{hex}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// A request with wrong fields.
pub(crate) fn invalid(errors: Vec<FieldError>) -> Failure {
    Problem::invalid(errors).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::IF_NONE_MATCH;

    #[test]
    fn who_has_it_gets_no_copy() {
        let tag = tag_of(&"body");
        assert_ne!(tag, tag_of(&"another"));
        let mut headers = HeaderMap::new();
        let fresh = readable(&headers, tag.clone(), "public, max-age=1", "body");
        assert_eq!(fresh.status(), StatusCode::OK);
        headers.insert(IF_NONE_MATCH, tag.clone());
        let again = readable(&headers, tag, "public, max-age=1", "body");
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(again.headers()[CACHE_CONTROL], "public, max-age=1");
    }
}
