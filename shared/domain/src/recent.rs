//! What was a moment ago, by clocks that differ and are set back.

use jiff::{SignedDuration, Timestamp};

/// Whether what this process noted at an instant is younger than this.
///
/// A note from the future was made before the clock was set back: it tells no age.
#[must_use]
pub fn is_fresh(noted_at: Timestamp, now: Timestamp, life: SignedDuration) -> bool {
    (SignedDuration::ZERO..life).contains(&now.duration_since(noted_at))
}

/// Whether an instant that any process noted is less than this away from now.
///
/// One in the future was noted by a clock that is ahead. A little of that is nothing;
/// one further ahead than what it stands for lasts tells no age, and must not count until
/// our clock has caught up with it.
#[must_use]
pub fn is_recent(at: Timestamp, now: Timestamp, within: SignedDuration) -> bool {
    now.duration_since(at).abs() < within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_before_the_clock_was_set_back_is_not_fresh() {
        let now = Timestamp::from_second(1_000).unwrap();
        let fresh = |milliseconds| {
            let noted_at = now + SignedDuration::from_millis(milliseconds);
            is_fresh(noted_at, now, SignedDuration::from_secs(2))
        };
        assert!(fresh(0) && fresh(-1_999));
        assert!(!fresh(-2_000) && !fresh(1) && !fresh(300_000));
    }

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
