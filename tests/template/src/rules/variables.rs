//! A function is given the variables it reads.

use std::collections::BTreeSet;

use lambda_kit::http::EDGE_SECRET;

use super::access::IDENTITY;
use super::edge;
use crate::code::Code;
use crate::template::{Template, is_written};

/// What the SDK reads by itself: the way to AWS from inside the VPC.
const DUAL_STACK: &str = "AWS_USE_DUALSTACK_ENDPOINT";
/// What `lambda_kit::start` reads in every function.
const LOG_LEVEL: &str = "RUST_LOG";

/// What means the same to every function that reads it.
const SHARED: [(&str, &str); 10] = [
    ("REDIS_URL", "!GetAtt RedisUrl.Value"),
    // Either cache of AWS is a cluster: a client that takes it for one node fails at the first MOVED.
    ("REDIS_MODE", "!If [OnAws, cluster, single]"),
    (EDGE_SECRET, edge::SECRET),
    ("CATALOG_TABLE", "!Ref CatalogTable"),
    ("ORDERS_TABLE", "!Ref OrdersTable"),
    ("UNITS_TABLE", "!Ref UnitsTable"),
    ("CONNECTIONS_TABLE", "!Ref ConnectionsTable"),
    ("HOLD_SECONDS", "!Ref HoldSeconds"),
    ("PERSISTENCE_TIMEOUT_SECONDS", "!Ref PersistenceTimeoutSeconds"),
    ("SIGNING_SECRET_ARN", "!Ref SigningSecret"),
];

/// Variables that don't say what they must.
#[must_use]
pub fn values(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    if !is_written(template.condition("OnAws"), "!Equals [!Ref Stage, aws]") {
        faults.push("OnAws doesn't mean that it is AWS".to_owned());
    }
    for function in template.functions() {
        for (name, expected) in SHARED.iter().chain(&IDENTITY) {
            if function.variable(name).is_some_and(|value| !is_written(value, expected)) {
                faults.push(format!("{name} of {} is not {expected}", function.id()));
            }
        }
    }
    faults
}

/// Variables that only the code or only the template knows, and functions that
/// only one of them has.
#[must_use]
pub fn variables(template: &Template, code: &[Code]) -> Vec<String> {
    let mut faults = Vec::new();
    for function in template.functions() {
        let name = function.crate_name();
        let Some(code) = code.iter().find(|code| code.name == name) else {
            faults.push(format!("{} has no crate {name}", function.id()));
            continue;
        };
        let given: BTreeSet<&str> =
            function.variables().into_iter().filter(|name| *name != DUAL_STACK).collect();
        let by_the_kit = [LOG_LEVEL].into_iter().chain(code.answers_http().then_some(EDGE_SECRET));
        let read: BTreeSet<&str> = code.variables.iter().copied().chain(by_the_kit).collect();
        let missing = read.difference(&given).map(|v| format!("{} lacks {v}", function.id()));
        let unread = given.difference(&read).map(|v| format!("{name} doesn't read {v}"));
        faults.extend(missing.chain(unread));
    }
    for code in code {
        if !template.functions().any(|function| function.crate_name() == code.name) {
            faults.push(format!("{} is not in the template", code.name));
        }
    }
    faults
}

/// Functions in the VPC, which has no way out over IPv4, that would look for
/// AWS there; and functions outside it that wouldn't.
#[must_use]
pub fn dual_stack(template: &Template) -> Vec<String> {
    template
        .functions()
        .filter(|f| f.is_in_vpc() != f.variables().contains(&DUAL_STACK))
        .map(|f| format!("{} is in the VPC or has {DUAL_STACK}, not both", f.id()))
        .collect()
}
