//! Tables keep what they have, and tell of its changes.

use crate::template::{Resource, Template};

/// Who is watching right now: worth nothing after a restore, and nobody needs
/// to hear of it.
const PASSING: &str = "ConnectionsTable";

/// Tables that can't be set back to an earlier minute, and lasting ones that
/// go with the stack or don't stream both images.
#[must_use]
pub fn tables(template: &Template) -> Vec<String> {
    template
        .resources("AWS::DynamoDB::Table")
        .flat_map(|table| lacks(&table).into_iter().map(move |what| format!("{} {what}", table.id)))
        .collect()
}

fn lacks(table: &Resource<'_>) -> Vec<&'static str> {
    let mut faults = Vec::new();
    let recovery = &table.properties["PointInTimeRecoverySpecification"];
    if recovery["PointInTimeRecoveryEnabled"].as_bool() != Some(true) {
        faults.push("has no point-in-time recovery");
    }
    if table.properties["SSESpecification"]["SSEEnabled"].as_bool() != Some(true) {
        faults.push("is not encrypted by a key of the account");
    }
    if table.id == PASSING {
        return faults;
    }
    let images = table.properties["StreamSpecification"]["StreamViewType"].as_str();
    if images != Some("NEW_AND_OLD_IMAGES") {
        faults.push("doesn't stream both images");
    }
    if table.deletion_policy != Some("Retain") {
        faults.push("goes with the stack");
    }
    faults
}
