//! What a unit of the log is called on the wire: its type's id, its section and
//! its seat there. From the catalogue; sections and types are only ever added.

use std::collections::{BTreeMap, BTreeSet};

use contracts::seats::{RemainingBody, SectionChanges};
use domain::{Section, SectionId, SectionSpan, TicketType, TicketTypeId, UnitState, is_fresh};
use jiff::{SignedDuration, Timestamp};
use redis_store::{TypeCounts, UnitChange};

/// What the catalogue itself does not have is not looked for again sooner than this.
const REST: SignedDuration = SignedDuration::from_secs(1);

/// The hall of an event, as the catalogue had it at a time.
#[derive(Debug, Clone)]
pub(crate) struct Hall {
    types: BTreeMap<u8, TicketTypeId>,
    spans: Vec<SectionSpan>,
    loaded_at: Timestamp,
    /// Whether it was read for units that it does not have either.
    pub(crate) is_vain: bool,
}

/// What a stretch of the log changed: each unit's last state, and the types
/// whose counts it touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) units: BTreeMap<(u8, u32), UnitState>,
    pub(crate) types: BTreeSet<u8>,
}

impl Stretch {
    /// Takes the next entries of the log: a unit's later state replaces its earlier one.
    pub(crate) fn extend(&mut self, units: &[UnitChange], counts: &[u8]) {
        for change in units {
            self.units.insert((change.type_index, change.unit_index), change.state);
            self.types.insert(change.type_index);
        }
        self.types.extend(counts);
    }
}

impl Hall {
    pub(crate) fn new(types: &[TicketType], sections: &[Section], loaded_at: Timestamp) -> Self {
        Self {
            types: types.iter().map(|kind| (kind.index, kind.id.clone())).collect(),
            spans: sections.iter().map(Section::span).collect(),
            loaded_at,
            is_vain: false,
        }
    }

    /// Whether it was read a moment ago.
    pub(crate) fn is_fresh(&self, now: Timestamp) -> bool {
        is_fresh(self.loaded_at, now, REST)
    }

    /// Whether every unit and type has its name: what has none was added since.
    pub(crate) fn knows(&self, stretch: &Stretch) -> bool {
        stretch.types.iter().all(|index| self.types.contains_key(index))
            && stretch.units.keys().all(|(kind, unit)| self.has_seat(*kind, *unit))
    }

    fn has_seat(&self, kind: u8, unit: u32) -> bool {
        let Some(kind) = self.types.get(&kind) else { return false };
        self.spans.iter().any(|span| span.position(kind, unit).is_some())
    }

    /// Whether the seat map has this section.
    pub(crate) fn has_section(&self, id: &SectionId) -> bool {
        self.spans.iter().any(|span| span.section == *id)
    }

    /// The changed seats by section.
    pub(crate) fn sections(&self, stretch: &Stretch) -> Vec<SectionChanges> {
        let named = stretch
            .units
            .iter()
            .filter_map(|((kind, unit), state)| Some((self.types.get(kind)?, *unit, *state)));
        SectionChanges::collect(&self.spans, named)
    }

    /// What is left of the types whose counts changed.
    pub(crate) fn remaining(
        &self,
        stretch: &Stretch,
        counts: Vec<TypeCounts>,
    ) -> Vec<RemainingBody> {
        let changed: BTreeSet<&TicketTypeId> =
            stretch.types.iter().filter_map(|index| self.types.get(index)).collect();
        counts
            .into_iter()
            .filter(|counts| changed.contains(&counts.ticket_type))
            .map(|counts| RemainingBody {
                ticket_type: counts.ticket_type,
                remaining: counts.remaining,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Currency, Money, Row, TicketKind};

    fn id(text: &str) -> TicketTypeId {
        TicketTypeId::parse(text).unwrap()
    }

    fn ticket_type(name: &str, index: u8, kind: TicketKind) -> TicketType {
        TicketType {
            id: id(name),
            name: name.to_owned(),
            kind,
            price: Money { amount: 1, currency: Currency::parse("TWD").unwrap() },
            limit_per_customer: None,
            index,
            ceiling: 10,
            capacity: 10,
            partitions: 1,
            version: 1,
        }
    }

    fn section(name: &str, first: u32, seats: u32) -> Section {
        let seats = (1..=seats).map(|seat| seat.to_string()).collect();
        let rows = vec![Row { row: "1".to_owned(), seats }];
        Section::new(SectionId::parse(name).unwrap(), id("stalls"), first, rows).unwrap()
    }

    fn hall() -> Hall {
        let types = [
            ticket_type("stalls", 1, TicketKind::ReservedSeating),
            ticket_type("floor", 2, TicketKind::GeneralAdmission),
        ];
        Hall::new(&types, &[section("A", 0, 3), section("B", 3, 2)], Timestamp::UNIX_EPOCH)
    }

    fn change(type_index: u8, unit_index: u32, state: UnitState) -> UnitChange {
        UnitChange { type_index, unit_index, state }
    }

    #[test]
    fn many_changes_of_one_seat_are_told_as_its_last_state() {
        use UnitState::{Free, Held, Sold};
        let mut stretch = Stretch::default();
        stretch.extend(&[change(1, 4, Held), change(1, 0, Held)], &[]);
        stretch.extend(&[change(1, 4, Free), change(1, 0, Sold), change(1, 4, Held)], &[2]);
        assert!(hall().knows(&stretch));
        let sections = hall().sections(&stretch);
        let told = told(&sections);
        assert_eq!(told, [("A", vec![], vec![0]), ("B", vec![1], vec![])]);
    }

    fn told(sections: &[SectionChanges]) -> Vec<(&str, Vec<u32>, Vec<u32>)> {
        let parts = sections.iter();
        parts.map(|s| (s.section.as_str(), s.held.clone(), s.sold.clone())).collect()
    }

    #[test]
    fn a_unit_or_type_that_was_added_since_is_not_known() {
        for unknown in [change(1, 5, UnitState::Held), change(3, 0, UnitState::Held)] {
            let mut stretch = Stretch::default();
            stretch.extend(&[unknown], &[]);
            assert!(!hall().knows(&stretch), "{unknown:?}");
        }
        let mut stretch = Stretch::default();
        stretch.extend(&[], &[3]);
        assert!(!hall().knows(&stretch));
    }

    #[test]
    fn it_is_fresh_for_a_second_also_when_the_clock_was_set_back() {
        let fresh = |ms| hall().is_fresh(Timestamp::from_millisecond(ms).unwrap());
        assert!(fresh(0) && fresh(999) && !fresh(1_000) && !fresh(-60_000));
    }

    #[test]
    fn only_what_changed_is_counted() {
        let counts = |name: &str, remaining| TypeCounts {
            ticket_type: id(name),
            ceiling: 10,
            remaining,
            held: 0,
            sold: 0,
            withdrawn: 0,
        };
        let mut stretch = Stretch::default();
        stretch.extend(&[], &[2]);
        let remaining = hall().remaining(&stretch, vec![counts("stalls", 5), counts("floor", 7)]);
        assert_eq!(remaining, [RemainingBody { ticket_type: id("floor"), remaining: 7 }]);
    }
}
