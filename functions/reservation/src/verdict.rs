//! What the inventory's reply means for the intent: pure, and in one place.

use domain::{CustomerKey, OrderId, OrderLines, Rejection, SeatLabel, TicketTypeId};
use jiff::Timestamp;
use redis_store::{Hold, Reservation};

/// What a reply means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The units are held now.
    Held(Hold),
    /// They were held before: by an order that may be persisted since.
    Replayed(Hold),
    /// A decision: to be stored, then told.
    Refused(Rejection),
    /// The order had its hold and is done with it. What is stored is the answer;
    /// where nothing is stored, the hold has expired.
    Over,
    /// Nothing was decided and nothing is stored: the same key may be tried again.
    Undecided(Undecided),
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

/// What has to be put right before the inventory is asked again.
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
///
/// # Errors
/// When something has to be put right first.
pub fn verdict_of(reply: Reservation, lines: &OrderLines) -> Result<Verdict, Remedy> {
    let type_of = |line: usize| lines.as_slice().get(line).map(|line| line.ticket_type.clone());
    let refused = |rejection| Ok(Verdict::Refused(rejection));
    let undecided = |why| Ok(Verdict::Undecided(why));
    match reply {
        Reservation::Held(hold) => Ok(Verdict::Held(hold)),
        Reservation::Replayed(hold) => Ok(Verdict::Replayed(hold)),
        Reservation::Lapsed | Reservation::Ended => Ok(Verdict::Over),
        Reservation::SoldOut { line } => match type_of(line) {
            Some(ticket_type) => refused(Rejection::SoldOut { ticket_type }),
            None => undecided(Undecided::Unavailable),
        },
        Reservation::SeatTaken { seats, .. } => refused(Rejection::SeatTaken { seats }),
        Reservation::OverLimit { ticket_type, limit } => {
            refused(Rejection::OverLimit { ticket_type, limit })
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
        Reservation::Again => Err(Remedy::None),
        Reservation::StaleEpoch { .. } => Err(Remedy::Epoch),
        Reservation::Overdue(orders) => Err(Remedy::Overdue(orders)),
        Reservation::GrantNeeded { ticket_type, mark, ceiling } => {
            Err(Remedy::Mark { ticket_type, mark, ceiling })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Line, Wanted};

    fn lines() -> OrderLines {
        let line = |name: &str| Line {
            ticket_type: TicketTypeId::parse(name).unwrap(),
            wanted: Wanted::Quantity(1),
        };
        OrderLines::new(vec![line("stalls"), line("floor")]).unwrap()
    }

    #[test]
    fn only_sold_out_seat_taken_and_over_limit_are_decisions() {
        let floor = TicketTypeId::parse("floor").unwrap();
        let refusals = [
            (Reservation::SoldOut { line: 0 }, "sold_out"),
            (Reservation::SeatTaken { line: 0, seats: vec![] }, "seat_taken"),
            (Reservation::OverLimit { ticket_type: Some(floor.clone()), limit: 4 }, "over_limit"),
        ];
        for (reply, reason) in refusals {
            let Ok(Verdict::Refused(rejection)) = verdict_of(reply, &lines()) else {
                panic!("{reason} is a decision");
            };
            assert_eq!(rejection.reason(), reason);
        }
        let opens_at = Timestamp::UNIX_EPOCH;
        for reply in [
            Reservation::Mismatch,
            Reservation::NotFound,
            Reservation::NotOpen { opens_at },
            Reservation::Paused,
            Reservation::Closed,
            Reservation::SessionEnded,
            Reservation::TooManyOrders,
            Reservation::Unavailable,
            Reservation::Recovering,
            Reservation::UnknownType { line: 0 },
            Reservation::UnknownSeat { line: 0, seats: vec![] },
            Reservation::WrongKind { line: 0 },
        ] {
            let verdict = verdict_of(reply.clone(), &lines());
            assert!(matches!(verdict, Ok(Verdict::Undecided(_))), "{reply:?}");
        }
    }

    #[test]
    fn a_line_is_named_by_its_type_in_canonical_order() {
        let floor = TicketTypeId::parse("floor").unwrap();
        let sold_out = Verdict::Refused(Rejection::SoldOut { ticket_type: floor });
        assert_eq!(verdict_of(Reservation::SoldOut { line: 0 }, &lines()), Ok(sold_out));
        // A line that was not asked for is no answer to this order.
        let unavailable = Verdict::Undecided(Undecided::Unavailable);
        assert_eq!(verdict_of(Reservation::SoldOut { line: 7 }, &lines()), Ok(unavailable));
    }
}
