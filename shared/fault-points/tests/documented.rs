//! The map says what is left behind at each point, and who repairs it.

use std::fs;
use std::path::Path;

use fault_points::ALL;

/// The points that rows of the table begin with. Each row says three things more.
fn described(map: &str) -> Vec<String> {
    let table = map.split("## Where a failure ends").nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').map(str::trim).collect();
        let [point, left, by, when, ""] = cells.as_slice() else { return None };
        let is_told = ![left, by, when].iter().any(|cell| cell.is_empty());
        is_told.then(|| point.trim_end_matches('`').to_owned())
    };
    table.lines().filter_map(row).collect()
}

#[test]
fn the_map_says_of_every_point_who_repairs_what_is_left_behind() {
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let mut described = described(&fs::read_to_string(map).unwrap());
    let mut points: Vec<&str> = ALL.iter().map(|point| point.name()).collect();
    described.sort();
    points.sort_unstable();
    assert_eq!(described, points);
}

#[test]
fn a_row_without_an_answer_is_none() {
    let map = "## Where a failure ends\n| `a/b` | x | y | z |\n| `c/d` | x | | z |\n## On\n| `e/f` | x | y | z |\n";
    assert_eq!(described(map), ["a/b"]);
}
