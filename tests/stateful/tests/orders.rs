//! Whatever happens to orders, and in whatever order: the product does what the
//! model does.
//!
//! A case that failed is kept in `proptest-regressions`, and tried first from then
//! on. `PROPTEST_CASES` says how many are tried.

#![cfg(test)]

use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner};
use stateful::{case, run};

const CASES: u32 = 50;
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/orders.txt");

#[test]
fn the_product_does_what_the_model_does_whatever_happens() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut config = Config {
        // A case is kept once it is shrunk: before the test is ended for its slowness.
        max_shrink_time: 100_000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(KEPT))),
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    let outcome = TestRunner::new(config).run(&case(), |case| {
        runtime.block_on(run(&case));
        Ok::<(), TestCaseError>(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
