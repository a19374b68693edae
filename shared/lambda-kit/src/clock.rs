//! The one place that reads the clock. Everything further in is told the time.

use jiff::Timestamp;

/// This instant.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the edge, where time comes in")]
pub fn now() -> Timestamp {
    Timestamp::now()
}
