//! The documents of the public interface say what the code has, and no more.
#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use contracts::catalog::EventEdit;
use contracts::problem::Reason;
use contracts::routes::ROUTES;
use yaml_serde::Value;

fn read(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    fs::read_to_string(path).unwrap()
}

fn differences<T: Ord + Clone>(left: &BTreeSet<T>, right: &BTreeSet<T>) -> Vec<T> {
    left.symmetric_difference(right).cloned().collect()
}

/// The operations that the document describes, like `GET /orders`.
fn described_operations(openapi: &str) -> BTreeSet<String> {
    let document: Value = yaml_serde::from_str(openapi).unwrap();
    let paths = document.get("paths").and_then(Value::as_mapping).unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        let path = path.as_str().unwrap();
        let fields = item.as_mapping().unwrap().keys().filter_map(Value::as_str);
        fields
            .filter(|field| *field != "parameters")
            .map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    operations.collect()
}

/// The rows of the tables that begin with a reason and its status.
fn described_reasons(problems: &str) -> Vec<(String, u16)> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let reason = cells.next()?.trim().strip_suffix('`')?.to_owned();
        Some((reason, cells.next()?.trim().parse().ok()?))
    };
    problems.lines().filter_map(row).collect()
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let routes = ROUTES.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
    let described = described_operations(&read("api/openapi.yaml"));
    assert_eq!(differences(&routes, &described), Vec::<String>::new());
}

#[test]
fn every_reason_is_described_once_with_its_status() {
    let rows = described_reasons(&read("problems.md"));
    let described: BTreeSet<_> = rows.iter().cloned().collect();
    assert_eq!(described.len(), rows.len(), "a reason stands twice");
    let reasons =
        Reason::ALL.iter().map(|reason| (reason.as_str().to_owned(), reason.status())).collect();
    assert_eq!(differences(&reasons, &described), Vec::<(String, u16)>::new());
}

#[test]
fn the_instants_of_an_event_are_described_with_their_bounds() {
    let document: Value = yaml_serde::from_str(&read("api/openapi.yaml")).unwrap();
    let schema = |name: &str| &document["components"]["schemas"][name];
    let described = schema("EventTime")["description"].as_str().unwrap();
    for bound in [EventEdit::INSTANTS.start(), EventEdit::INSTANTS.end()] {
        assert!(described.contains(&bound.to_string()), "{bound}: {described}");
    }
    let edit = &schema("EventEdit")["properties"];
    let sale = &edit["sale"]["properties"];
    for field in [&edit["starts_at"], &sale["opens_at"], &sale["closes_at"]] {
        assert_eq!(field["$ref"].as_str(), Some("#/components/schemas/EventTime"));
    }
}

#[test]
fn what_is_missing_or_too_much_is_noticed() {
    let openapi = "paths:\n  /orders:\n    parameters: []\n    get: {}\n    post: {}\n";
    let described = described_operations(openapi);
    assert_eq!(described, ["GET /orders", "POST /orders"].map(str::to_owned).into());
    let problems = "| reason | status |\n|---|---|\n| `gone` | 410 | It is. |\nand `gone` | 1\n";
    assert_eq!(described_reasons(problems), [("gone".to_owned(), 410)]);
}
