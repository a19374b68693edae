//! The gateway's events and answers (HTTP API, payload format 2.0).
//!
//! Read leniently and by hand: the common crates refuse a claim that is a
//! list, and panic at a path or a host that is no URL, and then the client
//! would get the gateway's answer instead of ours.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use contracts::problem::{FieldError, Reason, Text};
use http::header::{ACCEPT_LANGUAGE, COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use lambda_runtime::LambdaEvent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tower::ServiceExt;

use super::layers::lay;
use super::{Failure, IDEMPOTENCY_KEY};
use crate::batch::{Deadline, OutOfTime};

/// A request as the gateway passes it on.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayEvent {
    raw_path: String,
    #[serde(default)]
    raw_query_string: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    cookies: Vec<String>,
    request_context: RequestContext,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

impl GatewayEvent {
    /// AWS writes names in lower case; an emulator may not.
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

/// Headers and claims hold tokens and names: they don't print.
impl fmt::Debug for GatewayEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = &self.request_context.http.method;
        f.debug_struct("GatewayEvent")
            .field("method", method)
            .field("path", &self.raw_path)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Deserialize)]
struct RequestContext {
    http: HttpDescription,
    #[serde(default)]
    authorizer: Option<Authorizer>,
}

#[derive(Clone, Deserialize)]
struct HttpDescription {
    method: String,
}

#[derive(Clone, Deserialize)]
struct Authorizer {
    #[serde(default)]
    jwt: Option<Jwt>,
}

#[derive(Clone, Deserialize)]
struct Jwt {
    #[serde(default)]
    claims: Option<Map<String, Value>>,
}

/// What the gateway verified about the client; empty for an anonymous one.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Claims(Map<String, Value>);

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Claims({} of them)", self.0.len())
    }
}

impl Claims {
    /// A claim.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A claim that is a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Whether anybody was verified at all.
    #[must_use]
    pub fn is_someone(&self) -> bool {
        !self.0.is_empty()
    }
}

/// An answer as the gateway wants it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayResponse {
    /// The HTTP status.
    pub status_code: u16,
    /// Headers; several of one name are joined.
    pub headers: BTreeMap<String, String>,
    /// Cookies to set.
    pub cookies: Vec<String>,
    /// The body, or its base64.
    pub body: String,
    /// Which of both.
    pub is_base64_encoded: bool,
}

/// Answers one event with an adapted router.
pub async fn answer(router: Router, event: GatewayEvent) -> GatewayResponse {
    let accepted = accepted_languages(&event);
    let response = match request_of(event) {
        Ok(request) => through(router, request).await,
        Err(failure) => refusal(failure, accepted).await,
    };
    response_of(response).await
}

/// Like [`answer`], but with our own words where the time runs out: the gateway
/// would only say that something is wrong.
pub(super) async fn answer_in_time(
    router: Router,
    event: LambdaEvent<GatewayEvent>,
) -> GatewayResponse {
    let deadline = Deadline::of(&event.context, Duration::ZERO);
    let accepted = accepted_languages(&event.payload);
    // Without a key there is none to repeat with; every operation without one
    // is safe to repeat as it is.
    let has_key = event.payload.header(IDEMPOTENCY_KEY).is_some();
    let reason = if has_key { Reason::OutcomeUnknown } else { Reason::Unavailable };
    match tokio::time::timeout(deadline.remaining(), answer(router, event.payload)).await {
        Ok(response) => response,
        Err(_) => {
            let failure = Failure::new(reason).caused_by(OutOfTime);
            response_of(refusal(failure, accepted).await).await
        }
    }
}

/// A failure from outside any router still goes through the layers, which
/// put it into words.
async fn refusal(failure: Failure, accepted: HeaderValue) -> Response {
    let router = lay(Router::new().fallback(move || async move { failure }));
    let mut request = http::Request::new(Body::empty());
    request.headers_mut().insert(ACCEPT_LANGUAGE, accepted);
    through(router, request).await
}

