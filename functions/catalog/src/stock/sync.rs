//! Writing edits after the catalogue: first DynamoDB, then the event is read
//! again, then Redis under the epoch read.
//!
//! Nothing is missed when an inventory is loaded at the same time. A load reads
//! the catalogue after its epoch was raised and its building began. So either it
//! reads the edit, or the edit came later, and then whoever made it reads the
//! raised epoch, finds the building begun, and writes it there.

use contracts::problem::{Reason, Text};
use domain::{
    Event, EventId, Line, Section, TicketKind, TicketType, TicketTypeId, Wanted, mark_block,
};
use lambda_kit::http::Failure;
use redis_store::{SaleControl, SeatStatus, TypeControl, Written};
use store_failures::OrFail;

use super::lost;
use crate::catalogue::Catalogue;

/// So often a new epoch may come between reading and writing.
const ATTEMPTS: u32 = 3;

/// What is written.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Sale,
    Type(&'a TicketTypeId),
    Section(&'a TicketType, &'a Section),
}

/// Brings the sale in Redis up to date.
pub(crate) async fn sale(catalogue: &Catalogue, id: &EventId) -> Result<(), Failure> {
    kept(write(catalogue, id, Part::Sale).await)
}

/// Brings a type in Redis up to date with what is stored.
pub(crate) async fn ticket_type(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: &TicketTypeId,
) -> Result<(), Failure> {
    kept(write(catalogue, id, Part::Type(ticket_type)).await)
}

/// Brings a section of a type into Redis.
pub(crate) async fn section(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: &TicketType,
    section: &Section,
) -> Result<(), Failure> {
    kept(write(catalogue, id, Part::Section(ticket_type, section)).await)
}

/// Brings into Redis what a line of this type wants, for whoever is about to take it: an edit
/// may have died before Redis knew of it, and its operator never come again. Nothing is kept
/// by this.
pub(crate) async fn wanted(
    catalogue: &Catalogue,
    event: &Event,
    ticket_type: &TicketType,
    line: &Line,
) -> Result<(), Failure> {
    let seats = match &line.wanted {
        Wanted::Quantity(_) => {
            return found(write(catalogue, &event.id, Part::Type(&ticket_type.id)).await?);
        }
        Wanted::Seats(seats) => seats,
    };
    let types = std::slice::from_ref(ticket_type);
    let layout = catalogue.layouts.of(&event.id, types).await.or_fail()?;
    for section in layout.sections.iter().filter(|section| section.ticket_type == ticket_type.id) {
        let is_wanted = seats.iter().any(|seat| section.has_seat(seat));
        if is_wanted && !has_section(catalogue, event, section).await? {
            found(write(catalogue, &event.id, Part::Section(ticket_type, section)).await?)?;
        }
    }
    Ok(())
}

/// Sections are large, and are brought in parts, one after the other: so the last seat tells.
async fn has_section(
    catalogue: &Catalogue,
    event: &Event,
    section: &Section,
) -> Result<bool, Failure> {
    let Some(last) = section.labels().last() else { return Ok(true) };
    let (inventory, kind) = (&catalogue.inventory, &section.ticket_type);
    let status = inventory.seat_status(&event.id, event.epoch, kind, &last).await.or_fail()?;
    Ok(status != SeatStatus::Unknown)
}

/// After what was written is in DynamoDB for good.
fn kept(is_in_redis: Result<bool, Failure>) -> Result<(), Failure> {
    match is_in_redis {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::new(Reason::Unavailable).with_detail(Text::KeptNotApplied)),
        Err(failure) if failure.reason() == Reason::Unavailable => {
            Err(failure.with_detail(Text::KeptNotApplied))
        }
        Err(failure) => Err(failure),
    }
}

/// Before anything is written.
fn found(is_in_redis: bool) -> Result<(), Failure> {
    is_in_redis.then_some(()).ok_or_else(lost)
}

/// Whether Redis has it now, or will with what is being loaded.
async fn write(catalogue: &Catalogue, id: &EventId, part: Part<'_>) -> Result<bool, Failure> {
    let mut event = catalogue.event(id).await?;
    for _ in 0..ATTEMPTS {
        if event.epoch.0 == 0 {
            return Ok(true);
        }
        match write_under(catalogue, &event, part).await? {
            Written::Applied | Written::Ignored => return Ok(true),
            // Not built yet, or being built anew: that load reads the edit.
            Written::StaleEpoch if !event.activated => return Ok(true),
            Written::StaleEpoch => {}
        }
        let again = catalogue.event(id).await?;
        if again.epoch == event.epoch {
            break;
        }
        event = again;
    }
    Ok(false)
}

async fn write_under(
    catalogue: &Catalogue,
    event: &Event,
    part: Part<'_>,
) -> Result<Written, Failure> {
    let (inventory, id, epoch) = (&catalogue.inventory, &event.id, event.epoch);
    match part {
        Part::Sale => inventory.sale_set(id, epoch, &sale_control(event)).await.or_fail(),
        Part::Type(ticket_type) => {
            let read = settled_types(catalogue, id, std::slice::from_ref(ticket_type)).await?;
            let ticket_type = read.first().ok_or(Reason::UnknownTicketType)?;
            let control = type_control(catalogue, id, ticket_type).await?;
            inventory.type_set(id, epoch, &control).await.or_fail()
        }
        Part::Section(ticket_type, section) => {
            let control = type_control(catalogue, id, ticket_type).await?;
            if inventory.type_set(id, epoch, &control).await.or_fail()? == Written::StaleEpoch {
                return Ok(Written::StaleEpoch);
            }
            let seats: Vec<_> = section.labels().collect();
            let (kind, first) = (&section.ticket_type, section.first);
            inventory.seats_add(id, epoch, kind, first, &seats).await.or_fail()
        }
    }
}

/// Types as Redis may hear of them once an epoch was read: before there was one a ceiling may
/// have sunk again; since then it only grows, and Redis never takes one back.
pub(super) async fn settled_types(
    catalogue: &Catalogue,
    id: &EventId,
    types: &[TicketTypeId],
) -> Result<Vec<TicketType>, Failure> {
    catalogue.store.ticket_types_settled(id, types).await.or_fail()
}

/// The sale of an event, as the till needs it.
pub(super) fn sale_control(event: &Event) -> SaleControl {
    SaleControl {
        switch: event.switch,
        window: event.window,
        limit_per_customer: event.limit_per_customer,
        version: event.version,
    }
}

/// A type, as the till needs it. The first block of general admission serials is
/// granted durably before Redis may issue any.
pub(super) async fn type_control(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: &TicketType,
) -> Result<TypeControl, Failure> {
    let mark = match ticket_type.kind {
        TicketKind::GeneralAdmission => {
            let first = mark_block(ticket_type.ceiling).min(ticket_type.ceiling);
            catalogue.store.mark_raise(id, &ticket_type.id, first).await.or_fail()?
        }
        TicketKind::ReservedSeating => 0,
    };
    Ok(TypeControl {
        id: ticket_type.id.clone(),
        index: ticket_type.index,
        kind: ticket_type.kind,
        amount: ticket_type.price.amount,
        version: ticket_type.version,
        limit_per_customer: ticket_type.limit_per_customer,
        ceiling: match ticket_type.kind {
            TicketKind::GeneralAdmission => ticket_type.ceiling,
            // It grows with the seats.
            TicketKind::ReservedSeating => 0,
        },
        mark,
    })
}
