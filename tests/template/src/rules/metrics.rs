//! What a function logs as a sign of trouble is counted, by a metric that has an
//! alarm, and explained to whoever is woken.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;
use crate::template::{Resource, Template, referenced};

/// Its message lies among the dead letters, which have an alarm of their own.
const SEEN_OTHERWISE: [&str; 2] = ["intent_buried", "letter_parked"];
/// What stands above the signs in the docs.
const HEADING: &str = "| `metric` |";

/// Signs that a function logs and no filter counts, and the other way round.
#[must_use]
pub fn counted(template: &Template, code: &[Code]) -> Vec<String> {
    let mut faults = Vec::new();
    for function in template.functions() {
        let code = code.iter().find(|code| code.name == function.crate_name());
        let logged: BTreeSet<&str> = code.into_iter().flat_map(Code::metrics).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let filters = filters(template).filter(|filter| {
            referenced(&filter.properties["LogGroupName"]) == function.log_group()
        });
        for name in filters.flat_map(names) {
            *counts.entry(name).or_default() += 1;
        }
        for name in logged.iter().filter(|name| !SEEN_OTHERWISE.contains(name)) {
            match counts.get(name) {
                None => faults.push(format!("nothing counts {name} of {}", function.id())),
                Some(1) => {}
                Some(_) => faults.push(format!("{name} of {} counts twice", function.id())),
            }
        }
        let unlogged = counts.keys().filter(|name| !logged.contains(*name));
        faults.extend(unlogged.map(|name| format!("{} doesn't log {name}", function.id())));
    }
    faults
}

/// Filters whose count no alarm looks at.
#[must_use]
pub fn watched(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for filter in filters(template) {
        let counts = filter.properties["MetricTransformations"].as_sequence();
        for count in counts.into_iter().flatten() {
            let is_watched = template.resources("AWS::CloudWatch::Alarm").any(|alarm| {
                alarm.properties["MetricName"] == count["MetricName"]
                    && alarm.properties["Namespace"] == count["MetricNamespace"]
            });
            if !is_watched {
                faults.push(format!("no alarm watches {}", filter.id));
            }
        }
    }
    faults
}

/// Signs that the docs don't explain, and explanations of what nothing logs.
#[must_use]
pub fn explained(code: &[Code], docs: &str) -> Vec<String> {
    let logged: BTreeSet<&str> = code.iter().flat_map(Code::metrics).collect();
    let table = docs.lines().skip_while(|line| !line.starts_with(HEADING)).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let explained: BTreeSet<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    let missing = logged.difference(&explained).map(|name| format!("the docs lack {name}"));
    let surplus = explained.difference(&logged).map(|name| format!("nothing logs {name}"));
    missing.chain(surplus).collect()
}

fn filters(template: &Template) -> impl Iterator<Item = Resource<'_>> {
    template.resources("AWS::Logs::MetricFilter")
}

/// The signs that a filter counts. A pattern of another form counts nothing.
fn names(filter: Resource<'_>) -> impl Iterator<Item = &str> {
    let pattern = filter.properties["FilterPattern"].as_str();
    let inner = pattern.and_then(|text| text.strip_prefix("{ ")?.strip_suffix(" }"));
    inner
        .into_iter()
        .flat_map(|terms| terms.split(" || "))
        .filter_map(|term| term.strip_prefix("($.metric = \"")?.strip_suffix("\")"))
}
