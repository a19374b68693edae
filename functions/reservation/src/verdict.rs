//! What the inventory's reply means for the intent: pure, and in one place.

use domain::{CustomerKey, OrderId, OrderLines, Rejection, SeatLabel, TicketTypeId};
use jiff::Timestamp;
use redis_store::{Hold, Reservation};

/// What a reply means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The units are held: now, or since an earlier try.
    Held(Hold),
    /// A decision: to be stored, then told.
    Refused(Rejection),
    /// The order had its hold and is done with it. What is stored is the answer;
    /// where nothing is stored, the hold has expired.
    Over,
    /// Nothing was decided and nothing is stored: the same key may be tried again.
    Undecided(Undecided),
    /// Something has to be put right, then the inventory is asked again.
    Again(Remedy),
}

/// Why nothing was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undecided {
    /// The key was used for another content.
    KeyReused,
    /// There is no hold of this intent, and its admission allows no new one.
    NotAdmitted,
    /// The sale has not begun.
    NotOpen {
        /// When the window does.
        opens_at: Timestamp,
    },
    /// The sale is stopped for now.
    Paused,
    /// The sale is over.
    Closed,
    /// The shopping session has ended.
    SessionEnded,
    /// The customer tried too often today.
    TooManyOrders,
    /// There is no such type.
    UnknownType(TicketTypeId),
    /// There are no such seats.
    UnknownSeats(Vec<SeatLabel>),
    /// Seats were asked of general admission, or a number of reserved seating.
    WrongKind(TicketTypeId),
    /// The inventory is missing, being built, or withholds units for now.
    Unavailable,
}

/// What has to be put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: lapsed holds were given back, and there are more of them.
    None,
    /// Another epoch is the active one: read it.
    Epoch,
    /// Serials are used up to the durable mark: raise it.
    Mark {
        /// Of this type.
        ticket_type: TicketTypeId,
        /// Where Redis has it.
        mark: u32,
        /// Where it ends.
        ceiling: u32,
    },
    /// Units belong to orders that were not paid in time: end those.
    Overdue(Vec<(CustomerKey, OrderId)>),
}

/// Reads a reply to a reservation of these lines.
#[must_use]
pub fn verdict_of(reply: Reservation, lines: &OrderLines) -> Verdict {
    let type_of = |line: usize| lines.as_slice().get(line).map(|line| line.ticket_type.clone());
    let undecided = Verdict::Undecided;
    match reply {
        Reservation::Held(hold) | Reservation::Replayed(hold) => Verdict::Held(hold),
        Reservation::Lapsed | Reservation::Ended => Verdict::Over,
        Reservation::SoldOut { line } => match type_of(line) {
            Some(ticket_type) => Verdict::Refused(Rejection::SoldOut { ticket_type }),
            None => undecided(Undecided::Unavailable),
        },
        Reservation::SeatTaken { seats, .. } => Verdict::Refused(Rejection::SeatTaken { seats }),
        Reservation::OverLimit { ticket_type, limit } => {
            Verdict::Refused(Rejection::OverLimit { ticket_type, limit })
        }
        Reservation::Mismatch => undecided(Undecided::KeyReused),
        Reservation::NotFound => undecided(Undecided::NotAdmitted),
        Reservation::NotOpen { opens_at } => undecided(Undecided::NotOpen { opens_at }),
        Reservation::Paused => undecided(Undecided::Paused),
        Reservation::Closed => undecided(Undecided::Closed),
        Reservation::SessionEnded => undecided(Undecided::SessionEnded),
        Reservation::TooManyOrders => undecided(Undecided::TooManyOrders),
        Reservation::UnknownSeat { seats, .. } => undecided(Undecided::UnknownSeats(seats)),
        Reservation::UnknownType { line } => {
            undecided(type_of(line).map_or(Undecided::Unavailable, Undecided::UnknownType))
        }
        Reservation::WrongKind { line } => {
            undecided(type_of(line).map_or(Undecided::Unavailable, Undecided::WrongKind))
        }
        Reservation::Unavailable | Reservation::Recovering => undecided(Undecided::Unavailable),
        Reservation::Again => Verdict::Again(Remedy::None),
        Reservation::StaleEpoch { .. } => Verdict::Again(Remedy::Epoch),
        Reservation::Overdue(orders) => Verdict::Again(Remedy::Overdue(orders)),
        Reservation::GrantNeeded { ticket_type, mark, ceiling } => {
            Verdict::Again(Remedy::Mark { ticket_type, mark, ceiling })
        }
    }
}
