//! The CDN keeps what anybody may read and nothing else, by what the answer
//! depends on and nothing else; and it alone is answered.

use std::collections::BTreeSet;

use contracts::routes::{Access, HttpFunction, Route, gateway_routes};
use lambda_kit::http::EDGE_HEADER;
use yaml_serde::Value;

use crate::code::Code;
use crate::template::{Template, is, is_written, list, referenced};

const KEEPING: &str = "EdgeCachePolicy";
const FORWARDING: &str = "EdgeOriginRequestPolicy";
/// CachingDisabled and AllViewerExceptHostHeader, as AWS manages them.
const NOT_KEEPING: &str = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";
const ALL_BUT_HOST: &str = "b689b0a8-53d0-40ab-baf2-68738e2966ac";
/// What stands for a path's parameters: words of other routes among them, as a
/// client may choose them.
const NAMES: [&str; 5] = ["x", "orders", "queue", "places", "mine"];

/// The secret that the CDN adds and the functions know.
pub(super) const SECRET: &str =
    r#"!If [OnAws, !Sub "{{resolve:secretsmanager:${EdgeSecret}}}", !Ref "AWS::NoValue"]"#;
const SHOWN: &str = r#"!Sub "{{resolve:secretsmanager:${EdgeSecret}}}""#;

/// Answers that the CDN would keep though they are somebody's own, or fetch
/// each time though they are anybody's; ways around the CDN.
#[must_use]
pub fn behaviours(template: &Template) -> Vec<String> {
    let edge = distribution(template);
    let mut faults = Vec::new();
    for behaviour in all_behaviours(edge) {
        if !is_sound(behaviour) {
            let pattern = behaviour["PathPattern"].as_str().unwrap_or("the default");
            faults.push(format!(
                "the CDN's behaviour for {pattern} is none of the two that it can be"
            ));
        }
    }
    for route in gateway_routes().filter(is_read) {
        let is_public = route.access == Access::Public;
        // Names that somebody chose may cost a copy, but may never make one.
        let names = if is_public { &NAMES[..1] } else { &NAMES[..] };
        if paths(route.path, names).iter().any(|path| keeps(edge, path) != is_public) {
            faults
                .push(format!("the CDN is wrong about keeping `{} {}`", route.method, route.path));
        }
    }
    if !list(&edge["Origins"]).all(shows_the_secret) {
        faults.push("the CDN doesn't show the functions its secret".to_owned());
    }
    faults
}

/// Whether what is kept is found again by all that it depends on: the origin of
/// the page, and the parameters that the routes read.
#[must_use]
pub fn cache_key(template: &Template, code: &[Code]) -> Vec<String> {
    let mut faults = Vec::new();
    let key = policy(template, "AWS::CloudFront::CachePolicy", KEEPING);
    let key = &key["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"];
    let origin =
        "!If [WithCors, {HeaderBehavior: whitelist, Headers: [Origin]}, {HeaderBehavior: none}]";
    if !is_written(&key["HeadersConfig"], origin) {
        faults.push("what is kept must depend on Origin and on no other header".to_owned());
    }
    if !is_written(&key["CookiesConfig"], "{CookieBehavior: none}") {
        faults.push("what is kept must depend on no cookie".to_owned());
    }
    let edge = distribution(template);
    let read = parameters(edge, code);
    let queries = &key["QueryStringsConfig"];
    let named: BTreeSet<&str> = list(&queries["QueryStrings"]).filter_map(Value::as_str).collect();
    if queries["QueryStringBehavior"].as_str() != Some("whitelist") || named != read {
        faults.push(format!("what is kept must depend on the parameters {read:?}"));
    }
    let rest = policy(template, "AWS::CloudFront::OriginRequestPolicy", FORWARDING);
    let rest = &rest["OriginRequestPolicyConfig"];
    if !is_written(&rest["QueryStringsConfig"], "{QueryStringBehavior: none}")
        || !is_written(&rest["CookiesConfig"], "{CookieBehavior: none}")
    {
        faults.push("the origin must not see parameters that are not in the key".to_owned());
    }
    faults
}

fn distribution(template: &Template) -> &Value {
    let mut found = template.resources("AWS::CloudFront::Distribution");
    found.next().map_or(&Value::Null, |edge| &edge.properties["DistributionConfig"])
}