async fn through(router: Router, request: http::Request<Body>) -> Response {
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn accepted_languages(event: &GatewayEvent) -> HeaderValue {
    let given = event.header(ACCEPT_LANGUAGE.as_str()).unwrap_or_default();
    HeaderValue::try_from(given).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn request_of(event: GatewayEvent) -> Result<http::Request<Body>, Failure> {
    let mut target = encoded(&event.raw_path, is_path_byte);
    if !target.starts_with('/') {
        target.insert(0, '/');
    }
    if !event.raw_query_string.is_empty() {
        target.push('?');
        target.push_str(&encoded(&event.raw_query_string, |b| is_path_byte(b) || b == b'?'));
    }
    let method = Method::from_bytes(event.request_context.http.method.as_bytes())
        .map_err(|_| Failure::new(Reason::MethodNotAllowed))?;
    let body = body_of(event.body, event.is_base64_encoded)?;
    let mut request = http::Request::builder()
        .method(method)
        .uri(target)
        .body(Body::from(body))
        .map_err(|_| Failure::from(FieldError::new("path:", Text::NotPath)))?;
    *request.headers_mut() = headers_of(event.headers, &event.cookies);
    let claims = event.request_context.authorizer.and_then(|authorizer| authorizer.jwt?.claims);
    request.extensions_mut().insert(Claims(claims.unwrap_or_default()));
    Ok(request)
}

fn body_of(body: Option<String>, is_base64: bool) -> Result<Vec<u8>, Failure> {
    let body = body.unwrap_or_default();
    if !is_base64 {
        return Ok(body.into_bytes());
    }
    BASE64_STANDARD.decode(body).map_err(|_| FieldError::new("", Text::NotBase64).into())
}

/// A header that can't be one is left out: who needs it finds it missing.
fn headers_of(given: BTreeMap<String, String>, cookies: &[String]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(given.len() + 1);
    for (name, value) in given {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    if let Ok(value) = HeaderValue::try_from(cookies.join("; "))
        && !cookies.is_empty()
    {
        headers.insert(COOKIE, value);
    }
    headers
}

/// The gateway decodes paths before it passes them on; encoded again, a path
/// with spaces, quotes or emoji is one that simply has no route.
fn encoded(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut target = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let escapes = byte == b'%'
            && bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        if escapes || is_plain(byte) {
            target.push(char::from(byte));
        } else {
            target.push_str(&format!("%{byte:02X}"));
        }
    }
    target
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte)
}

async fn response_of(response: Response) -> GatewayResponse {
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let (body, is_base64_encoded) = match String::from_utf8(bytes.into()) {
        Ok(text) => (text, false),
        Err(error) => (BASE64_STANDARD.encode(error.as_bytes()), true),
    };
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let cookies = parts.headers.get_all(SET_COOKIE).iter().map(text).collect();
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in parts.headers.iter().filter(|(name, _)| **name != SET_COOKIE) {
        headers
            .entry(name.as_str().to_owned())
            .and_modify(|joined| *joined = format!("{joined}, {}", text(value)))
            .or_insert_with(|| text(value));
    }
    let status_code = parts.status.as_u16();
    GatewayResponse { status_code, headers, cookies, body, is_base64_encoded }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use lambda_runtime::Context;
    use serde_json::json;

    use super::*;
    use crate::http::adapt;

    async fn answer_too_late(headers: Value) -> GatewayResponse {
        let event = json!({
            "rawPath": "/orders", "headers": headers,
            "requestContext": {"http": {"method": "GET"}},
        });
        let router = adapt(Router::new().route("/orders", get(std::future::pending::<()>)));
        let event = LambdaEvent::new(serde_json::from_value(event).unwrap(), Context::default());
        answer_in_time(router, event).await
    }

    #[tokio::test]
    async fn whoever_is_out_of_time_is_told_whether_to_repeat() {
        let answer = answer_too_late(json!({"Accept-Language": "zh-TW"})).await;
        assert_eq!((answer.status_code, answer.headers["retry-after"].as_str()), (503, "2"));
        assert!(answer.body.contains("\"unavailable\""));
        assert_eq!(answer.headers["content-language"], "zh-Hant");
        let keyed = answer_too_late(json!({"idempotency-key": "k"})).await;
        assert!(keyed.body.contains("\"outcome_unknown\""));
    }
}
