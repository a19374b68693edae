//! The one place that reads the clock. Everything further in is told the time.

use jiff::Timestamp;

/// This instant, to the millisecond as the stores keep it: what is told at once
/// and what is read back later are the same.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the edge, where time comes in")]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
