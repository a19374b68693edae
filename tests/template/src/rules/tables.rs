//! Tables keep what they have, and tell of its changes.

use yaml_serde::Value;

use crate::template::{Resource, Template, is_written};

/// Who is watching right now: worth nothing after a restore, and nobody needs
/// to hear of it.
const PASSING: &str = "ConnectionsTable";

/// How what it kept too long goes, by the attribute that the store writes.
const TIME_TO_LIVE: &str = "{AttributeName: ttl, Enabled: true}";

/// Tables that can't be set back to an earlier minute; lasting ones that go with
/// the stack, don't stream both images or forget by themselves; and a passing one
/// that forgets nothing.
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
    let time_to_live = &table.properties["TimeToLiveSpecification"];
    if table.id == PASSING {
        if !is_written(time_to_live, TIME_TO_LIVE) {
            faults.push("keeps what closed connections leave behind");
        }
        return faults;
    }
    if *time_to_live != Value::Null {
        faults.push("forgets by itself");
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
