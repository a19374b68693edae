//! How long to wait before trying again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Tries of one transaction within one invocation.
pub const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_RETURN_SECONDS: u32 = 30;

/// The pause before a further try in place: 50 to 100 ms, then twice that. Two
/// transactions that met once must not meet again.
#[must_use]
pub fn pause(tries_so_far: u32, random: u64) -> Duration {
    let shortest = FIRST_PAUSE * 2_u32.saturating_pow(tries_so_far.saturating_sub(1).min(10));
    let spread = u64::try_from(shortest.as_millis()).unwrap_or(u64::MAX).max(1);
    shortest + Duration::from_millis(random % spread)
}

/// After how many seconds a message that failed comes back: 1, 2, 4, … up to 30.
#[must_use]
pub fn return_seconds(receive_count: u32) -> u32 {
    2_u32.saturating_pow(receive_count.saturating_sub(1)).min(LONGEST_RETURN_SECONDS)
}

/// A random number: the standard library seeds each hasher's state with one.
#[must_use]
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_grows_and_is_spread() {
        assert_eq!(pause(1, 0), Duration::from_millis(50));
        assert_eq!(pause(1, 49), Duration::from_millis(99));
        assert_eq!(pause(2, 0), Duration::from_millis(100));
        assert_eq!(pause(2, 199), Duration::from_millis(199));
        assert!(pause(u32::MAX, u64::MAX) < Duration::from_secs(120));
    }

    #[test]
    fn a_message_comes_back_sooner_than_its_queue_would_have_it() {
        assert_eq!([1, 2, 3, 5, 6, 1_000].map(return_seconds), [1, 2, 4, 16, 30, 30]);
        assert_eq!(return_seconds(0), 1);
    }

    #[test]
    fn two_random_numbers_differ() {
        assert_ne!((random(), random()), (random(), random()));
    }
}
