//! The HTTP API has the routes of `contracts::routes`, no more and no fewer.

use std::collections::BTreeSet;

use contracts::routes::{Access, HttpFunction, gateway_routes};
use yaml_serde::Value;

use crate::template::{Resource, Template, referenced};

const API: &str = "HttpApi";
const AUTHORIZER: &str = "TokenAuthorizer";
/// Whoever asks for what there isn't gets its 404 or 405 from the catalogue.
const DEFAULT: &str = "$default";

/// Routes that only the table or only the template has.
#[must_use]
pub fn routes(template: &Template) -> Vec<String> {
    let wanted: BTreeSet<String> = gateway_routes()
        .map(|route| {
            let key = format!("{} {}", route.method, route.path);
            describe(&key, function_id(route.function), route.access != Access::Public)
        })
        .chain([describe(DEFAULT, function_id(HttpFunction::Catalog), false)])
        .collect();
    let found: BTreeSet<String> = template
        .resources("AWS::ApiGatewayV2::Route")
        .filter(|route| referenced(&route.properties["ApiId"]) == Some(API))
        .map(|route| found(template, &route))
        .collect();
    let missing = wanted.difference(&found).map(|route| format!("the template lacks {route}"));
    let surplus = found.difference(&wanted).map(|route| format!("only the template has {route}"));
    missing.chain(surplus).collect()
}

/// Functions that the API names as a target but isn't allowed to call.
#[must_use]
pub fn invocations(template: &Template) -> Vec<String> {
    let may_be_called = |function: &str| {
        template.resources("AWS::Lambda::Permission").any(|permission| {
            let source = permission.properties["SourceArn"].as_str().unwrap_or_default();
            referenced(&permission.properties["FunctionName"]) == Some(function)
                && source.ends_with("${HttpApi}/*")
        })
    };
    template
        .resources("AWS::ApiGatewayV2::Integration")
        .filter(|integration| referenced(&integration.properties["ApiId"]) == Some(API))
        .filter_map(|integration| referenced(&integration.properties["IntegrationUri"]))
        .filter(|function| !may_be_called(function))
        .map(|function| format!("the HTTP API may not call {function}"))
        .collect()
}

fn function_id(function: HttpFunction) -> &'static str {
    match function {
        HttpFunction::Catalog => "CatalogFunction",
        HttpFunction::QueueAdmission => "QueueAdmissionFunction",
        HttpFunction::Reservation => "ReservationFunction",
        HttpFunction::Orders => "OrdersFunction",
    }
}

fn describe(key: &str, function: &str, wants_token: bool) -> String {
    let token = if wants_token { "with a token" } else { "without a token" };
    format!("`{key}` to {function}, {token}")
}

fn found(template: &Template, route: &Resource<'_>) -> String {
    let properties = route.properties;
    let key = properties["RouteKey"].as_str().unwrap_or("a route without a key");
    let wants_token = properties["AuthorizationType"].as_str() == Some("JWT")
        && referenced(&properties["AuthorizerId"]) == Some(AUTHORIZER);
    describe(key, target(template, &properties["Target"]).unwrap_or("nothing"), wants_token)
}

/// The function behind `integrations/${…Integration}`.
fn target<'a>(template: &'a Template, target: &Value) -> Option<&'a str> {
    let id = target.as_str()?.strip_prefix("integrations/${")?.strip_suffix('}')?;
    let integration =
        template.resources("AWS::ApiGatewayV2::Integration").find(|found| found.id == id)?;
    referenced(&integration.properties["IntegrationUri"])
}
