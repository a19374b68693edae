//! Seeded chance: the same seed gives every fan the same character.

use std::time::Duration;

/// SplitMix64. Good enough to scatter fans, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The chance of one fan under a seed. Fans don't share a sequence, so how
    /// they interleave changes nobody's character.
    #[must_use]
    pub fn of(seed: u64, fan: u64) -> Self {
        let mut chance = Self(seed ^ fan.wrapping_mul(0xA076_1D64_78BD_642F));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `0` to `bound - 1`; 0 where there is nothing to choose from.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    /// An index into something of that length.
    pub fn index(&mut self, length: usize) -> usize {
        // What is below a usize fits into one.
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// Whether something happens that happens in so many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A duration between two, in whole milliseconds.
    pub fn between(&mut self, low: Duration, high: Duration) -> Duration {
        let span = u64::try_from(high.saturating_sub(low).as_millis()).unwrap_or(u64::MAX);
        low + Duration::from_millis(self.below(span.saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_a_fan_the_same_chances_again_and_other_fans_others() {
        let draw = |seed, fan| {
            let mut chance = Chance::of(seed, fan);
            [chance.below(1_000_000), chance.below(1_000_000), chance.below(1_000_000)]
        };
        assert_eq!(draw(1, 7), draw(1, 7));
        assert_ne!(draw(1, 7), draw(1, 8));
        assert_ne!(draw(1, 7), draw(2, 7));
    }

    #[test]
    fn chances_stay_within_their_bounds_and_are_spread() {
        let mut chance = Chance::of(3, 0);
        assert_eq!(chance.below(0), 0);
        let (low, high) = (Duration::from_millis(5), Duration::from_millis(9));
        let mut hits = 0;
        for _ in 0..1_000 {
            assert!(chance.index(3) < 3);
            let between = chance.between(low, high);
            assert!(low <= between && between <= high);
            hits += u32::from(chance.percent(10));
        }
        assert!((50..200).contains(&hits), "{hits}");
        assert_eq!(chance.between(high, low), high);
    }
}
