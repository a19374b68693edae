//! A policy is written so that the rule on permissions sees all that it allows.

use std::collections::BTreeSet;

use yaml_serde::Value;

use crate::template::{Template, entries, is, is_written, list};

const PARTS: [&str; 3] = ["Effect", "Action", "Resource"];
/// What a statement may say besides: that it is about some partitions alone.
const PARTITIONS: &str = "Condition";

/// Statements that allow something in another way than by naming actions and
/// the resources that they may be done to.
#[must_use]
pub fn statements(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for function in template.functions() {
        for statement in function.statements().into_iter().flatten() {
            let said = said_otherwise(template, statement.written());
            faults.extend(said.map(|said| format!("a statement of {} {said}", function.id())));
        }
    }
    faults
}

fn said_otherwise(template: &Template, statement: &Value) -> Option<&'static str> {
    let parts: BTreeSet<&str> = entries(statement).map(|(name, _)| name).collect();
    let about_partitions = is_about_partitions(&statement[PARTITIONS]);
    let known = PARTS.into_iter().chain(about_partitions.then_some(PARTITIONS));
    if parts != known.collect() {
        return Some("says other things than what may be done to what");
    }
    if statement["Effect"].as_str() != Some("Allow") {
        return Some("doesn't allow");
    }
    let mut actions = list(&statement["Action"]).peekable();
    if actions.peek().is_none() || !actions.all(is_one_action) {
        return Some("doesn't name its actions");
    }
    let mut resources = list(&statement["Resource"]).peekable();
    if resources.peek().is_none() || !resources.all(|resource| is_one_thing(template, resource)) {
        return Some("doesn't name its resource");
    }
    None
}

fn is_about_partitions(condition: &Value) -> bool {
    let keys = &condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
    let Some(partition) = keys.as_str() else { return false };
    let yaml = format!(r#"{{"ForAllValues:StringLike": {{dynamodb:LeadingKeys: "{partition}"}}}}"#);
    is_written(condition, &yaml)
}

/// `dynamodb:GetItem`, without `*` and `?`.
fn is_one_action(action: &Value) -> bool {
    let Value::String(text) = action else { return false };
    let letters = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic());
    text.split_once(':')
        .is_some_and(|(service, action)| letters(action) && service.split('-').all(letters))
}

/// A resource of this template, or an address below one: what exactly, the rule
/// on permissions compares.
fn is_one_thing(template: &Template, resource: &Value) -> bool {
    let Some(text) = resource.as_str() else { return false };
    let is_ours = |name: &str| {
        let id = name.split('.').next().unwrap_or_default();
        template.kinds().any(|(known, _)| known == id)
    };
    if is(resource, "Ref") || is(resource, "GetAtt") {
        return is_ours(text);
    }
    is(resource, "Sub")
        && text.starts_with("arn:${AWS::Partition}:")
        && text.split("${").skip(1).filter_map(|rest| rest.split('}').next()).any(is_ours)
}
