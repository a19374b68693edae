//! What the verified token says and the gateway's claims no longer do: the
//! gateway writes a list as one text, `[a b]`, in which a group called
//! `x operators` looks like two.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use serde_json::{Map, Value};

use super::gateway::Claims;

/// What the gateway's claims and the token must have in common.
const WHO: [&str; 2] = ["sub", "iss"];

/// The claims of the token that the gateway verified. None where the header
/// holds anything but that one token: of two, only the gateway knows which one
/// it looked at.
pub(super) fn claims(headers: &HeaderMap, verified: &Claims) -> Option<Map<String, Value>> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let claims = payload(value.to_str().ok()?)?;
    let is_the_same = |name| claims.get(name).and_then(Value::as_str) == verified.text(name);
    (verified.is_someone() && WHO.into_iter().all(is_the_same)).then_some(claims)
}

/// The gateway takes a token with `Bearer` before it and without.
fn payload(header: &str) -> Option<Map<String, Value>> {
    let token = match header.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("Bearer") => token,
        Some(_) => return None,
        None => header,
    };
    let [_, payload, _] = token.split('.').collect::<Vec<_>>()[..] else { return None };
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}
