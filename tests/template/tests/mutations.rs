//! What somebody might write into the template by mistake, each with the rule
//! that must notice: so that no rule goes soft.
#![cfg(test)]

use std::fs;
use std::path::Path;

use contracts::routes::{Access, gateway_routes};
use template_test::rules::{
    access, edge, inventory, network, routes, statements, tables, variables,
};
use template_test::template::Template;

type Rule = fn(&Template) -> Vec<String>;

/// Rules that look at the template alone.
const RULES: [Rule; 12] = [
    access::authorizers,
    access::callers,
    access::live_routes,
    edge::behaviours,
    inventory::unknown_kinds,
    inventory::unknown_properties,
    network::caches,
    network::security_groups,
    routes::routes,
    statements::statements,
    tables::tables,
    variables::values,
];

/// A change of one resource.
struct Mutation {
    name: &'static str,
    /// The resource (or the section) it begins with.
    within: &'static str,
    from: &'static str,
    to: &'static str,
    fault: &'static str,
}

const POLICY: &str = "        - Statement:\n";
const DOES_MORE: &str = "a statement of CatalogFunction says other things";
const NAMES_NO_ACTION: &str = "a statement of CatalogFunction doesn't name its actions";
const NAMES_NO_RESOURCE: &str = "a statement of CatalogFunction doesn't name its resource";

/// A statement more for a function.
const fn statement(name: &'static str, statement: &'static str, fault: &'static str) -> Mutation {
    Mutation { name, within: "CatalogFunction", from: POLICY, to: statement, fault }
}

