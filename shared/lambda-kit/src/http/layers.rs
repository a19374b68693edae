//! What lies around every router: bounds, panics, words, headers.

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use contracts::problem::{Language, Reason};
use contracts::routes::allowed_methods;
use http::header::{
    self, ACCEPT_LANGUAGE, ALLOW, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, Method, Uri};
use serde_json::Value;

use super::gateway::Claims;
use super::{Failure, IDEMPOTENCY_KEY, edge};
use crate::batch::isolated;
use crate::causes::Causes;
use crate::config::Secret;

/// The largest body a request can have, in bytes.
pub(super) const BODY_LIMIT: usize = 1_000_000;

const SECURITY_HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (
        header::STRICT_TRANSPORT_SECURITY,
        HeaderValue::from_static("max-age=31536000; includeSubDomains"),
    ),
];

/// Lays the common layers around a router: 404 and 405 for what it has no
/// route for, 413 for large bodies, 500 for panics (503 under a key), problems in words, and the
/// headers every answer has.
pub fn adapt(router: Router) -> Router {
    adapt_behind_edge(router, None)
}

/// Like [`adapt`]; and 403 for what did not come through the CDN, if there is one.
pub fn adapt_behind_edge(router: Router, secret: Option<Secret>) -> Router {
    let router = router.fallback(not_found).method_not_allowed_fallback(not_found);
    lay(router.layer(middleware::from_fn_with_state(secret, edge::only_from_it)))
}

/// The layers alone.
pub(super) fn lay(router: Router) -> Router {
    router.layer(middleware::from_fn(around))
}

async fn around(request: Request, next: Next) -> Response {
    let language = language_of(request.headers());
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_personal = request.extensions().get::<Claims>().is_some_and(Claims::is_someone);
    let mut response = guarded(request, next).await;
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        response = in_words(&failure, response, language);
    }
    let headers = response.headers_mut();
    if (!is_read || is_personal) && !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    for (name, value) in SECURITY_HEADERS {
        headers.entry(name).or_insert(value);
    }
    response
}

async fn guarded(request: Request, next: Next) -> Response {
    if request.body().size_hint().lower() > BODY_LIMIT as u64 {
        return Failure::new(Reason::TooLarge).into_response();
    }
    // What was begun under a key may have come through, whatever broke then.
    let has_key = request.headers().contains_key(IDEMPOTENCY_KEY);
    let reason = if has_key { Reason::OutcomeUnknown } else { Reason::Internal };
    isolated(next.run(request))
        .await
        .unwrap_or_else(|panicked| Failure::new(reason).caused_by(panicked).into_response())
}

/// The answer to a request that no route takes: 405 where the table of routes
/// has the path under another method, else 404.
async fn not_found(method: Method, uri: Uri) -> Response {
    let allowed = allowed_methods(uri.path());
    if allowed.is_empty() || allowed.contains(&method) {
        return Failure::new(Reason::NotFound).into_response();
    }
    let mut response = Failure::new(Reason::MethodNotAllowed).into_response();
    let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
    if let Ok(value) = HeaderValue::try_from(names.join(", ")) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

fn language_of(headers: &HeaderMap) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Language::negotiate(accepted.unwrap_or_default())
}

fn in_words(failure: &Failure, response: Response, language: Language) -> Response {
    log(failure);
    let (mut parts, _) = response.into_parts();
    let headers = &mut parts.headers;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    headers.insert(VARY, HeaderValue::from_static("Accept-Language"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = failure.retry_after.or(failure.reason().retry_after_seconds()) {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if failure.reason() == Reason::Unauthorized {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    Response::from_parts(parts, Body::from(body_of(failure, language)))
}

fn body_of(failure: &Failure, language: Language) -> Vec<u8> {
    let mut body = serde_json::to_value(failure.problem.body(language)).unwrap_or_default();
    if let Value::Object(fields) = &mut body {
        for (name, value) in &failure.members {
            fields.entry(name).or_insert_with(|| value.clone());
        }
    }
    body.to_string().into_bytes()
}

/// A failure is logged once, here, where it leaves us.
fn log(failure: &Failure) {
    let reason = failure.reason().as_str();
    let cause = failure.cause.as_deref().map(|cause| Causes(cause).to_string());
    if failure.reason().status() >= 500 {
        tracing::error!(reason, cause, "a request failed");
    } else {
        tracing::debug!(reason, cause, "a request was refused");
    }
}
