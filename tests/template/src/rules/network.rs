//! Nothing comes into the network, and Valkey is met as it runs there.

use yaml_serde::Value;

use crate::template::{Template, entries, list, referenced};

/// Whose traffic Valkey takes.
const FUNCTIONS: &str = "FunctionSecurityGroup";
const PARTS: [&str; 5] =
    ["Description", "FromPort", "IpProtocol", "SourceSecurityGroupId", "ToPort"];

/// Security groups that take more than the functions' traffic, or let
/// everything out.
#[must_use]
pub fn security_groups(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for group in template.resources("AWS::EC2::SecurityGroup") {
        let takes = list(&group.properties["SecurityGroupIngress"]);
        if takes.into_iter().any(|ingress| !is_from_functions(ingress)) {
            faults.push(format!("{} takes more than the functions' traffic", group.id));
        }
        let gives = list(&group.properties["SecurityGroupEgress"]).collect::<Vec<_>>();
        if group.id == FUNCTIONS && (gives.is_empty() || !gives.iter().all(|rule| is_narrow(rule)))
        {
            faults.push(format!("{} lets everything out", group.id));
        }
    }
    faults
}

/// Caches that talk or keep in the clear.
#[must_use]
pub fn caches(template: &Template) -> Vec<String> {
    // The serverless one can't.
    template
        .resources("AWS::ElastiCache::ReplicationGroup")
        .flat_map(|cache| {
            ["AtRestEncryptionEnabled", "TransitEncryptionEnabled"]
                .into_iter()
                .filter(move |name| cache.properties[*name].as_bool() != Some(true))
                .map(move |name| format!("{} lacks {name}", cache.id))
        })
        .collect()
}

fn is_from_functions(ingress: &Value) -> bool {
    let mut parts = entries(ingress).map(|(name, _)| name).peekable();
    parts.peek().is_some()
        && parts.all(|name| PARTS.contains(&name))
        && referenced(&ingress["SourceSecurityGroupId"]) == Some(FUNCTIONS)
        && is_narrow(ingress)
}

fn is_narrow(rule: &Value) -> bool {
    let ports = rule["FromPort"].as_u64().zip(rule["ToPort"].as_u64());
    rule["IpProtocol"].as_str() == Some("tcp") && ports.is_some_and(|(from, to)| from + 1 >= to)
}