const fn mutation(
    name: &'static str,
    within: &'static str,
    [from, to]: [&'static str; 2],
    fault: &'static str,
) -> Mutation {
    Mutation { name, within, from, to, fault }
}

const STATEMENTS: [Mutation; 15] = [
    statement(
        "all actions but one",
        "{Effect: Allow, NotAction: s3:GetObject, Resource: \"*\"}",
        DOES_MORE,
    ),
    statement(
        "all resources but one",
        "{Effect: Allow, Action: s3:GetObject, NotResource: !GetAtt OrdersTable.Arn}",
        DOES_MORE,
    ),
    statement(
        "somebody else",
        "{Effect: Allow, Action: s3:GetObject, Resource: !GetAtt OrdersTable.Arn, Principal: \"*\"}",
        DOES_MORE,
    ),
    statement(
        "a condition",
        "{Effect: Allow, Action: s3:GetObject, Resource: !GetAtt OrdersTable.Arn, Condition: {}}",
        DOES_MORE,
    ),
    statement(
        "a list of partitions",
        "{Effect: Allow, Action: dynamodb:GetItem, Resource: !GetAtt CatalogTable.Arn, Condition: {\"ForAllValues:StringLike\": {\"dynamodb:LeadingKeys\": [keys, \"*\"]}}}",
        DOES_MORE,
    ),
    statement("no resource at all", "{Effect: Allow, Action: s3:GetObject}", DOES_MORE),
    statement("a choice", "!If [OnAws, {Effect: Allow}, {Effect: Allow}]", DOES_MORE),
    statement(
        "a denial",
        "{Effect: Deny, Action: s3:GetObject, Resource: !GetAtt OrdersTable.Arn}",
        "a statement of CatalogFunction doesn't allow",
    ),
    statement(
        "any action",
        "{Effect: Allow, Action: \"*\", Resource: !GetAtt OrdersTable.Arn}",
        NAMES_NO_ACTION,
    ),
    statement(
        "any reading",
        "{Effect: Allow, Action: [\"dynamodb:Get*\"], Resource: !GetAtt OrdersTable.Arn}",
        NAMES_NO_ACTION,
    ),
    statement(
        "an action by choice",
        "{Effect: Allow, Action: [!If [OnAws, \"*\", \"*\"]], Resource: !GetAtt OrdersTable.Arn}",
        NAMES_NO_ACTION,
    ),
    statement(
        "no action",
        "{Effect: Allow, Action: [], Resource: !GetAtt OrdersTable.Arn}",
        NAMES_NO_ACTION,
    ),
    statement(
        "any resource",
        "{Effect: Allow, Action: dynamodb:Scan, Resource: \"*\"}",
        NAMES_NO_RESOURCE,
    ),
    statement(
        "any table",
        "{Effect: Allow, Action: dynamodb:Scan, Resource: !Sub \"arn:${AWS::Partition}:dynamodb:*:*:table/*\"}",
        NAMES_NO_RESOURCE,
    ),
    statement(
        "a resource by parameter",
        "{Effect: Allow, Action: dynamodb:Scan, Resource: [!GetAtt OrdersTable.Arn, !Ref LogLevel]}",
        NAMES_NO_RESOURCE,
    ),
];

const OPENINGS: [Mutation; 37] = [
    mutation(
        "anybody connects",
        "ConnectRoute",
        [
            "AuthorizationType: CUSTOM, AuthorizerId: !Ref ConnectAuthorizer",
            "AuthorizationType: NONE",
        ],
        "`$connect` of the WebSocket API is not as it must be",
    ),
    mutation(
        "a frame goes elsewhere",
        "FrameRoute",
        ["LiveConnectionIntegration", "CatalogIntegration"],
        "`$default` of the WebSocket API is not as it must be",
    ),
    mutation(
        "another frame",
        "DisconnectRoute",
        ["$disconnect", "refund"],
        "the WebSocket API has the routes",
    ),
    mutation(
        "a route of a third API",
        "OrdersGetRoute",
        ["ApiId: !Ref HttpApi", "ApiId: !Ref LogLevel"],
        "OrdersGetRoute is a route of neither API",
    ),
    mutation(
        "another function decides who connects",
        "ConnectAuthorizer",
        ["LiveAuthorizerFunction", "CatalogFunction"],
        "ConnectAuthorizer is not the authorizer that it must be",
    ),
    mutation(
        "tokens for anybody",
        "TokenAuthorizer",
        [
            "Audience: [!If [OwnUserPool, !Ref UserPoolClient, !Ref TokenAudience]]",
            "Audience: [\"*\"]",
        ],
        "TokenAuthorizer is not the authorizer that it must be",
    ),
    mutation(
        "tokens for one more",
        "TokenAuthorizer",
        ["!Ref TokenAudience]]", "!Ref TokenAudience], other]"],
        "TokenAuthorizer is not the authorizer that it must be",
    ),
    mutation(
        "tokens of another issuer",
        "TokenAuthorizer",
        ["!Ref TokenIssuer]", "https://issuer.test]"],
        "TokenAuthorizer is not the authorizer that it must be",
    ),
    mutation(
        "connections for anybody's tokens",
        "LiveAuthorizerFunction",
        ["!Ref UserPoolClient", "\"*\""],
        "TOKEN_AUDIENCE of LiveAuthorizerFunction is not",
    ),
    mutation(
        "operators by a claim that anybody can set",
        "CatalogFunction",
        ["!Ref GroupsClaim", "nickname"],
        "GROUPS_CLAIM of CatalogFunction is not !Ref GroupsClaim",
    ),
    mutation(
        "a function's own URL",
        "OrdersFunction",
        ["      Description", "      FunctionUrlConfig: {AuthType: NONE}\n      Description"],
        "no rule knows FunctionUrlConfig of OrdersFunction",
    ),
    mutation(
        "a URL of each function",
        "Globals",
        ["    MemorySize", "    FunctionUrlConfig: {AuthType: NONE}\n    MemorySize"],
        "no rule knows FunctionUrlConfig of all functions",
    ),
    mutation(
        "a role that is written elsewhere",
        "OrdersFunction",
        [
            "      Description",
            "      Role: arn:aws:iam::123456789012:role/admin\n      Description",
        ],
        "no rule knows Role of OrdersFunction",
    ),
    mutation(
        "an API that SAM makes",
        "OrdersFunction",
        ["      Description", "      Events: {Any: {Type: HttpApi}}\n      Description"],
        "no rule knows Events of OrdersFunction",
    ),
    mutation(
        "a policy beside the functions",
        "AlarmTopic",
        ["AWS::SNS::Topic", "AWS::IAM::Policy"],
        "no rule knows AlarmTopic, of the kind AWS::IAM::Policy",
    ),
    mutation(
        "anybody calls",
        "OrdersPermission",
        ["Principal: apigateway.amazonaws.com", "Principal: \"*\""],
        "OrdersPermission is not for one of the APIs alone",
    ),
    mutation(
        "another account's API calls",
        "OrdersPermission",
        ["${AWS::AccountId}:${HttpApi}/*", "*:*/*"],
        "OrdersPermission is not for one of the APIs alone",
    ),
    mutation(
        "any API calls",
        "OrdersPermission",
        ["      SourceArn", "      # SourceArn"],
        "OrdersPermission is not for one of the APIs alone",
    ),
    mutation(
        "the CDN keeps a fan's order",
        "Edge",
        ["/events/*/orders*", "/events/*/orders"],
        "wrong about keeping `GET /events/{event}/orders/{order}`",
    ),
    mutation(
        "the CDN keeps a fan's place",
        "Edge",
        ["/events/*/queue/places*", "/events/*/queue/places"],
        "wrong about keeping `GET /events/{event}/queue/places/mine`",
    ),
    mutation(
        "the CDN keeps a fan's orders",
        "Edge",
        ["PathPattern: /.well-known/*", "PathPattern: /*"],
        "wrong about keeping `GET /orders`",
    ),
    mutation(
        "the CDN keeps nothing of an event",
        "Edge",
        ["PathPattern: /events/*\n", "PathPattern: /event/*\n"],
        "wrong about keeping `GET /events/{event}/seats`",
    ),
    mutation(
        "a policy of the CDN that nobody looks at",
        "Edge",
        ["4135ea2d-6df8-44a3-9df3-4b5a84be39ad", "658327ea-f89d-4fab-a63d-7e88639e58f6"],
        "the CDN's behaviour for /events/*/orders* is none",
    ),
    mutation(
        "requests in the clear",
        "DefaultCacheBehavior",
        ["ViewerProtocolPolicy: https-only", "ViewerProtocolPolicy: allow-all"],
        "the CDN's behaviour for the default is none",
    ),
    mutation(
        "a CDN without the secret",
        "Edge",
        ["X-Onsale-Edge", "X-Other"],
        "the CDN doesn't show the functions its secret",
    ),
    mutation(
        "a way around the CDN",
        "OrdersFunction",
        ["!Sub \"{{resolve:secretsmanager:${EdgeSecret}}}\"", "\"\""],
        "EDGE_SECRET of OrdersFunction is not",
    ),
    mutation(
        "no way back to yesterday",
        "OrdersTable",
        ["PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false"],
        "OrdersTable has no point-in-time recovery",
    ),
    mutation(
        "a table in the clear",
        "UnitsTable",
        ["SSEEnabled: true", "SSEEnabled: false"],
        "UnitsTable is not encrypted by a key of the account",
    ),
    mutation(
        "a stream of keys",
        "OrdersTable",
        ["NEW_AND_OLD_IMAGES", "KEYS_ONLY"],
        "OrdersTable doesn't stream both images",
    ),
    mutation(
        "no stream",
        "UnitsTable",
        ["      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}\n", ""],
        "UnitsTable doesn't stream both images",
    ),
    mutation(
        "orders that go with the stack",
        "OrdersTable",
        ["    DeletionPolicy: Retain", "    DeletionPolicy: Delete"],
        "OrdersTable goes with the stack",
    ),
    mutation(
        "orders that are forgotten",
        "OrdersTable",
        [
            "      SSESpecification:",
            "      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}\n      SSESpecification:",
        ],
        "OrdersTable forgets by itself",
    ),
    mutation(
        "connections for ever",
        "ConnectionsTable",
        ["{AttributeName: ttl, Enabled: true}", "{AttributeName: gone_at, Enabled: true}"],
        "ConnectionsTable keeps what closed connections leave behind",
    ),
    mutation(
        "one node on AWS",
        "ReservationFunction",
        ["!If [OnAws, cluster, single]", "single"],
        "REDIS_MODE of ReservationFunction is not !If [OnAws, cluster, single]",
    ),
    mutation(
        "everybody reaches Valkey",
        "CacheSecurityGroup",
        ["SourceSecurityGroupId: !Ref FunctionSecurityGroup", "CidrIp: 0.0.0.0/0"],
        "CacheSecurityGroup takes more than the functions' traffic",
    ),
    mutation(
        "everybody reaches the functions' network",
        "FunctionSecurityGroup",
        [
            "      SecurityGroupEgress:",
            "      SecurityGroupIngress: [{IpProtocol: \"-1\", CidrIpv6: \"::/0\"}]\n      SecurityGroupEgress:",
        ],
        "FunctionSecurityGroup takes more than the functions' traffic",
    ),
    mutation(
        "Valkey in the clear",
        "CacheNodes",
        ["TransitEncryptionEnabled: true", "TransitEncryptionEnabled: false"],
        "CacheNodes lacks TransitEncryptionEnabled",
    ),
];

fn text() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml");
    fs::read_to_string(path).unwrap()
}

