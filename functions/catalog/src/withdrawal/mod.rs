//! Withdrawals: seats or places an operator takes out of sale, and gives back.

mod chunk;
mod ledger;

pub(crate) use ledger::{Take, Withdrawals};

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use contracts::catalog::{WithdrawalBody, WithdrawalEdit};
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{Event, EventId, TicketKind, TicketType, WithdrawalId};
use http::StatusCode;
use lambda_kit::http::{Answer, Failure, JsonBody, Operator, PathId};
use store_failures::OrFail;

use crate::answer::invalid;
use crate::capacity::CUT_PREFIX;
use crate::catalogue::Catalogue;
use crate::stock::{self, sync};
use crate::ticket_type::counts_of;
use chunk::Shortage;

/// `PUT /events/{event}/withdrawals/{withdrawal}`
pub(crate) async fn write(
    State(catalogue): State<Arc<Catalogue>>,
    _: Operator,
    PathId(id): PathId<EventId>,
    PathId(withdrawal): PathId<WithdrawalId>,
    JsonBody(edit): JsonBody<WithdrawalEdit>,
) -> Answer {
    let line = edit.parse().map_err(invalid)?;
    check_name(&withdrawal)?;
    catalogue.event(&id).await?;
    let ticket_type = known_type(&catalogue, &id, &edit).await?;
    check_seats(&catalogue, &id, &ticket_type, &edit).await?;
    let event = stock::loaded(&catalogue, &id).await?;
    sync::wanted(&catalogue, &event, &ticket_type, &line).await?;
    let withdrawals = Withdrawals::of(&catalogue, &event);
    match withdrawals.take(&withdrawal, line.clone()).await? {
        Take::Taken { now } => {
            let status = if now { StatusCode::CREATED } else { StatusCode::OK };
            Ok((status, Json(WithdrawalBody::taken(&withdrawal, &line))).into_response())
        }
        Take::Other => Err(Failure::new(Reason::Conflict).with_detail(Text::WithdrawalExists)),
        Take::Short(shortage) => Err(short(&catalogue, &event, &edit, shortage).await),
    }
}

/// `DELETE /events/{event}/withdrawals/{withdrawal}`
pub(crate) async fn remove(
    State(catalogue): State<Arc<Catalogue>>,
    _: Operator,
    PathId(id): PathId<EventId>,
    PathId(withdrawal): PathId<WithdrawalId>,
) -> Answer {
    check_name(&withdrawal)?;
    let event = catalogue.event(&id).await?;
    match Withdrawals::of(&catalogue, &event).give_back(&withdrawal).await? {
        true => Ok(StatusCode::NO_CONTENT.into_response()),
        false => Err(Failure::new(Reason::NotFound).with_detail(Text::NoWithdrawal)),
    }
}

/// Names of cuts are taken: giving one back would raise a capacity unseen.
fn check_name(id: &WithdrawalId) -> Result<(), Failure> {
    if id.as_str().starts_with(CUT_PREFIX) {
        let detail = Text::CutName { prefix: CUT_PREFIX };
        return Err(FieldError::new("path:withdrawal", detail).into());
    }
    Ok(())
}

async fn known_type(
    catalogue: &Catalogue,
    id: &EventId,
    edit: &WithdrawalEdit,
) -> Result<TicketType, Failure> {
    let read = catalogue.store.ticket_type_fetch(id, &edit.ticket_type).await.or_fail()?;
    let ticket_type = read.ok_or_else(|| {
        let errors = vec![FieldError::new("/ticket_type", Text::NoType)];
        Failure::from(Problem { reason: Reason::UnknownTicketType, detail: None, errors })
    })?;
    let detail = match (ticket_type.kind, edit.seats.is_some()) {
        (TicketKind::GeneralAdmission, true) => Text::NoNumberedSeats,
        (TicketKind::ReservedSeating, false) => Text::SoldBySeat,
        (TicketKind::GeneralAdmission, false) | (TicketKind::ReservedSeating, true) => {
            return Ok(ticket_type);
        }
    };
    Err(FieldError::new(edit.wanted_pointer(), detail).into())
}

async fn check_seats(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: &TicketType,
    edit: &WithdrawalEdit,
) -> Result<(), Failure> {
    let Some(seats) = &edit.seats else { return Ok(()) };
    let types = std::slice::from_ref(ticket_type);
    let layout = catalogue.layouts.of(id, types).await.or_fail()?;
    let known = layout.seats_of(&ticket_type.id);
    let unknown: Vec<FieldError> = seats
        .iter()
        .filter(|seat| !known.contains(*seat))
        .map(|seat| FieldError::new(edit.seat_pointer(seat), Text::NoSeatOfType))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Problem { reason: Reason::UnknownSeat, detail: None, errors: unknown }.into())
}

/// The units can't be had: with the numbers, or the seats.
async fn short(
    catalogue: &Catalogue,
    event: &Event,
    edit: &WithdrawalEdit,
    shortage: Shortage,
) -> Failure {
    match shortage {
        Shortage::Undone => Failure::new(Reason::Conflict).with_detail(Text::WithdrawalUndone),
        Shortage::Seats(seats) => {
            let errors =
                seats.iter().map(|seat| FieldError::new(edit.seat_pointer(seat), Text::NotFree));
            let errors = errors.collect();
            Failure::from(Problem { reason: Reason::SeatTaken, detail: None, errors })
                .with_member("seats", seats)
        }
        Shortage::SoldOut => {
            match counts_of(catalogue, event, &edit.ticket_type).await {
                // Redis is gone since it said so.
                Err(failure) => failure,
                Ok(counts) => Failure::new(Reason::SoldOut)
                    .with_detail(Text::StillToBeHad { remaining: counts.remaining as usize })
                    .with_member("remaining", counts.remaining)
                    .with_member("sold", counts.sold)
                    .with_member("held", counts.held)
                    .with_member("withdrawn", counts.withdrawn),
            }
        }
    }
}
