//! Who may call: the two APIs the functions, a fan with a token the routes that
//! want one.

use std::collections::BTreeSet;

use crate::template::{Resource, Template, entries, is, is_written, referenced};

const GATEWAY: &str = "apigateway.amazonaws.com";
const HTTP_API: &str = "HttpApi";
const LIVE_API: &str = "WebSocketApi";

/// The tokens that count: those of our own user pool, or of the issuer that
/// the operator names.
const ISSUER: &str = r#"!If [OwnUserPool, !Sub "https://cognito-idp.${AWS::Region}.amazonaws.com/${UserPool}", !Ref TokenIssuer]"#;
const AUDIENCE: &str = "!If [OwnUserPool, !Ref UserPoolClient, !Ref TokenAudience]";

/// Others than the two APIs that may call a function.
#[must_use]
pub fn callers(template: &Template) -> Vec<String> {
    template
        .resources("AWS::Lambda::Permission")
        .filter(|permission| !is_for_an_api(permission))
        .map(|permission| format!("{} is not for one of the APIs alone", permission.id))
        .collect()
}

fn is_for_an_api(permission: &Resource<'_>) -> bool {
    let parts: BTreeSet<&str> = entries(permission.properties).map(|(name, _)| name).collect();
    let source = &permission.properties["SourceArn"];
    let ours = [HTTP_API, LIVE_API].map(|api| {
        format!(
            "arn:${{AWS::Partition}}:execute-api:${{AWS::Region}}:${{AWS::AccountId}}:${{{api}}}/"
        )
    });
    parts == BTreeSet::from(["Action", "FunctionName", "Principal", "SourceArn"])
        && permission.properties["Action"].as_str() == Some("lambda:InvokeFunction")
        && permission.properties["Principal"].as_str() == Some(GATEWAY)
        && is(source, "Sub")
        && source.as_str().is_some_and(|text| ours.iter().any(|api| text.starts_with(api)))
}

/// Authorizers that let in more than the bearers of the tokens that count.
#[must_use]
pub fn authorizers(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for authorizer in template.resources("AWS::ApiGatewayV2::Authorizer") {
        let expected = match referenced(&authorizer.properties["ApiId"]) {
            Some(HTTP_API) => token_authorizer(),
            Some(LIVE_API) => CONNECT_AUTHORIZER.to_owned(),
            _ => String::new(),
        };
        if !is_written(authorizer.properties, &expected) {
            faults.push(format!("{} is not the authorizer that it must be", authorizer.id));
        }
    }
    faults
}

fn token_authorizer() -> String {
    format!(
        "ApiId: !Ref HttpApi
Name: tokens
AuthorizerType: JWT
IdentitySource: [$request.header.Authorization]
JwtConfiguration:
  Issuer: {ISSUER}
  Audience: [{AUDIENCE}]"
    )
}

const CONNECT_AUTHORIZER: &str = "ApiId: !Ref WebSocketApi
Name: tokens
AuthorizerType: REQUEST
IdentitySource: [route.request.querystring.token]
AuthorizerUri: !Sub arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${LiveAuthorizerFunction.Arn}/invocations";

/// Routes of the WebSocket API that are not as they must be: who connects shows
/// a token, and what comes later belongs to that connection. Routes of other
/// APIs than the two.
#[must_use]
pub fn live_routes(template: &Template) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut faults = Vec::new();
    for route in template.resources("AWS::ApiGatewayV2::Route") {
        let key = route.properties["RouteKey"].as_str().unwrap_or_default();
        match referenced(&route.properties["ApiId"]) {
            Some(HTTP_API) => {} // `routes` compares them with the contract
            Some(LIVE_API) => {
                found.insert(key);
                if !is_written(route.properties, &live_route(key)) {
                    faults.push(format!("`{key}` of the WebSocket API is not as it must be"));
                }
            }
            _ => faults.push(format!("{} is a route of neither API", route.id)),
        }
    }
    let wanted = BTreeSet::from(["$connect", "$disconnect", "$default"]);
    if found != wanted {
        faults.push(format!("the WebSocket API has the routes {found:?}"));
    }
    faults
}

fn live_route(key: &str) -> String {
    let route = format!(
        "ApiId: !Ref WebSocketApi
RouteKey: {key}
Target: !Sub integrations/${{LiveConnectionIntegration}}"
    );
    match key {
        "$connect" => {
            format!("{route}\nAuthorizationType: CUSTOM\nAuthorizerId: !Ref ConnectAuthorizer")
        }
        _ => route,
    }
}

/// Variables on which it depends who is who.
pub(super) const IDENTITY: [(&str, &str); 3] =
    [("TOKEN_ISSUER", ISSUER), ("TOKEN_AUDIENCE", AUDIENCE), ("GROUPS_CLAIM", "!Ref GroupsClaim")];
