//! Units: what is owned. A seat, or a serial number of general admission.

use serde::{Deserialize, Serialize};

use crate::hashing::sha256_of_fields;
use crate::ids::{SeatLabel, TicketTypeId};

/// One sellable unit of a ticket type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UnitId {
    /// A place of general admission, by its serial number from zero.
    Serial(u32),
    /// A seat.
    Seat(SeatLabel),
}

/// A unit together with its type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnedUnit<'a> {
    /// The type it belongs to.
    pub ticket_type: &'a TicketTypeId,
    /// The unit.
    pub unit: &'a UnitId,
}

/// What watchers see of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitState {
    /// Can be had.
    Free,
    /// Somebody's for a while.
    Held,
    /// Owned by a persisted order.
    Sold,
    /// Taken out of sale.
    Withdrawn,
}

impl UnitState {
    /// The number it has in Redis and in a snapshot's two bits.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Free => 0,
            Self::Held => 1,
            Self::Sold => 2,
            Self::Withdrawn => 3,
        }
    }

    /// The state with this number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Free, Self::Held, Self::Sold, Self::Withdrawn]
            .into_iter()
            .find(|state| state.code() == code)
    }
}

const UNITS_PER_PARTITION: u32 = 1_000;

/// How many partitions a type's units are spread over. Fixed before the first of
/// them can be had: a unit must be found where it was put.
#[must_use]
pub fn partition_count(ceiling: u32) -> u32 {
    ceiling.div_ceil(UNITS_PER_PARTITION).max(1)
}

/// The partition a unit lives in.
#[must_use]
pub fn partition_of(unit: &UnitId, partitions: u32) -> u32 {
    let partitions = partitions.max(1);
    match unit {
        UnitId::Serial(serial) => serial % partitions,
        UnitId::Seat(label) => {
            let digest = sha256_of_fields(&[label.as_str().as_bytes()]);
            u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) % partitions
        }
    }
}

/// By how much the durable mark of a general admission type is raised: a
/// twentieth of the ceiling, at least 20 and at most 1,000. Small enough that a
/// loss withholds little, large enough that raising it is rare.
#[must_use]
pub fn mark_block(ceiling: u32) -> u32 {
    (ceiling / 20).clamp(20, 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mark_is_raised_by_a_twentieth_within_bounds() {
        assert_eq!(mark_block(0), 20);
        assert_eq!(mark_block(400), 20);
        assert_eq!(mark_block(600), 30);
        assert_eq!(mark_block(20_000), 1_000);
        assert_eq!(mark_block(u32::MAX), 1_000);
    }

    #[test]
    fn about_a_thousand_units_share_a_partition() {
        assert_eq!(partition_count(0), 1);
        assert_eq!(partition_count(1_000), 1);
        assert_eq!(partition_count(1_001), 2);
    }

    proptest! {
        #[test]
        fn a_unit_always_has_a_partition(serial: u32, partitions in 0u32..5_000) {
            prop_assert!(partition_of(&UnitId::Serial(serial), partitions) < partitions.max(1));
        }
    }

    #[test]
    fn a_state_is_known_by_its_number() {
        for code in 0..4 {
            assert_eq!(UnitState::from_code(code).map(UnitState::code), Some(code));
        }
        assert_eq!(UnitState::from_code(4), None);
    }

    #[test]
    fn a_rush_on_seats_spreads() {
        let mut seen = [0u32; 8];
        for number in 0..800 {
            let seat = SeatLabel::parse(&format!("A-1-{number}")).unwrap();
            seen[partition_of(&UnitId::Seat(seat), 8) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (50..150).contains(&count)), "{seen:?}");
    }
}
