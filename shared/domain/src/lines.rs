//! What a customer asks for: lines of ticket types, checked and in one
//! canonical order.

use crate::ids::{SeatLabel, TicketTypeId};

/// A DynamoDB transaction has at most 100 items; an order with 40 units keeps
/// room for its own item, its payment and the release of other orders' units.
pub const MAX_UNITS_PER_ORDER: usize = 40;

/// What is wanted of a ticket type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// So many places of general admission.
    Quantity(u32),
    /// These seats, sorted.
    Seats(Vec<SeatLabel>),
}

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The ticket type.
    pub ticket_type: TicketTypeId,
    /// How many or which.
    pub wanted: Wanted,
}

impl Line {
    /// How many units the line asks for.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.wanted {
            Wanted::Quantity(quantity) => *quantity as usize,
            Wanted::Seats(seats) => seats.len(),
        }
    }
}

/// What is wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// Asks for nothing.
    #[error("must ask for at least one")]
    Empty,
    /// A seat that stands in the list before.
    #[error("seat {0} is named twice")]
    SeatTwice(SeatLabel),
    /// A type that another line has.
    #[error("another line has this ticket type; put them together")]
    TypeTwice,
}

/// Why lines are no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLines {
    /// No line at all.
    #[error("must hold at least one line")]
    None,
    /// More units than one order can have.
    #[error("an order has at most {MAX_UNITS_PER_ORDER} tickets")]
    TooManyUnits,
    /// One line is wrong; the number is its position as given.
    #[error("{1}")]
    Line(usize, LineProblem),
}

/// The lines of an order: at least one, at most 40 units, each type once, each
/// seat once, in canonical order. Nothing re-checks them further in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderLines(Vec<Line>);

impl OrderLines {
    /// Checks the lines and puts them in canonical order.
    ///
    /// # Errors
    /// When they are no order; the first fault is named.
    pub fn new(mut lines: Vec<Line>) -> Result<Self, InvalidLines> {
        if lines.is_empty() {
            return Err(InvalidLines::None);
        }
        if lines.len() > MAX_UNITS_PER_ORDER {
            return Err(InvalidLines::TooManyUnits);
        }
        let mut units = 0usize;
        for at in 0..lines.len() {
            if lines[..at].iter().any(|before| before.ticket_type == lines[at].ticket_type) {
                return Err(InvalidLines::Line(at, LineProblem::TypeTwice));
            }
            if lines[at].count() == 0 {
                return Err(InvalidLines::Line(at, LineProblem::Empty));
            }
            units = units.saturating_add(lines[at].count());
            if let Wanted::Seats(seats) = &mut lines[at].wanted {
                seats.sort();
                if let Some(pair) = seats.windows(2).find(|pair| pair[0] == pair[1]) {
                    let twice = LineProblem::SeatTwice(pair[0].clone());
                    return Err(InvalidLines::Line(at, twice));
                }
            }
        }
        if units > MAX_UNITS_PER_ORDER {
            return Err(InvalidLines::TooManyUnits);
        }
        lines.sort_by(|a, b| a.ticket_type.cmp(&b.ticket_type));
        Ok(Self(lines))
    }

    /// The lines in canonical order.
    pub fn iter(&self) -> std::slice::Iter<'_, Line> {
        self.0.iter()
    }

    /// The lines in canonical order.
    #[must_use]
    pub fn as_slice(&self) -> &[Line] {
        &self.0
    }

    /// How many units the order asks for.
    #[must_use]
    pub fn unit_count(&self) -> usize {
        self.0.iter().map(Line::count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fingerprint;

    fn places(ticket_type: &str, quantity: u32) -> Line {
        Line {
            ticket_type: TicketTypeId::parse(ticket_type).unwrap(),
            wanted: Wanted::Quantity(quantity),
        }
    }

    fn seats(ticket_type: &str, labels: &[&str]) -> Line {
        Line {
            ticket_type: TicketTypeId::parse(ticket_type).unwrap(),
            wanted: Wanted::Seats(labels.iter().map(|l| SeatLabel::parse(l).unwrap()).collect()),
        }
    }

    #[test]
    fn the_same_wish_in_another_order_is_the_same_wish() {
        let one = OrderLines::new(vec![places("floor", 2), seats("stalls", &["A-1-1", "A-1-2"])])
            .unwrap();
        let two = OrderLines::new(vec![seats("stalls", &["A-1-2", "A-1-1"]), places("floor", 2)])
            .unwrap();
        assert_eq!(one, two);
        assert_eq!(Fingerprint::v1(&one), Fingerprint::v1(&two));
        let other = OrderLines::new(vec![places("floor", 3)]).unwrap();
        assert_ne!(Fingerprint::v1(&one), Fingerprint::v1(&other));
    }

    #[test]
    fn lines_are_sorted_and_their_units_counted() {
        let lines = OrderLines::new(vec![seats("stalls", &["A-1-1", "A-1-2"]), places("floor", 3)])
            .unwrap();
        assert_eq!(lines.as_slice(), [places("floor", 3), seats("stalls", &["A-1-1", "A-1-2"])]);
        assert_eq!(lines.unit_count(), 5);
    }

    #[test]
    fn the_fingerprint_of_version_1_never_changes() {
        let lines = OrderLines::new(vec![places("floor", 2), seats("stalls", &["A-1-1"])]).unwrap();
        let hex = Fingerprint::v1(&lines).to_hex();
        assert_eq!(Fingerprint::from_hex(&hex), Some(Fingerprint::v1(&lines)));
        assert_eq!(hex, "ca7a1def1ba4e3d9afd44cf3d638e5b403bc8b6bf0a9b312511c50a6a2c92e3f");
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(OrderLines::new(vec![]), Err(InvalidLines::None));
        assert_eq!(
            OrderLines::new(vec![places("a", 1), places("b", 0)]),
            Err(InvalidLines::Line(1, LineProblem::Empty))
        );
        assert_eq!(
            OrderLines::new(vec![places("a", 1), places("a", 1)]),
            Err(InvalidLines::Line(1, LineProblem::TypeTwice))
        );
        assert_eq!(
            OrderLines::new(vec![seats("a", &["A-1-1", "A-1-2", "A-1-1"])]),
            Err(InvalidLines::Line(0, LineProblem::SeatTwice(SeatLabel::parse("A-1-1").unwrap())))
        );
        assert_eq!(OrderLines::new(vec![places("a", 41)]), Err(InvalidLines::TooManyUnits));
        assert_eq!(
            OrderLines::new(vec![places("a", u32::MAX), places("b", u32::MAX)]),
            Err(InvalidLines::TooManyUnits)
        );
        assert!(OrderLines::new(vec![places("a", 40)]).is_ok());
    }
}
