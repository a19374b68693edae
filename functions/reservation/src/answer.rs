//! Outcomes as HTTP.

use axum::Json;
use axum::response::{IntoResponse, Response};
use contracts::orders::{OrderBody, PlaceOrderBody};
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{Event, EventId, OrderId, Rejection, SaleState};
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use jiff::Timestamp;
use lambda_kit::http::Failure;

use crate::admission::{self, NotAdmitted};
use crate::handler::PlaceOrder;
use crate::till::Outcome;
use crate::verdict::Undecided;

/// The answer to a request. Whatever may have a consequence says where to read
/// about it.
#[must_use]
pub fn response(outcome: Result<Outcome, Failure>, request: &PlaceOrder) -> Response {
    let answered = match outcome {
        Ok(Outcome::Queued(queued)) => Ok(accepted(queued.into())),
        Ok(Outcome::Decided(order)) => match &order.rejection {
            Some(rejection) => Err(refused(rejection)),
            None => Ok(accepted(order.into())),
        },
        Err(failure) => Err(failure),
    };
    let is_located = match &answered {
        Ok(_) => true,
        Err(failure) => is_about_an_order(failure.reason()),
    };
    let mut response = match answered {
        Ok(response) => response,
        Err(failure) if is_located => {
            failure.with_member("order", request.intent.order).into_response()
        }
        Err(failure) => failure.into_response(),
    };
    if let Some(location) = location(&request.intent.event, &request.intent.order)
        && is_located
    {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

fn accepted(order: OrderBody) -> Response {
    (StatusCode::ACCEPTED, Json(order)).into_response()
}

fn location(event: &EventId, order: &OrderId) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("/events/{event}/orders/{order}")).ok()
}

/// Whether there is, or may be, an order behind the refusal.
fn is_about_an_order(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::SoldOut
            | Reason::SeatTaken
            | Reason::OverLimit
            | Reason::HoldExpired
            | Reason::Recovery
            | Reason::Unprocessable
            | Reason::OutcomeUnknown
            // This request decided nothing; an earlier one with its key may have.
            | Reason::Unavailable
            | Reason::Internal
    )
}

/// A refusal that is stored: told the same way at each repeat.
fn refused(rejection: &Rejection) -> Failure {
    match rejection {
        Rejection::SoldOut { ticket_type } => {
            Failure::new(Reason::SoldOut).with_member("ticket_type", ticket_type)
        }
        Rejection::SeatTaken { seats } => {
            Failure::new(Reason::SeatTaken).with_member("seats", seats)
        }
        Rejection::OverLimit { ticket_type, limit } => {
            let failure = Failure::new(Reason::OverLimit).with_member("limit", limit);
            match ticket_type {
                Some(ticket_type) => failure.with_member("ticket_type", ticket_type),
                None => failure,
            }
        }
        Rejection::HoldExpired => Failure::new(Reason::HoldExpired),
        Rejection::Recovery => Failure::new(Reason::Recovery),
        Rejection::Unprocessable => Failure::new(Reason::Unprocessable),
    }
}

/// Why nothing was decided.
#[must_use]
pub fn undecided(why: Undecided, body: &PlaceOrderBody) -> Failure {
    let problem = |reason, errors| Failure::from(Problem { reason, detail: None, errors });
    match why {
        Undecided::KeyReused => Failure::new(Reason::KeyReused),
        Undecided::NotAdmitted => Failure::new(Reason::AdmissionInvalid),
        Undecided::NotOpen { opens_at } => not_open(opens_at),
        Undecided::Paused => Failure::new(Reason::Paused),
        Undecided::Closed => Failure::new(Reason::Closed),
        Undecided::SessionEnded => Failure::new(Reason::SessionEnded),
        Undecided::TooManyOrders => Failure::new(Reason::TooManyOrders),
        Undecided::Unavailable => Failure::new(Reason::Unavailable),
        Undecided::UnknownType(ticket_type) => {
            let pointer = body.type_pointer(&ticket_type);
            let error = FieldError::new(pointer, Text::NoType);
            problem(Reason::UnknownTicketType, vec![error])
        }
        Undecided::UnknownSeats(seats) => {
            let error = |seat| FieldError::new(body.seat_pointer(seat), Text::NoSeat);
            problem(Reason::UnknownSeat, seats.iter().map(error).collect())
        }
        Undecided::WrongKind(ticket_type) => {
            let pointer = body.units_pointer(&ticket_type);
            let detail =
                if pointer.ends_with("/seats") { Text::NoNumberedSeats } else { Text::SoldBySeat };
            Failure::from(FieldError::new(pointer, detail))
        }
    }
}

fn not_open(opens_at: Timestamp) -> Failure {
    Failure::new(Reason::NotOpen).with_member("opens_at", opens_at)
}

/// The event has no inventory because it never was on sale.
#[must_use]
pub fn never_on_sale(event: &Event, now: Timestamp) -> Failure {
    match event.state(now) {
        SaleState::Closed => Failure::new(Reason::Closed),
        SaleState::Scheduled if event.window.opens_at > now => not_open(event.window.opens_at),
        // The window is open, the operator has not opened the sale: nobody knows when.
        SaleState::Scheduled => Failure::new(Reason::NotOpen),
        // Stopped before it was opened: nobody is loading anything.
        SaleState::Paused => Failure::new(Reason::Paused),
        // The operator opened it, and its inventory is about to be there.
        SaleState::Open => Failure::new(Reason::Unavailable),
    }
}

/// No such event.
#[must_use]
pub fn unknown_event() -> Failure {
    let errors = vec![FieldError::new("path:event", Text::NoEvent)];
    Failure::from(Problem { reason: Reason::NotFound, detail: None, errors })
}

/// The token lets nobody buy here, and there is no earlier order of this key.
#[must_use]
pub fn not_admitted(why: NotAdmitted) -> Failure {
    let detail = match why {
        NotAdmitted::Missing => Text::Missing,
        NotAdmitted::Expired => Text::Expired,
        NotAdmitted::Invalid => Text::NotValid,
        NotAdmitted::Foreign => Text::Foreign,
        NotAdmitted::Unknown(cause) => return Failure::new(Reason::Unavailable).caused_by(cause),
    };
    let errors = vec![FieldError::new(format!("header:{}", admission::HEADER), detail)];
    Failure::from(Problem { reason: Reason::AdmissionInvalid, detail: None, errors })
}
