//! Answers: bodies with their tags.

use axum::Json;
use axum::response::{IntoResponse, Response};
use contracts::problem::{FieldError, Problem};
use http::header::ETAG;
use http::{HeaderValue, StatusCode};
use lambda_kit::http::Failure;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What an edit left behind, with the tag of its version.
pub(crate) fn edited(status: StatusCode, tag: HeaderValue, body: impl Serialize) -> Response {
    (status, [(ETAG, tag)], Json(body)).into_response()
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

    #[test]
    fn another_body_has_another_tag() {
        assert_eq!(tag_of(&"body"), tag_of(&"body"));
        assert_ne!(tag_of(&"body"), tag_of(&"another"));
    }
}
