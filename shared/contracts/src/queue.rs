//! The waiting room as fans and operators see it.

use std::ops::RangeInclusive;

use domain::{EventId, QueueSettings, SessionId, WaitEstimate};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::problem::{FieldError, Text};

/// What the line of an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueState {
    /// Nobody has joined yet; whoever does begins it.
    Empty,
    /// Fans join and are called.
    Open,
    /// Fans join, and nobody is called: the operator set the cap to 0.
    Halted,
}

/// Answer of `GET /events/{event}/queue`: the same for everybody, so one copy
/// serves all who poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueStatusBody {
    /// Which event.
    pub event: EventId,
    /// What the line is.
    pub state: QueueState,
    /// Which line it is: numbers of another one say nothing here.
    pub generation: u64,
    /// The highest number called: whoever has it or a lower one may enter.
    pub serving: u32,
    /// The highest number given.
    pub issued: u32,
    /// How many still wait.
    pub waiting: u32,
    /// How many shop.
    pub active: u32,
    /// How many were called and are not in yet.
    pub called: u32,
    /// The most who may shop or be called at once.
    pub cap: u32,
    /// The most who are called in a minute; none: as many as leave.
    pub admissions_per_minute: Option<u32>,
    /// The version of the settings, for `If-Match`; 0 before there are any.
    pub settings_version: u64,
    /// After how many seconds asking again makes sense.
    pub next_poll_seconds: u32,
}

/// What a place in line is. The states of `domain`, without their times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceStateBody {
    /// In line.
    Waiting,
    /// May enter, until `until`.
    Called,
    /// Shopping, until `until` unless renewed.
    Active,
    /// Was called and did not come; asking to enter gets another call.
    Missed,
    /// Over: joining again gives a new number.
    Ended,
}

/// Answer of joining, and of reading one's own place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceBody {
    /// Which event.
    pub event: EventId,
    /// Which line.
    pub generation: u64,
    /// The number; it never changes.
    pub number: u32,
    /// What the place is now.
    pub state: PlaceStateBody,
    /// Until when a called fan may enter, or an active one's slot lasts: no longer than
    /// their session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How many are called before, at most.
    pub ahead: u32,
    /// How long it will take: if all goes fast, and if all goes slowly.
    pub estimated_wait_seconds: [u64; 2],
    /// After how many seconds asking again makes sense.
    pub next_poll_seconds: u32,
    /// The place, signed: proves it after a loss.
    pub receipt: String,
}

/// A wait for the wire.
#[must_use]
pub fn wait_seconds(estimate: &WaitEstimate) -> [u64; 2] {
    [estimate.low.as_secs(), estimate.high.as_secs()]
}

/// Answer of `POST …/queue/places/mine/admission`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionBody {
    /// What orders are placed with, in `Onsale-Admission`.
    pub admission_token: String,
    /// When it ends; entering again before then renews it.
    pub expires_at: Timestamp,
    /// When the session ends, renewals included.
    pub session_ends_at: Timestamp,
    /// The session.
    pub session: SessionId,
    /// The fan's number.
    pub number: u32,
}

/// Body of `PUT /events/{event}/queue/settings`: absolute values, all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSettingsBody {
    /// The most who may shop or be called at once; 0 calls nobody.
    pub cap: u32,
    /// How long a called fan has to enter.
    pub grace_seconds: u32,
    /// How long a session can last, renewals included.
    pub session_seconds: u32,
    /// How long one admission token lives.
    pub token_seconds: u32,
}

impl QueueSettingsBody {
    /// The most shoppers an operator can ask for.
    pub const MAX_CAP: u32 = 1_000_000;
    const CAP: RangeInclusive<u32> = 0..=Self::MAX_CAP;
    const GRACE: RangeInclusive<u32> = 1..=3_600;
    const SESSION: RangeInclusive<u32> = 1..=86_400;
    const TOKEN: RangeInclusive<u32> = 1..=QueueSettings::MAX_TOKEN_SECONDS;

    /// The settings.
    ///
    /// # Errors
    /// When values are out of their bounds; all of them are named.
    pub fn parse(&self) -> Result<QueueSettings, Vec<FieldError>> {
        let bounds = [
            ("/cap", self.cap, Self::CAP),
            ("/grace_seconds", self.grace_seconds, Self::GRACE),
            ("/session_seconds", self.session_seconds, Self::SESSION),
            ("/token_seconds", self.token_seconds, Self::TOKEN),
        ];
        let outside = bounds.into_iter().filter(|(_, value, bounds)| !bounds.contains(value));
        let errors: Vec<FieldError> = outside
            .map(|(pointer, _, bounds)| {
                let (least, most) = (*bounds.start() as usize, *bounds.end() as usize);
                FieldError::new(pointer, Text::Between { least, most })
            })
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(QueueSettings {
            cap: self.cap,
            grace_seconds: self.grace_seconds,
            session_seconds: self.session_seconds,
            token_seconds: self.token_seconds,
        })
    }
}

impl From<QueueSettings> for QueueSettingsBody {
    fn from(settings: QueueSettings) -> Self {
        Self {
            cap: settings.cap,
            grace_seconds: settings.grace_seconds,
            session_seconds: settings.session_seconds,
            token_seconds: settings.token_seconds,
        }
    }
}

/// Answer of `PUT /events/{event}/queue/settings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredQueueSettingsBody {
    /// As they are now.
    #[serde(flatten)]
    pub settings: QueueSettingsBody,
    /// Their version, for `If-Match`.
    pub version: u64,
}

/// Answer of `POST /events/{event}/viewers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewerBody {
    /// What a WebSocket is opened with, in `?token=`.
    pub viewer_token: String,
    /// When it ends. A connection that was opened with it stays.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_their_bounds_are_all_named() {
        let good = QueueSettingsBody::from(QueueSettings::default());
        assert_eq!(good.parse(), Ok(QueueSettings::default()));
        let bad = QueueSettingsBody {
            cap: 1_000_001,
            grace_seconds: 0,
            session_seconds: 86_401,
            token_seconds: 301,
        };
        let errors = bad.parse().unwrap_err();
        let pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(pointers, ["/cap", "/grace_seconds", "/session_seconds", "/token_seconds"]);
        assert!(QueueSettingsBody { cap: 0, ..good }.parse().is_ok(), "0 halts the line");
    }

    #[test]
    fn a_wait_is_told_in_seconds_from_the_shortest_to_the_longest() {
        let [low, high] = [65, 325].map(std::time::Duration::from_secs);
        assert_eq!(wait_seconds(&WaitEstimate { low, high }), [65, 325]);
    }
}
