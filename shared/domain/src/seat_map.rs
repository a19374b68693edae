//! Seat maps: a hall comes in sections, a section in rows.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::ids::{SeatLabel, SectionId, TicketTypeId};

/// The most seats of one section: its item stays far below DynamoDB's 400 KB.
pub const MAX_SEATS_PER_SECTION: usize = 5_000;

/// A row and its seats, left to right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The row's name.
    pub row: String,
    /// The seats' numbers.
    pub seats: Vec<String>,
}

/// A section: its seats are one contiguous range of units of its ticket type,
/// in the order of rows and seats. That order never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Named by the operator.
    pub id: SectionId,
    /// The type all its seats are sold as.
    pub ticket_type: TicketTypeId,
    /// The unit index of its first seat within the type.
    pub first: u32,
    /// The rows, front to back.
    pub rows: Vec<Row>,
}

/// Where a section's seats lie among the units of its type: all that is needed
/// to tell units and seats apart without their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSpan {
    /// The section.
    pub section: SectionId,
    /// The type all its seats are sold as.
    pub ticket_type: TicketTypeId,
    /// The unit index of its first seat within the type.
    pub first: u32,
    /// How many seats it has.
    pub count: u32,
}

impl SectionSpan {
    /// The position in the section of a unit of a type; none: it lies elsewhere.
    #[must_use]
    pub fn position(&self, ticket_type: &TicketTypeId, index: u32) -> Option<u32> {
        let position = index.checked_sub(self.first)?;
        (*ticket_type == self.ticket_type && position < self.count).then_some(position)
    }
}

/// Why rows are no section.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSeatMap {
    /// No seat at all.
    #[error("must hold at least one seat")]
    Empty,
    /// Too many.
    #[error("a section has at most {MAX_SEATS_PER_SECTION} seats; split it")]
    TooManySeats,
    /// A row that stands there before.
    #[error("row {row} is named twice")]
    RowTwice {
        /// Its position.
        at: usize,
        /// Its name.
        row: String,
    },
    /// A seat name that makes no label, or one that stands there before.
    #[error("seat {seat} of row {row} is named twice, or makes no valid seat id")]
    Seat {
        /// The row's position.
        row_at: usize,
        /// The seat's position.
        seat_at: usize,
        /// The row's name.
        row: String,
        /// The seat's name.
        seat: String,
    },
}

impl Section {
    /// Checks rows and makes the section of them.
    ///
    /// # Errors
    /// When a name makes no seat label, is there twice, or the size is wrong.
    pub fn new(
        id: SectionId,
        ticket_type: TicketTypeId,
        first: u32,
        rows: Vec<Row>,
    ) -> Result<Self, InvalidSeatMap> {
        let count: usize = rows.iter().map(|row| row.seats.len()).sum();
        if count == 0 {
            return Err(InvalidSeatMap::Empty);
        }
        if count > MAX_SEATS_PER_SECTION {
            return Err(InvalidSeatMap::TooManySeats);
        }
        let mut row_names = HashSet::new();
        let mut labels = HashSet::new();
        for (row_at, row) in rows.iter().enumerate() {
            if !row_names.insert(row.row.as_str()) {
                return Err(InvalidSeatMap::RowTwice { at: row_at, row: row.row.clone() });
            }
            for (seat_at, seat) in row.seats.iter().enumerate() {
                let unique = label(&id, &row.row, seat).is_some_and(|label| labels.insert(label));
                if !unique {
                    let (row, seat) = (row.row.clone(), seat.clone());
                    return Err(InvalidSeatMap::Seat { row_at, seat_at, row, seat });
                }
            }
        }
        Ok(Self { id, ticket_type, first, rows })
    }

