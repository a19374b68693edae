//! What was a moment ago, by clocks that differ and are set back.

use jiff::{SignedDuration, Timestamp};

/// Whether an instant is less than this away from now.
///
/// An instant in the future was noted by a clock that is ahead, or before ours was
/// set back. A little of that is nothing; one further ahead than what it stands for
/// lasts tells no age, and must not count until the clock has caught up with it.
#[must_use]
pub fn is_recent(at: Timestamp, now: Timestamp, within: SignedDuration) -> bool {
    now.duration_since(at).abs() < within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_recent_whichever_clock_is_ahead() {
        let now = Timestamp::from_second(1_000).unwrap();
        let recent = |milliseconds| {
            let at = now + SignedDuration::from_millis(milliseconds);
            is_recent(at, now, SignedDuration::from_secs(2))
        };
        assert!(recent(0) && recent(-1_999) && recent(1_999));
        assert!(!recent(-2_000) && !recent(2_000) && !recent(300_000));
    }
}
