//! Events, their sale and their ticket types.

use jiff::{Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::hashing::{sha256_of_fields, truncated};
use crate::ids::{CustomerId, Epoch, EventId, IdempotencyKey, TicketTypeId};
use crate::money::{Currency, Money};
use crate::unit::partition_count;

/// When a sale is open, as instants: `[opens_at, closes_at)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleWindow {
    /// The first instant of the sale.
    pub opens_at: Timestamp,
    /// The first instant after it.
    pub closes_at: Timestamp,
}

/// What the operator last said about the sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaleSwitch {
    /// Never opened: nothing can be bought, whatever the window says.
    Scheduled,
    /// Sells within the window.
    Open,
    /// Stopped for now.
    Paused,
    /// Over.
    Closed,
}

impl SaleSwitch {
    /// As it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Closed => "closed",
        }
    }
}

/// What the sale is at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaleState {
    /// Not yet.
    Scheduled,
    /// Now.
    Open,
    /// Stopped for now.
    Paused,
    /// Over.
    Closed,
}

impl SaleState {
    /// The word of the public interface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Closed => "closed",
        }
    }
}

impl SaleWindow {
    /// The state of a sale with this window and switch at an instant.
    #[must_use]
    pub fn state(&self, switch: SaleSwitch, now: Timestamp) -> SaleState {
        match switch {
            SaleSwitch::Closed => SaleState::Closed,
            _ if now >= self.closes_at => SaleState::Closed,
            SaleSwitch::Scheduled => SaleState::Scheduled,
            _ if now < self.opens_at => SaleState::Scheduled,
            SaleSwitch::Paused => SaleState::Paused,
            SaleSwitch::Open => SaleState::Open,
        }
    }
}

/// A command about the sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaleCommand {
    /// Which operator's command under which key, as a hash.
    pub key: u128,
    /// What it says.
    pub switch: SaleSwitch,
}

impl SaleCommand {
    /// The command of an operator under a key.
    #[must_use]
    pub fn new(operator: &CustomerId, key: &IdempotencyKey, switch: SaleSwitch) -> Self {
        let digest = sha256_of_fields(&[
            b"onsale.sale-command.v1",
            operator.as_str().as_bytes(),
            key.as_str().as_bytes(),
        ]);
        Self { key: u128::from_be_bytes(truncated(digest)), switch }
    }
}

/// Where an event takes place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Venue {
    /// The venue's name.
    pub name: String,
    /// The city it is in.
    pub city: String,
}

/// An event as DynamoDB keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Named by the operator.
    pub id: EventId,
    /// What fans read.
    pub title: String,
    /// Where.
    pub venue: Venue,
    /// The IANA zone times are shown in; it decides nothing.
    pub time_zone: String,
    /// When the event itself begins.
    pub starts_at: Timestamp,
    /// When it is on sale.
    pub window: SaleWindow,
    /// The one currency of all its prices.
    pub currency: Currency,
    /// Units one customer can have over all types; none: no such limit.
    pub limit_per_customer: Option<u32>,
    /// What the operator last said about the sale.
    pub switch: SaleSwitch,
    /// Grows by one at each edit (details and sale alike).
    pub version: u64,
    /// The highest epoch an inventory was begun under; 0 before the first.
    pub epoch: Epoch,
    /// Whether an inventory was ever activated. Once it was, a missing one is a
    /// loss to recover from, not something to load afresh.
    pub activated: bool,
}

impl Event {
    /// The sale's state at an instant.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> SaleState {
        self.window.state(self.switch, now)
    }

    /// An instant in the event's zone, like `2026-12-01T10:00:00+08:00`.
    /// An unknown zone (the zone data grew older than the event) shows UTC.
    #[must_use]
    pub fn local_time(&self, instant: Timestamp) -> String {
        let zone = TimeZone::get(&self.time_zone).unwrap_or(TimeZone::UTC);
        let local = instant.to_zoned_datetime(zone);
        local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// Whether a name is a time zone of the IANA database.
    #[must_use]
    pub fn is_time_zone(name: &str) -> bool {
        TimeZone::get(name).is_ok()
    }
}

/// How units of a type are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketKind {
    /// Places without numbers.
    GeneralAdmission,
    /// Numbered seats.
    ReservedSeating,
}

