//! Random sequences of all that happens to units, beside a model of a few lines.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::till::*;

#[test]
fn placeholder() {
    let mut runner = TestRunner::new(Config::with_cases(1));
    runner.run(&any::<u8>(), |_| Ok(())).unwrap();
    let _ = EPOCH;
}
