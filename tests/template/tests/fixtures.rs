//! What `sam local invoke` is given lies beside each function, and the
//! function's own tests see that it is understood.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use contracts::routes::{HttpFunction, ROUTES};

fn functions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn a_test_of_the_function_reads_each_of_its_fixtures() {
    for function in fs::read_dir(functions()).unwrap() {
        let function = function.unwrap().path();
        let fixtures = files(&function.join("events"));
        assert!(!fixtures.is_empty(), "{function:?} has no fixture");
        let tests = files(&function.join("tests"));
        let tests: String = tests.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        for fixture in fixtures {
            let name = fixture.file_stem().unwrap().to_str().unwrap();
            let is_read = tests.contains(&format!("events/{name}.json"))
                || tests.contains(&format!("(\"{name}\", "));
            assert!(is_read, "no test reads {fixture:?}");
        }
    }
}

#[test]
fn every_route_has_a_fixture() {
    for route in ROUTES {
        let function = match route.function {
            HttpFunction::Catalog => "catalog",
            HttpFunction::QueueAdmission => "queue-admission",
            HttpFunction::Reservation => "reservation",
            HttpFunction::Orders => "orders",
        };
        let key = format!("\"routeKey\": \"{} {}\"", route.method, route.path);
        let fixtures = files(&functions().join(function).join("events"));
        let is_there = fixtures.iter().any(|file| fs::read_to_string(file).unwrap().contains(&key));
        assert!(is_there, "{function} has no fixture with {key}");
    }
}
