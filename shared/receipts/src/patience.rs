//! How long and how often a claim is tried.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// What a try takes at most when all goes well. None is begun with less time
/// left: cutting it off would make an unknown outcome of a known one.
const ONE_TRY: Duration = Duration::from_secs(1);

/// How much a claim may take of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// So many tries at most, while others are in the way or no answer comes.
    pub tries: u32,
    /// The claim ends within this time, whatever the table does: the time that
    /// the function has left, less what it needs for its own answer.
    pub time_left: Duration,
}

impl Patience {
    /// Three tries within this time.
    #[must_use]
    pub fn of(time_left: Duration) -> Self {
        Self { tries: 3, time_left }
    }

    /// Begins with the first try.
    #[must_use]
    pub fn begin(self) -> Tries {
        Tries { patience: self, begun: Instant::now(), made: 1 }
    }

    /// How long to wait before one more try; none: that was the last. A pause that is
    /// too long is cut to what there is room for: the last try is made at the end.
    fn pause(self, tries: u32, elapsed: Duration, random: u64) -> Option<Duration> {
        let room = self.time_left.checked_sub(elapsed + ONE_TRY)?;
        let goes_on = tries < self.tries && room >= FIRST_PAUSE;
        goes_on.then(|| pause(tries, random).min(room))
    }
}

/// The tries of one thing, for who repeats it as a claim is repeated.
#[derive(Debug)]
pub struct Tries {
    patience: Patience,
    begun: Instant,
    made: u32,
}

impl Tries {
    /// Waits before one more try; false: that was the last.
    pub async fn another(&mut self) -> bool {
        let Some(pause) = self.patience.pause(self.made, self.begun.elapsed(), random()) else {
            return false;
        };
        self.made += 1;
        sleep(pause).await;
        true
    }
}

/// 50 to 100 ms after the first try, then twice that, and so on: two transactions
/// that met once are not to meet again (until both are at their last try).
fn pause(tries: u32, random: u64) -> Duration {
    let shortest = FIRST_PAUSE * 2_u32.pow(tries.saturating_sub(1).min(10));
    let spread = u64::try_from(shortest.as_millis()).unwrap_or(u64::MAX);
    shortest + Duration::from_millis(random % spread)
}

/// A random number: the standard library seeds each hasher's state with one.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_pause_grows_and_is_spread() {
        assert_eq!([pause(1, 0), pause(1, 49), pause(1, 50)], [ms(50), ms(99), ms(50)]);
        assert_eq!([pause(2, 0), pause(2, 199)], [ms(100), ms(199)]);
        assert_eq!(pause(3, 0), ms(200));
        assert_eq!(pause(11, 0), ms(51_200));
        assert_eq!(pause(u32::MAX, 0), ms(51_200));
    }

    #[test]
    fn two_random_numbers_differ() {
        assert_ne!((random(), random()), (random(), random()));
    }

    #[test]
    fn tries_end_with_their_number() {
        let patience = Patience { tries: 2, time_left: ms(60_000) };
        assert_eq!(patience.pause(1, ms(0), 0), Some(ms(50)));
        assert_eq!(patience.pause(2, ms(0), 0), None);
        assert_eq!(Patience::of(ms(5)), Patience { tries: 3, time_left: ms(5) });
    }

    #[test]
    fn no_try_is_begun_that_the_time_left_would_cut_off() {
        let patience = Patience { tries: 9, time_left: ms(2_000) };
        assert_eq!(patience.pause(1, ms(950), 0), Some(ms(50)));
        assert_eq!(patience.pause(1, ms(951), 0), None);
        assert_eq!(patience.pause(2, ms(950), 0), Some(ms(50)), "cut to the room there is");
        assert_eq!(patience.pause(2, ms(5_000), 0), None);
    }
}
