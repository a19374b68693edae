//! The waiting room's words: settings, places and what a fan is told.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How an event's waiting room works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSettings {
    /// The most shoppers at once, called ones included.
    pub cap: u32,
    /// How long a called fan has to enter, in seconds.
    pub grace_seconds: u32,
    /// How long a session can last, renewals included, in seconds.
    pub session_seconds: u32,
    /// How long one admission token lives, in seconds; at most
    /// [`Self::MAX_TOKEN_SECONDS`].
    pub token_seconds: u32,
}

impl QueueSettings {
    /// The longest an admission token may live: so long, at most, an ended
    /// session's token could still be shown.
    pub const MAX_TOKEN_SECONDS: u32 = 300;
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self {
            cap: 500,
            grace_seconds: 120,
            session_seconds: 900,
            token_seconds: Self::MAX_TOKEN_SECONDS,
        }
    }
}

/// What a place in line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceState {
    /// In line.
    Waiting,
    /// May enter until then.
    Called {
        /// The end of the grace.
        until: Timestamp,
    },
    /// Shopping until then, unless renewed.
    Active {
        /// When the slot is given on.
        until: Timestamp,
    },
    /// Was called and did not come; asking to enter gets another call.
    Missed,
    /// Left, bought, or was not there any more. Never enters again.
    Ended,
}

impl PlaceState {
    /// The word of the public interface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Called { .. } => "called",
            Self::Active { .. } => "active",
            Self::Missed => "missed",
            Self::Ended => "ended",
        }
    }
}

/// A fan's place in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line it belongs to: a reset or a loss begins a new one.
    pub generation: u64,
    /// The fan's number; never changes.
    pub number: u32,
    /// What it is now.
    pub state: PlaceState,
    /// How many are to be called before it, at most.
    pub ahead: u32,
}

/// How long a fan will wait, between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitEstimate {
    /// If all goes fast.
    pub low: Duration,
    /// If all goes slowly.
    pub high: Duration,
}

/// The wait of a fan with `ahead` before: a batch of `cap` shoppers takes
/// between a fifth of a session (most buy or give up early) and a whole one
/// with its grace.
#[must_use]
pub fn estimate_wait(ahead: u32, settings: &QueueSettings) -> WaitEstimate {
    let batches = u64::from(ahead) / u64::from(settings.cap.max(1));
    let session = u64::from(settings.session_seconds);
    let slowest = session + u64::from(settings.grace_seconds);
    WaitEstimate {
        low: Duration::from_secs(batches.saturating_mul(session / 5)),
        high: Duration::from_secs(batches.saturating_add(1).saturating_mul(slowest)),
    }
}

/// After how many seconds asking about the line makes sense, with so many
/// before one: the crowd's polling is the bill, and far back nothing changes
/// from one second to the next.
#[must_use]
pub fn poll_seconds(ahead: u32) -> u32 {
    const SOONEST: u32 = 2;
    const LATEST: u32 = 30;
    const ONE_MORE_SECOND_EACH: u32 = 2_000;
    (SOONEST + ahead / ONE_MORE_SECOND_EACH).min(LATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_places_states_have_the_words_of_the_interface() {
        let until = Timestamp::UNIX_EPOCH;
        let states = [
            PlaceState::Waiting,
            PlaceState::Called { until },
            PlaceState::Active { until },
            PlaceState::Missed,
            PlaceState::Ended,
        ];
        let words = states.map(PlaceState::as_str).join(" ");
        assert_eq!(words, "waiting called active missed ended");
    }

    #[test]
    fn the_crowd_far_back_asks_less_often() {
        assert_eq!(poll_seconds(0), 2);
        assert_eq!(poll_seconds(10_000), 7);
        assert_eq!(poll_seconds(u32::MAX), 30);
    }

    #[test]
    fn the_more_ahead_the_longer_the_wait() {
        let settings = QueueSettings { cap: 10, ..QueueSettings::default() };
        let soon = estimate_wait(0, &settings);
        assert_eq!(soon.low, Duration::ZERO);
        assert_eq!(soon.high, Duration::from_secs(1_020));
        let later = estimate_wait(25, &settings);
        assert_eq!(later.low, Duration::from_secs(360));
        assert_eq!(later.high, Duration::from_secs(3_060));
        assert!(estimate_wait(u32::MAX, &QueueSettings { cap: 0, ..settings }).high > later.high);
    }
}