    /// The seats' labels, in order.
    pub fn labels(&self) -> impl Iterator<Item = SeatLabel> + '_ {
        self.rows.iter().flat_map(move |row| {
            row.seats.iter().filter_map(move |seat| label(&self.id, &row.row, seat))
        })
    }

    /// How many seats it has.
    #[must_use]
    pub fn seat_count(&self) -> u32 {
        let count: usize = self.rows.iter().map(|row| row.seats.len()).sum();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Where its seats lie among the units of its type.
    #[must_use]
    pub fn span(&self) -> SectionSpan {
        SectionSpan {
            section: self.id.clone(),
            ticket_type: self.ticket_type.clone(),
            first: self.first,
            count: self.seat_count(),
        }
    }

    /// Whether a seat is one of its seats.
    #[must_use]
    pub fn has_seat(&self, seat: &SeatLabel) -> bool {
        let mut parts = seat.as_str().rsplitn(3, '-');
        let (Some(number), Some(row), Some(section)) = (parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let is_in = |one: &Row| one.row == row && one.seats.iter().any(|seat| seat == number);
        section == self.id.as_str() && self.rows.iter().any(is_in)
    }

    /// The section a seat would be in. Row and seat hold no `-`, so its name is
    /// all but the last two parts, whether it holds any itself or not.
    #[must_use]
    pub fn of_seat(seat: &SeatLabel) -> Option<SectionId> {
        let mut parts = seat.as_str().rsplitn(3, '-');
        SectionId::parse(parts.nth(2)?).ok()
    }
}

/// A seat's label. Row and seat names hold no `-`, so that two different seats
/// can't share a label.
fn label(section: &SectionId, row: &str, seat: &str) -> Option<SeatLabel> {
    let plain = |name: &str| !name.is_empty() && !name.contains('-');
    (plain(row) && plain(seat))
        .then(|| SeatLabel::parse(&format!("{section}-{row}-{seat}")).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, seats: &[&str]) -> Row {
        Row { row: name.to_owned(), seats: seats.iter().map(|&s| s.to_owned()).collect() }
    }

    fn section(rows: Vec<Row>) -> Result<Section, InvalidSeatMap> {
        Section::new(
            SectionId::parse("A").unwrap(),
            TicketTypeId::parse("stalls").unwrap(),
            0,
            rows,
        )
    }

    #[test]
    fn seats_are_numbered_by_row() {
        let section = section(vec![row("1", &["1", "2"]), row("2", &["1"])]).unwrap();
        let labels: Vec<String> = section.labels().map(String::from).collect();
        assert_eq!(labels, ["A-1-1", "A-1-2", "A-2-1"]);
        assert_eq!(section.seat_count(), 3);
    }

    #[test]
    fn a_seat_is_found_by_its_label_and_by_its_unit() {
        let of_seat = |label: &str| Section::of_seat(&SeatLabel::parse(label).unwrap());
        assert_eq!(of_seat("A-1-2"), SectionId::parse("A").ok());
        assert_eq!(of_seat("upper-left-1-2"), SectionId::parse("upper-left").ok());

        let both = section(vec![row("1", &["1", "2"]), row("2", &["1"])]).unwrap();
        assert!(both.labels().all(|seat| both.has_seat(&seat)));
        for other in ["A-2-2", "A-3-1", "A-1-12", "B-1-1", "A-1-1-1"] {
            assert!(!both.has_seat(&SeatLabel::parse(other).unwrap()), "{other}");
        }

        let span = SectionSpan {
            first: 10,
            ..section(vec![row("1", &["1", "2"]), row("2", &["1"])]).unwrap().span()
        };
        let stalls = TicketTypeId::parse("stalls").unwrap();
        let positions = [9, 10, 12, 13].map(|index| span.position(&stalls, index));
        assert_eq!(positions, [None, Some(0), Some(2), None]);
        assert_eq!(span.position(&TicketTypeId::parse("floor").unwrap(), 10), None);
    }

    #[test]
    fn whatever_is_a_sections_id_can_have_seats() {
        for id in ["A-", "-A", "-", "a--b", "---", "_"] {
            let id = SectionId::parse(id).unwrap();
            let stalls = TicketTypeId::parse("stalls").unwrap();
            let section = Section::new(id.clone(), stalls, 0, vec![row("1", &["1", "2"])]).unwrap();
            assert_eq!(section.labels().count(), 2, "{id}");
            for seat in section.labels() {
                assert!(section.has_seat(&seat), "{seat}");
                assert_eq!(Section::of_seat(&seat), Some(id.clone()), "{seat}");
            }
        }
    }

    #[test]
    fn a_wrong_name_is_named() {
        assert_eq!(section(vec![]), Err(InvalidSeatMap::Empty));
        assert_eq!(section(vec![row("1", &[])]), Err(InvalidSeatMap::Empty));
        assert!(matches!(
            section(vec![row("1", &["1"]), row("1", &["2"])]),
            Err(InvalidSeatMap::RowTwice { at: 1, .. })
        ));
        for bad in ["1", "", "a b", "1-2", "é"] {
            assert!(
                matches!(
                    section(vec![row("1", &["1", bad])]),
                    Err(InvalidSeatMap::Seat { row_at: 0, seat_at: 1, .. })
                ),
                "{bad:?}"
            );
        }
        let many: Vec<String> = (0..=MAX_SEATS_PER_SECTION).map(|n| n.to_string()).collect();
        assert_eq!(
            section(vec![Row { row: "1".to_owned(), seats: many }]),
            Err(InvalidSeatMap::TooManySeats)
        );
    }
}
