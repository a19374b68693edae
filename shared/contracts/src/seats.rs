//! What watchers read about seats: a snapshot, changes since then, and one seat.
//! Live updates send the same shapes.
//!
//! Seats are told apart by their position in their section, in the order of rows
//! and seats that the seat map has. That order never changes, and numbers are a
//! tenth of what names would be on the wire.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use domain::{EventId, LogPosition, SeatLabel, SectionId, SectionSpan, TicketTypeId, UnitState};
use serde::{Deserialize, Serialize};

/// Every seat's state at one position of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatsBody {
    /// Which event.
    pub event: EventId,
    /// Which log the sequence belongs to; 0 before the sale was first opened.
    pub epoch: u64,
    /// The last change that is in it.
    pub sequence: u64,
    /// How many sections the seat map has: a client that knows another number
    /// fetches the map again (`seat-map?version=…`, cacheable for ever).
    pub seat_map_version: u32,
    /// The seats by section.
    pub sections: Vec<SectionStates>,
    /// What is left of each type.
    pub ticket_types: Vec<RemainingBody>,
}

/// The seats of a section, two bits each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionStates {
    /// The section.
    pub section: SectionId,
    /// The type its seats are sold as.
    pub ticket_type: TicketTypeId,
    /// How many seats it has.
    pub count: u32,
    /// Base64 of two bits a seat, the first seat in the lowest bits of the first
    /// byte: 0 free, 1 held, 2 sold, 3 withdrawn.
    pub states: String,
}

impl SectionStates {
    /// Packs the states of a section's seats, in the section's order. Seats that
    /// no state is given for are free.
    #[must_use]
    pub fn pack(span: &SectionSpan, states: impl IntoIterator<Item = UnitState>) -> Self {
        let mut packed = vec![0u8; (span.count as usize).div_ceil(4)];
        for (at, state) in states.into_iter().take(span.count as usize).enumerate() {
            packed[at / 4] |= state.code() << (at % 4 * 2);
        }
        Self {
            section: span.section.clone(),
            ticket_type: span.ticket_type.clone(),
            count: span.count,
            states: BASE64_STANDARD.encode(packed),
        }
    }

    /// The states of its seats; none where the text is not what `count` wants.
    #[must_use]
    pub fn unpack(&self) -> Option<Vec<UnitState>> {
        let packed = BASE64_STANDARD.decode(&self.states).ok()?;
        let count = self.count as usize;
        if packed.len() != count.div_ceil(4) {
            return None;
        }
        (0..count).map(|at| UnitState::from_code(packed[at / 4] >> (at % 4 * 2) & 3)).collect()
    }
}

/// What is left of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemainingBody {
    /// The type.
    pub ticket_type: TicketTypeId,
    /// How many can still be had.
    pub remaining: u32,
}

/// What changed between two positions of the log. `from` is not in it, `to` is:
/// a client at `from` that applies it is at `to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatChangesBody {
    /// Which event.
    pub event: EventId,
    /// Which log the positions belong to.
    pub epoch: u64,
    /// The position it begins after.
    pub from: u64,
    /// The position it ends with.
    pub to: u64,
    /// The seats that changed, by section.
    pub sections: Vec<SectionChanges>,
    /// What is left of each type, where that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticket_types: Vec<RemainingBody>,
}

impl SeatChangesBody {
    /// Nothing changed for who is at this position.
    #[must_use]
    pub fn none(event: &EventId, at: LogPosition) -> Self {
        Self {
            event: event.clone(),
            epoch: at.epoch,
            from: at.sequence,
            to: at.sequence,
            sections: Vec::new(),
            ticket_types: Vec::new(),
        }
    }
}

/// The seats of a section that changed, by the state they have now. Positions
/// are sorted, and each stands once: what a seat was in between nobody needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionChanges {
    /// The section.
    pub section: SectionId,
    /// Can be had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free: Vec<u32>,
    /// Somebody's for a while.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<u32>,
    /// Owned by a persisted order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sold: Vec<u32>,
    /// Taken out of sale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<u32>,
}

