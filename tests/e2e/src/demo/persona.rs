//! What kind of fan somebody is.

use std::time::Duration;

use crate::demo::chance::Chance;

/// The character of one fan, all of it drawn from the seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// How long after the opening the fan arrives.
    pub arrives_after: Duration,
    /// How the fan bears the line.
    pub patience: Patience,
    /// How many seats that belong together.
    pub seats: usize,
    /// How many standing places.
    pub standing: u32,
    /// How long the fan looks before each choice.
    pub thinks_for: Duration,
    /// Sends every order twice at once, as a double click does.
    pub is_double_clicker: bool,
    /// Asks for more than one fan can have, once.
    pub is_greedy: bool,
    /// Tries even where the map says that nothing is left.
    pub is_stubborn: bool,
    /// How often the fan looks for other seats when these are taken.
    pub retries: u32,
}

/// How a fan bears the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Waits and comes when called.
    Waits,
    /// Gives the place up while waiting.
    GivesUp,
    /// Is called, comes too late, and asks again.
    ComesLate,
    /// Is called and never comes.
    NeverComes,
}

/// A fan can have at most so many tickets in the demo.
pub const LIMIT_PER_FAN: u32 = 4;

/// Half of the crowd is there at once, the rest within a while.
const RUSH: Duration = Duration::from_secs(2);
const STRAGGLERS: Duration = Duration::from_secs(20);

impl Persona {
    /// The fan of that number under a seed, for a hall that has these kinds of
    /// tickets.
    #[must_use]
    pub fn of(seed: u64, fan: u64, has_seats: bool, has_standing: bool) -> Self {
        let mut chance = Chance::of(seed, fan);
        let latest = if chance.percent(50) { RUSH } else { STRAGGLERS };
        let arrives_after = chance.between(Duration::ZERO, latest);
        let patience = match chance.below(100) {
            0..3 => Patience::GivesUp,
            3..5 => Patience::ComesLate,
            5..7 => Patience::NeverComes,
            _ => Patience::Waits,
        };
        let wants_both = chance.percent(10);
        let prefers_seats = chance.percent(50);
        let wants_seats = has_seats && (prefers_seats || wants_both || !has_standing);
        let wants_standing = has_standing && (!wants_seats || wants_both);
        let count = 1 + chance.below(u64::from(LIMIT_PER_FAN));
        let (seats, standing) = match (wants_seats, wants_standing) {
            (true, true) => (1 + count / 3, 1 + count / 4),
            (true, false) => (count, 0),
            (false, _) => (0, count),
        };
        Self {
            arrives_after,
            patience,
            seats: usize::try_from(seats).unwrap_or(1),
            standing: u32::try_from(standing).unwrap_or(1),
            thinks_for: chance.between(Duration::from_millis(200), Duration::from_millis(1_500)),
            is_double_clicker: chance.percent(10),
            is_greedy: chance.percent(3),
            is_stubborn: chance.percent(30),
            retries: 1 + u32::try_from(chance.below(4)).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_mixed_and_the_same_for_the_same_seed() {
        let crowd = |seed| -> Vec<Persona> {
            (0..2_000).map(|fan| Persona::of(seed, fan, true, true)).collect()
        };
        let fans = crowd(1);
        assert_eq!(fans, crowd(1));
        assert_ne!(fans, crowd(2));
        for patience in
            [Patience::Waits, Patience::GivesUp, Patience::ComesLate, Patience::NeverComes]
        {
            assert!(fans.iter().any(|fan| fan.patience == patience), "{patience:?}");
        }
        assert!(fans.iter().any(|fan| fan.seats > 0 && fan.standing > 0));
        let most = LIMIT_PER_FAN as usize;
        for fan in &fans {
            let wanted = fan.seats + fan.standing as usize;
            assert!((1..=most).contains(&wanted), "{fan:?}");
        }
    }

    #[test]
    fn nobody_wants_what_the_hall_has_not() {
        for fan in 0..500 {
            assert_eq!(Persona::of(1, fan, false, true).seats, 0);
            assert_eq!(Persona::of(1, fan, true, false).standing, 0);
        }
    }
}