fn policy<'a>(template: &'a Template, kind: &'a str, id: &str) -> &'a Value {
    let mut found = template.resources(kind).filter(|policy| policy.id == id);
    found.next().map_or(&Value::Null, |policy| policy.properties)
}

fn all_behaviours(edge: &Value) -> impl Iterator<Item = &Value> {
    list(&edge["CacheBehaviors"]).chain([&edge["DefaultCacheBehavior"]])
}

fn shows_the_secret(origin: &Value) -> bool {
    list(&origin["OriginCustomHeaders"]).any(|header| {
        let name = header["HeaderName"].as_str().unwrap_or_default();
        name.eq_ignore_ascii_case(EDGE_HEADER.as_str()) && is_written(&header["HeaderValue"], SHOWN)
    })
}

fn is_sound(behaviour: &Value) -> bool {
    let cache = &behaviour["CachePolicyId"];
    let forward = &behaviour["OriginRequestPolicyId"];
    let keeps = referenced(cache) == Some(KEEPING) && referenced(forward) == Some(FORWARDING);
    let passes = cache.as_str() == Some(NOT_KEEPING) && forward.as_str() == Some(ALL_BUT_HOST);
    let methods = "[GET, HEAD, OPTIONS, PUT, PATCH, POST, DELETE]";
    (keeps || passes)
        && behaviour["TargetOriginId"].as_str() == Some("api")
        && behaviour["ViewerProtocolPolicy"].as_str() == Some("https-only")
        && behaviour["CachedMethods"].is_null()
        && is_written(&behaviour["AllowedMethods"], methods)
}

/// Whether the first behaviour that fits a path keeps answers.
fn keeps(edge: &Value, path: &str) -> bool {
    all_behaviours(edge)
        .find(|behaviour| {
            let pattern = behaviour["PathPattern"].as_str();
            pattern.is_none_or(|pattern| fits(pattern.as_bytes(), path.as_bytes()))
        })
        .is_some_and(|behaviour| is(&behaviour["CachePolicyId"], "Ref"))
}

/// Parameters that are read by functions whose routes come through a behaviour
/// that keeps answers, edits among them: they come the same way.
fn parameters<'a>(edge: &Value, code: &'a [Code]) -> BTreeSet<&'a str> {
    let functions: BTreeSet<&str> = gateway_routes()
        .filter(|route| paths(route.path, &NAMES[..1]).iter().any(|path| keeps(edge, path)))
        .map(|route| match route.function {
            HttpFunction::Catalog => "catalog",
            HttpFunction::QueueAdmission => "queue-admission",
            HttpFunction::Reservation => "reservation",
            HttpFunction::Orders => "orders",
        })
        .collect();
    let code = code.iter().filter(|code| functions.contains(code.name.as_str()));
    code.flat_map(Code::parameters).collect()
}

fn is_read(route: &Route) -> bool {
    matches!(route.method, "GET" | "HEAD")
}

/// A route's path with each of the names for each of its parameters.
fn paths(route: &str, names: &[&str]) -> Vec<String> {
    route.split('/').skip(1).fold(vec![String::new()], |paths, part| {
        let parts = if part.starts_with('{') { names } else { &[part][..] };
        paths
            .iter()
            .flat_map(|path| parts.iter().map(move |part| format!("{path}/{part}")))
            .collect()
    })
}

/// Whether a path fits a pattern of the CDN.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=path.len()).any(|from| fits(rest, &path[from..])),
        ([b'?', pattern @ ..], [_, path @ ..]) => fits(pattern, path),
        ([expected, pattern @ ..], [given, path @ ..]) => expected == given && fits(pattern, path),
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_crosses_slashes_and_a_pattern_is_the_whole_path() {
        let fits = |pattern: &str, path: &str| fits(pattern.as_bytes(), path.as_bytes());
        assert!(fits("/events/*/orders*", "/events/a/b/orders"));
        assert!(fits("/events/*/orders*", "/events/a/orders/o"));
        assert!(!fits("/events/*/orders*", "/events/orders"));
        assert!(!fits("/events/*", "/v1/events/a"));
        assert!(fits("/?", "/a"));
        assert!(!fits("/?", "/"));
    }

    #[test]
    fn a_path_takes_every_name_in_every_place() {
        assert_eq!(paths("/a/{b}/c", &["x", "y"]), ["/a/x/c", "/a/y/c"]);
        assert_eq!(paths("/{a}/{b}", &["x", "y"]).len(), 4);
    }
}