impl SectionChanges {
    /// Sorts changes of units, oldest first, by section. Units that lie in none of
    /// the sections are left out.
    #[must_use]
    pub fn collect<'a>(
        spans: &[SectionSpan],
        units: impl IntoIterator<Item = (&'a TicketTypeId, u32, UnitState)>,
    ) -> Vec<Self> {
        let mut latest = vec![std::collections::BTreeMap::new(); spans.len()];
        for (ticket_type, index, state) in units {
            let place = spans.iter().enumerate().find_map(|(at, span)| {
                span.position(ticket_type, index).map(|position| (at, position))
            });
            if let Some((at, position)) = place {
                latest[at].insert(position, state);
            }
        }
        let changed = spans.iter().zip(latest).filter(|(_, seats)| !seats.is_empty());
        changed.map(|(span, seats)| Self::of(span, &seats)).collect()
    }

    fn of(span: &SectionSpan, seats: &std::collections::BTreeMap<u32, UnitState>) -> Self {
        let having = |wanted: UnitState| {
            seats.iter().filter(|(_, state)| **state == wanted).map(|(seat, _)| *seat).collect()
        };
        Self {
            section: span.section.clone(),
            free: having(UnitState::Free),
            held: having(UnitState::Held),
            sold: having(UnitState::Sold),
            withdrawn: having(UnitState::Withdrawn),
        }
    }
}

/// Whether one seat can be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockStatusBody {
    /// The seat.
    pub seat: SeatLabel,
    /// Whether it can be had.
    pub status: LockStatus,
    /// Locked: for how long at most, in whole seconds, at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_seconds: Option<u32>,
}

/// Whether a seat can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockStatus {
    /// It can.
    Available,
    /// Somebody holds it; it may come back.
    Locked,
    /// Owned by a persisted order.
    Sold,
    /// Taken out of sale.
    Withdrawn,
}

#[cfg(test)]
mod tests {
    use super::*;
    use UnitState::{Free, Held, Sold, Withdrawn};

    fn span(section: &str, first: u32, count: u32) -> SectionSpan {
        SectionSpan {
            section: SectionId::parse(section).unwrap(),
            ticket_type: stalls(),
            first,
            count,
        }
    }

    fn stalls() -> TicketTypeId {
        TicketTypeId::parse("stalls").unwrap()
    }

    #[test]
    fn a_section_packs_into_two_bits_a_seat() {
        let states = [Free, Held, Sold, Withdrawn, Sold];
        let packed = SectionStates::pack(&span("A", 0, 5), states);
        assert_eq!(packed.states, "5AI=", "11100100 00000010");
        assert_eq!(packed.unpack().as_deref(), Some(&states[..]));
        let short = SectionStates::pack(&span("A", 0, 4), [Sold]);
        assert_eq!(short.unpack().unwrap(), [Sold, Free, Free, Free]);
        let wrong = SectionStates { count: 9, ..packed };
        assert_eq!(wrong.unpack(), None);
    }

    #[test]
    fn changes_go_to_their_section_and_the_last_one_counts() {
        let spans = [span("A", 0, 3), span("B", 3, 2), span("C", 5, 1)];
        let (stalls, floor) = (stalls(), TicketTypeId::parse("floor").unwrap());
        let units = [
            (&stalls, 4, Held),
            (&stalls, 0, Held),
            (&stalls, 2, Withdrawn),
            (&floor, 0, Held),
            (&stalls, 4, Free),
            (&stalls, 0, Sold),
            (&stalls, 99, Sold),
        ];
        let changes = SectionChanges::collect(&spans, units);
        assert_eq!(
            serde_json::to_value(changes).unwrap(),
            serde_json::json!([
                {"section": "A", "sold": [0], "withdrawn": [2]},
                {"section": "B", "free": [1]},
            ])
        );
    }
}
