//! Withdrawals: units an operator takes out of sale.

use std::collections::HashSet;

use domain::{Line, SeatLabel, TicketTypeId, Wanted, WithdrawalId};
use serde::{Deserialize, Serialize};

use super::{Faults, given};
use crate::problem::{FieldError, Text};

/// The most units one withdrawal can have: they are taken 40 at a time, and all
/// of them within one request.
pub const MAX_WITHDRAWAL_UNITS: u32 = 2_000;

/// Body of `PUT /events/{event}/withdrawals/{id}`: either a quantity or seats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalEdit {
    /// The ticket type.
    pub ticket_type: TicketTypeId,
    /// How many places; beside `seats`, their number.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub quantity: Option<u32>,
    /// Which seats.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub seats: Option<Vec<SeatLabel>>,
}

impl WithdrawalEdit {
    /// What is wanted, its seats sorted.
    ///
    /// # Errors
    /// Every field that is wrong.
    pub fn parse(&self) -> Result<Line, Vec<FieldError>> {
        let mut faults = Faults::default();
        let wanted = match (self.quantity, &self.seats) {
            (None, None) => {
                faults.add("", Text::QuantityOrSeats);
                Wanted::Quantity(0)
            }
            (Some(quantity), None) => {
                check_size(&mut faults, "/quantity", quantity as usize);
                Wanted::Quantity(quantity)
            }
            (quantity, Some(seats)) => {
                if quantity.is_some_and(|quantity| quantity as usize != seats.len()) {
                    faults.add("/quantity", Text::OtherCount { seats: seats.len() });
                }
                check_size(&mut faults, "/seats", seats.len());
                check_twice(&mut faults, seats);
                let mut seats = seats.clone();
                seats.sort();
                Wanted::Seats(seats)
            }
        };
        faults.or(Line { ticket_type: self.ticket_type.clone(), wanted })
    }

    /// Where the body names a seat.
    #[must_use]
    pub fn seat_pointer(&self, seat: &SeatLabel) -> String {
        match self.seats.iter().flatten().position(|named| named == seat) {
            Some(at) => format!("/seats/{at}"),
            None => "/seats".to_owned(),
        }
    }

    /// The field that says how many or which.
    #[must_use]
    pub fn wanted_pointer(&self) -> &'static str {
        if self.seats.is_some() { "/seats" } else { "/quantity" }
    }
}

fn check_size(faults: &mut Faults, pointer: &str, units: usize) {
    let max = MAX_WITHDRAWAL_UNITS as usize;
    if !(1..=max).contains(&units) {
        faults.add(pointer, Text::WithdrawalSize { most: max });
    }
}

fn check_twice(faults: &mut Faults, seats: &[SeatLabel]) {
    let mut named = HashSet::new();
    for (at, seat) in seats.iter().enumerate() {
        if !named.insert(seat) {
            faults.add(&format!("/seats/{at}"), Text::NamedTwice);
        }
    }
}

/// A withdrawal as operators read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawalBody {
    /// Its id.
    pub id: WithdrawalId,
    /// The ticket type.
    pub ticket_type: TicketTypeId,
    /// How many units.
    pub quantity: u32,
    /// Which seats, sorted; none for places of general admission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<Vec<SeatLabel>>,
    /// How far it is.
    pub state: WithdrawalStateBody,
}

/// How far a withdrawal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalStateBody {
    /// Its units are out of sale.
    Taken,
}

impl WithdrawalBody {
    /// A withdrawal that has its units.
    #[must_use]
    pub fn taken(id: &WithdrawalId, line: &Line) -> Self {
        let seats = match &line.wanted {
            Wanted::Seats(seats) => Some(seats.clone()),
            Wanted::Quantity(_) => None,
        };
        Self {
            id: id.clone(),
            ticket_type: line.ticket_type.clone(),
            quantity: u32::try_from(line.count()).unwrap_or(u32::MAX),
            seats,
            state: WithdrawalStateBody::Taken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parse(body: Value) -> Result<Line, Vec<String>> {
        let edit: WithdrawalEdit = serde_json::from_value(body).unwrap();
        edit.parse().map_err(|faults| faults.into_iter().map(|fault| fault.pointer).collect())
    }

    #[test]
    fn it_is_either_a_quantity_or_seats() {
        let line = parse(json!({"ticket_type": "t", "quantity": 2_000})).unwrap();
        assert_eq!(line.count(), 2_000);
        let line = parse(json!({"ticket_type": "t", "seats": ["A-1-2", "A-1-1"]})).unwrap();
        let sorted = ["A-1-1", "A-1-2"].map(|label| SeatLabel::parse(label).unwrap());
        assert_eq!(line.wanted, Wanted::Seats(sorted.to_vec()));
        assert_eq!(parse(json!({"ticket_type": "t"})), Err(vec![String::new()]));
    }

    #[test]
    fn sizes_and_repetitions_are_named() {
        for quantity in [0, 2_001, u32::MAX] {
            let body = json!({"ticket_type": "t", "quantity": quantity});
            assert_eq!(parse(body), Err(vec!["/quantity".to_owned()]));
        }
        let body = json!({"ticket_type": "t", "seats": []});
        assert_eq!(parse(body), Err(vec!["/seats".to_owned()]));
        let body = json!({"ticket_type": "t", "seats": ["A-1-1", "A-1-1"], "quantity": 1});
        assert_eq!(parse(body), Err(vec!["/quantity".to_owned(), "/seats/1".to_owned()]));
    }

    #[test]
    fn what_is_said_about_a_withdrawal_points_to_where_it_was_sent() {
        let edit = |body| serde_json::from_value::<WithdrawalEdit>(body).unwrap();
        let seats = edit(json!({"ticket_type": "t", "seats": ["A-1-1", "A-1-2"]}));
        let seat = |label| SeatLabel::parse(label).unwrap();
        assert_eq!(seats.seat_pointer(&seat("A-1-2")), "/seats/1");
        assert_eq!(seats.seat_pointer(&seat("A-1-3")), "/seats");
        assert_eq!(seats.wanted_pointer(), "/seats");
        assert_eq!(edit(json!({"ticket_type": "t", "quantity": 1})).wanted_pointer(), "/quantity");
    }
}