/// A price and the version of its type that it came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceTag {
    /// The price of one unit.
    pub price: Money,
    /// The version of the ticket type that set it.
    pub version: u64,
}

/// A ticket type as DynamoDB keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketType {
    /// Named by the operator.
    pub id: TicketTypeId,
    /// What fans read.
    pub name: String,
    /// General admission or reserved seating.
    pub kind: TicketKind,
    /// The price of one unit.
    pub price: Money,
    /// Units of this type one customer can have.
    pub limit_per_customer: Option<u32>,
    /// Position among the event's types, from 1; fixed.
    pub index: u8,
    /// The type's serial space is `0 … ceiling-1`. Only grows once on sale.
    pub ceiling: u32,
    /// What the operator wants sold: the ceiling less what is withdrawn.
    pub capacity: u32,
    /// How many partitions its units are spread over; fixed once an inventory of its
    /// event is begun: functions cache it, and a unit must be found where it was put.
    pub partitions: u32,
    /// Grows by one at each edit.
    pub version: u64,
}

impl TicketType {
    /// The most units a type can have: a packed slot array of it stays well
    /// inside what one Redis value can hold.
    pub const MAX_CEILING: u32 = 1_000_000;
    /// The most types an event can have.
    pub const MAX_PER_EVENT: u8 = 100;

    /// How many partitions a type gets that was never on sale. Seats come after their type, section
    /// by section, so their number is not known yet: a large hall's is assumed.
    #[must_use]
    pub fn partitions_for(kind: TicketKind, ceiling: u32) -> u32 {
        match kind {
            TicketKind::GeneralAdmission => partition_count(ceiling),
            TicketKind::ReservedSeating => partition_count(ceiling.max(16_000)),
        }
    }
}

/// The one setting for time, H: how long a hold lasts, and how long before its
/// end persistence starts nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldTime {
    hold_seconds: u32,
    margin_seconds: u32,
}

impl Default for HoldTime {
    /// Ten minutes, and a persistence function that has thirty seconds.
    fn default() -> Self {
        Self { hold_seconds: 600, margin_seconds: 35 }
    }
}

impl HoldTime {
    /// From H and the persistence function's timeout. The margin is that
    /// timeout and five seconds; H must be at least twice the margin, or a hold
    /// could lapse before its intent had a chance.
    #[must_use]
    pub fn new(hold_seconds: u32, persistence_timeout_seconds: u32) -> Option<Self> {
        let margin_seconds = persistence_timeout_seconds.checked_add(5)?;
        (hold_seconds >= margin_seconds.checked_mul(2)?)
            .then_some(Self { hold_seconds, margin_seconds })
    }

