//! The client's clock.

use jiff::{SignedDuration, Timestamp};

/// So many seconds from now; negative: ago.
#[must_use]
pub fn seconds_from_now(seconds: i64) -> Timestamp {
    let now = std::time::SystemTime::now();
    // Both only fail outside the years that a timestamp can say.
    Timestamp::try_from(now)
        .and_then(|now| now.checked_add(SignedDuration::from_secs(seconds)))
        .unwrap_or_default()
}