fn faults(text: &str) -> Vec<String> {
    let template = Template::parse(text).unwrap();
    RULES.iter().flat_map(|rule| rule(&template)).collect()
}

/// The text with one change, behind the line where the resource begins.
fn mutated(name: &str, within: &str, from: &str, to: &str) -> String {
    let text = text();
    let start = ["", "  ", "        "].map(|indent| format!("\n{indent}{within}:"));
    let start = start.iter().find_map(|line| text.find(line));
    let (before, after) = text.split_at(start.unwrap_or_else(|| panic!("{name}: no {within}")));
    assert!(after.contains(from), "{name}: {within} has no {from}");
    format!("{before}{}", after.replacen(from, to, 1))
}

#[track_caller]
fn assert_noticed(name: &str, text: &str, fault: &str) {
    let faults = faults(text);
    assert!(faults.iter().any(|found| found.contains(fault)), "{name}: {faults:#?}");
}

#[test]
fn the_template_breaks_no_rule() {
    assert_eq!(faults(&text()), Vec::<String>::new());
}

#[test]
fn a_statement_that_allows_more_than_it_names_is_noticed() {
    for Mutation { name, within, from, to, fault } in STATEMENTS {
        let to = format!("{from}            - {to}\n");
        assert_noticed(name, &mutated(name, within, from, &to), fault);
    }
}

#[test]
fn whatever_opens_or_loses_something_is_noticed() {
    for Mutation { name, within, from, to, fault } in OPENINGS {
        assert_noticed(name, &mutated(name, within, from, to), fault);
    }
}

#[test]
fn no_route_that_wants_a_token_does_without_one() {
    for route in gateway_routes().filter(|route| route.access != Access::Public) {
        let key = format!("{} {}", route.method, route.path);
        let text = text();
        let line = text.lines().find(|line| line.contains(&format!("\"{key}\""))).unwrap();
        let token = "AuthorizationType: JWT, AuthorizerId: !Ref TokenAuthorizer";
        let others = [
            "AuthorizationType: NONE",
            "AuthorizationType: AWS_IAM",
            "AuthorizerId: !Ref TokenAuthorizer",
        ];
        for other in others {
            let open = line.replace(token, other);
            assert_ne!(open, line, "{key}");
            assert_noticed(
                &key,
                &text.replace(line, &open),
                &format!("only the template has `{key}`"),
            );
        }
    }
}
