//! On AWS the API's own address stays open beside the CDN and its web ACL. The
//! CDN adds a secret to what it passes on, and functions that know the secret
//! answer nothing else.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use contracts::problem::Reason;
use http::HeaderName;

use super::Failure;
use crate::config::Secret;

/// The variable with the secret. Every function that answers HTTP reads it;
/// where it is not set, as on one machine, everybody is answered.
pub const EDGE_SECRET: &str = "EDGE_SECRET";
/// The header the CDN adds. Viewers can't: it replaces theirs.
pub const EDGE_HEADER: HeaderName = HeaderName::from_static("x-onsale-edge");

/// Refuses what did not come through the CDN.
pub(super) async fn only_from_it(
    State(secret): State<Option<Secret>>,
    mut request: Request,
    next: Next,
) -> Response {
    let given = request.headers_mut().remove(EDGE_HEADER);
    let is_from_it = secret.is_none_or(|secret| {
        given.is_some_and(|given| is_same(given.as_bytes(), secret.expose().as_bytes()))
    });
    match is_from_it {
        true => next.run(request).await,
        false => Failure::new(Reason::Forbidden).into_response(),
    }
}

/// Compares all of it, whatever differs first: time must not tell how much of a
/// guess was right.
fn is_same(given: &[u8], secret: &[u8]) -> bool {
    let differences = given.iter().zip(secret).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == secret.len() && differences == 0
}