    /// H.
    #[must_use]
    pub fn hold(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.hold_seconds.into())
    }

    /// When an order persisted now must be paid.
    #[must_use]
    pub fn pay_by(&self, persisted_at: Timestamp) -> Timestamp {
        persisted_at
            .saturating_add(jiff::SignedDuration::from_secs(self.hold_seconds.into()))
            .unwrap_or(Timestamp::MAX)
    }

    /// Whether it is too late to begin persisting a hold that ends then: the
    /// transaction could land after the hold has lapsed and the unit was sold on.
    #[must_use]
    pub fn is_too_late(&self, expires_at: Timestamp, now: Timestamp) -> bool {
        let margin = jiff::SignedDuration::from_secs(self.margin_seconds.into());
        now.saturating_add(margin).unwrap_or(Timestamp::MAX) >= expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_sales_states_have_the_words_of_the_interface() {
        let states = [SaleState::Scheduled, SaleState::Open, SaleState::Paused, SaleState::Closed];
        assert_eq!(states.map(SaleState::as_str), ["scheduled", "open", "paused", "closed"]);
    }

    #[test]
    fn a_switch_is_stored_by_a_word_that_stays() {
        use SaleSwitch::{Closed, Open, Paused, Scheduled};
        let switches = [Scheduled, Open, Paused, Closed];
        assert_eq!(switches.map(SaleSwitch::as_str), ["scheduled", "open", "paused", "closed"]);
    }

    #[test]
    fn a_hold_lasts_as_long_as_was_said() {
        let time = HoldTime::new(70, 30).unwrap();
        assert_eq!(time.hold(), std::time::Duration::from_secs(70));
    }

    #[test]
    fn a_window_opens_at_its_first_instant_and_ends_before_its_last() {
        let window = SaleWindow {
            opens_at: at("2026-12-01T02:00:00Z"),
            closes_at: at("2026-12-02T02:00:00Z"),
        };
        let state = |instant| window.state(SaleSwitch::Open, at(instant));
        assert_eq!(state("2026-12-01T01:59:59.999Z"), SaleState::Scheduled);
        assert_eq!(state("2026-12-01T02:00:00Z"), SaleState::Open);
        assert_eq!(state("2026-12-02T01:59:59.999Z"), SaleState::Open);
        assert_eq!(state("2026-12-02T02:00:00Z"), SaleState::Closed);
        let inside = at("2026-12-01T12:00:00Z");
        assert_eq!(window.state(SaleSwitch::Scheduled, inside), SaleState::Scheduled);
        assert_eq!(window.state(SaleSwitch::Paused, inside), SaleState::Paused);
        assert_eq!(window.state(SaleSwitch::Closed, inside), SaleState::Closed);
        assert_eq!(
            window.state(SaleSwitch::Paused, at("2026-12-01T01:00:00Z")),
            SaleState::Scheduled
        );
        assert_eq!(
            window.state(SaleSwitch::Scheduled, at("2026-12-03T01:00:00Z")),
            SaleState::Closed
        );
    }

    #[test]
    fn persistence_starts_nothing_in_the_margin() {
        assert_eq!(HoldTime::new(69, 30), None, "H is at least twice the margin");
        let time = HoldTime::new(70, 30).unwrap();
        let now = at("2026-12-01T00:00:00Z");
        assert!(!time.is_too_late(at("2026-12-01T00:00:35.001Z"), now));
        assert!(time.is_too_late(at("2026-12-01T00:00:35Z"), now));
        assert_eq!(time.pay_by(now), at("2026-12-01T00:01:10Z"));
        assert_eq!(HoldTime::new(u32::MAX, u32::MAX), None);
        assert_eq!(HoldTime::new(600, 30), Some(HoldTime::default()));
    }

    #[test]
    fn seats_have_partitions_before_they_are_known() {
        assert_eq!(TicketType::partitions_for(TicketKind::GeneralAdmission, 600), 1);
        assert_eq!(TicketType::partitions_for(TicketKind::GeneralAdmission, 20_000), 20);
        assert_eq!(TicketType::partitions_for(TicketKind::ReservedSeating, 0), 16);
        assert_eq!(TicketType::partitions_for(TicketKind::ReservedSeating, 40_000), 40);
    }

    fn event() -> Event {
        let currency = Currency::parse("TWD").unwrap();
        Event {
            id: EventId::parse("e").unwrap(),
            title: String::new(),
            venue: Venue { name: String::new(), city: String::new() },
            time_zone: "Asia/Taipei".to_owned(),
            starts_at: at("2026-12-01T12:00:00Z"),
            window: SaleWindow {
                opens_at: at("2026-12-01T02:00:00Z"),
                closes_at: at("2026-12-02T02:00:00Z"),
            },
            currency,
            limit_per_customer: None,
            switch: SaleSwitch::Open,
            version: 1,
            epoch: Epoch(0),
            activated: false,
        }
    }

    #[test]
    fn times_are_shown_in_the_events_zone() {
        assert!(Event::is_time_zone("Asia/Taipei"));
        assert!(!Event::is_time_zone("Asia/Atlantis"));
        let event = event();
        assert_eq!(event.local_time(event.window.opens_at), "2026-12-01T10:00:00+08:00");
    }

    #[test]
    fn a_command_is_known_by_its_operator_and_key() {
        let key = |operator: &str, key: &str, switch| {
            let operator = CustomerId::parse(operator).unwrap();
            SaleCommand::new(&operator, &IdempotencyKey::parse(key).unwrap(), switch).key
        };
        let known = key("op-1", "a", SaleSwitch::Open);
        assert_eq!(known, key("op-1", "a", SaleSwitch::Paused), "whatever it says");
        assert_ne!(known, key("op-1", "b", SaleSwitch::Open));
        assert_ne!(known, key("op-2", "a", SaleSwitch::Open), "keys are each operator's own");
    }
}
