//! What the template is made of: whatever could open another way in, or give
//! rights elsewhere, is a kind of thing that it doesn't have.

use crate::template::Template;

/// The kinds of resources that there are. A new one is added here together with
/// the rule that looks at what it opens.
const KINDS: [&str; 36] = [
    "AWS::ApiGatewayV2::Api",
    "AWS::ApiGatewayV2::Authorizer",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::ApiGatewayV2::Stage",
    "AWS::CloudFront::CachePolicy",
    "AWS::CloudFront::Distribution",
    "AWS::CloudFront::OriginRequestPolicy",
    "AWS::CloudWatch::Alarm",
    "AWS::Cognito::UserPool",
    "AWS::Cognito::UserPoolClient",
    "AWS::Cognito::UserPoolGroup",
    "AWS::DynamoDB::Table",
    "AWS::EC2::EgressOnlyInternetGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::VPCEndpoint",
    "AWS::ElastiCache::ReplicationGroup",
    "AWS::ElastiCache::ServerlessCache",
    "AWS::ElastiCache::SubnetGroup",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Permission",
    "AWS::Logs::LogGroup",
    "AWS::Logs::MetricFilter",
    "AWS::OpenSearchService::Domain",
    "AWS::SNS::Topic",
    "AWS::SQS::Queue",
    "AWS::SSM::Parameter",
    "AWS::SecretsManager::Secret",
    "AWS::Serverless::Function",
    "AWS::WAFv2::WebACL",
];

/// What is said of a function. Not among them: its own URL, events that make
/// APIs, a role that is written elsewhere.
const OF_A_FUNCTION: [&str; 7] = [
    "Description",
    "Environment",
    "LoggingConfig",
    "Policies",
    "ReservedConcurrentExecutions",
    "Timeout",
    "VpcConfig",
];
const OF_ALL_FUNCTIONS: [&str; 7] =
    ["Architectures", "CodeUri", "Environment", "Handler", "MemorySize", "Runtime", "Timeout"];

/// Things in the template that no rule knows.
#[must_use]
pub fn unknown_kinds(template: &Template) -> Vec<String> {
    template
        .kinds()
        .filter(|(_, kind)| !KINDS.contains(kind))
        .map(|(id, kind)| format!("no rule knows {id}, of the kind {kind}"))
        .collect()
}

/// What is said of functions and no rule knows.
#[must_use]
pub fn unknown_properties(template: &Template) -> Vec<String> {
    let own = template.functions().flat_map(|function| {
        let of_it = function.properties().map(|(name, _)| name);
        of_it
            .filter(|name| !OF_A_FUNCTION.contains(name))
            .map(move |name| format!("no rule knows {name} of {}", function.id()))
    });
    let of_all = template.function_globals().map(|(name, _)| name);
    let of_all = of_all
        .filter(|name| !OF_ALL_FUNCTIONS.contains(name))
        .map(|name| format!("no rule knows {name} of all functions"));
    own.chain(of_all).collect()
}
