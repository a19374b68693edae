//! Capacities: how many places of general admission shall be sold.
//!
//! ```text
//! capacity = ceiling − what cuts have withdrawn
//! ```
//!
//! A ceiling only grows, as serials below it were sold. So lowering a capacity is
//! a withdrawal (a *cut*): it takes free places, and is refused where too few are
//! free. Raising it gives cuts back, then grows the ceiling. A type that was never
//! on sale simply gets another ceiling.
//!
//! A cut is named after the version it was made for and the capacity it leads to.
//! It is taken before the type says so, and given back after: whoever dies between
//! leaves places out of sale that should be in it, never the other way round, and
//! the next edit puts that right ([`balance`]).

mod cut;

use contracts::catalog::MAX_WITHDRAWAL_UNITS;
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{Event, EventId, Line, TicketKind, TicketType, Wanted};
use dynamo_store::{TicketTypeResized, TicketTypeUpdated, Withdrawal, WithdrawalState};
use lambda_kit::http::Failure;
use store_failures::OrFail;

use crate::catalogue::Catalogue;
use crate::stock;
use crate::ticket_type::{counts_of, follow_up, update};
use crate::withdrawal::{Take, Withdrawals};
pub(crate) use cut::PREFIX as CUT_PREFIX;
use cut::{Cut, Returns, plan};

/// So often another edit may come between.
const ATTEMPTS: u32 = 8;

/// Writes a type's next version with another capacity. Afterwards it wants
/// [`balance`].
pub(crate) async fn change(
    catalogue: &Catalogue,
    event: &Event,
    next: TicketType,
    capacity: u32,
) -> Result<TicketType, Failure> {
    if event.epoch.0 == 0 {
        let resized = TicketType { ceiling: capacity, capacity, ..next.clone() };
        match catalogue.store.ticket_type_resize(&event.id, &resized).await.or_fail()? {
            TicketTypeResized::Resized => return Ok(resized),
            TicketTypeResized::VersionMismatch(_) => return Err(Reason::VersionMismatch.into()),
            TicketTypeResized::Missing => return Err(Reason::UnknownTicketType.into()),
            TicketTypeResized::OnSale => {}
        }
    }
    if capacity < next.capacity {
        lower(catalogue, &event.id, next, capacity).await
    } else {
        raise(catalogue, &event.id, next, capacity).await
    }
}

async fn lower(
    catalogue: &Catalogue,
    id: &EventId,
    next: TicketType,
    capacity: u32,
) -> Result<TicketType, Failure> {
    let fewer = next.capacity.saturating_sub(capacity);
    if fewer > MAX_WITHDRAWAL_UNITS {
        let detail = Text::LoweredTooMuch { most: MAX_WITHDRAWAL_UNITS as usize };
        return Err(FieldError::new("/capacity", detail).into());
    }
    let event = stock::loaded(catalogue, id).await?;
    let cut = Cut { index: next.index, version: next.version.saturating_sub(1), capacity };
    let line = Line { ticket_type: next.id.clone(), wanted: Wanted::Quantity(fewer) };
    let withdrawals = Withdrawals::of(catalogue, &event, &next);
    match withdrawals.take(&cut.id()?, line).await? {
        Take::Taken { .. } => {}
        Take::Short(_) | Take::Other => {
            return Err(too_low(catalogue, &event, &next, capacity).await);
        }
    }
    let lowered = TicketType { capacity, ..next };
    match catalogue.store.ticket_type_update(id, &lowered).await.or_fail()? {
        TicketTypeUpdated::Updated => Ok(lowered),
        TicketTypeUpdated::VersionMismatch(current) => {
            // Not simply given back: whoever was first may have made the same cut.
            follow_up(catalogue, id, current).await?;
            Err(Reason::VersionMismatch.into())
        }
        TicketTypeUpdated::Missing => Err(Reason::UnknownTicketType.into()),
    }
}

/// More are sold or held than the capacity leaves room for: with the numbers.
async fn too_low(
    catalogue: &Catalogue,
    event: &Event,
    next: &TicketType,
    capacity: u32,
) -> Failure {
    let problem = |detail: Text| {
        let errors = vec![FieldError::new("/capacity", detail.clone())];
        Failure::from(Problem { reason: Reason::Conflict, detail: Some(detail), errors })
    };
    let Some(counts) = counts_of(catalogue, event, &next.id).await else {
        return problem(Text::BelowSoldUncounted { capacity: capacity as usize });
    };
    let lowest = next.capacity.saturating_sub(counts.remaining);
    problem(Text::BelowSold { lowest: lowest as usize, capacity: next.capacity as usize })
        .with_member("capacity", next.capacity)
        .with_member("lowest_capacity", lowest)
        .with_member("sold", counts.sold)
        .with_member("held", counts.held)
        .with_member("remaining", counts.remaining)
}

async fn raise(
    catalogue: &Catalogue,
    id: &EventId,
    next: TicketType,
    capacity: u32,
) -> Result<TicketType, Failure> {
    let raised = TicketType { capacity, ceiling: next.ceiling.max(capacity), ..next };
    let cuts = cuts_before(catalogue, id, &raised).await?;
    if ceiling_after(&cuts, &raised).is_none() {
        return Err(between_orders(&cuts, &raised));
    }
    update(catalogue, id, &raised).await?;
    Ok(raised)
}

/// The ceiling after what no order can give back alone has come from it; none: it
/// would be higher than any ceiling is.
fn ceiling_after(cuts: &[Withdrawal], ticket_type: &TicketType) -> Option<u32> {
    let missing = plan(cuts, ticket_type.ceiling, ticket_type.capacity).missing;
    let ceiling = ticket_type.ceiling.saturating_add(missing);
    (ceiling <= TicketType::MAX_CEILING).then_some(ceiling)
}

/// The ceiling can't grow, and the capacity lies between what whole orders of the
/// cuts can give back: with the next ones that can be had. The highest ceiling can,
/// as everything is given back then.
fn between_orders(cuts: &[Withdrawal], ticket_type: &TicketType) -> Failure {
    let wished = ticket_type.capacity;
    let can_be_had = |capacity: &u32| {
        let asked = TicketType { capacity: *capacity, ..ticket_type.clone() };
        ceiling_after(cuts, &asked).is_some()
    };
    let below = (0..wished).rev().find(can_be_had).unwrap_or_default();
    let above = (wished..=TicketType::MAX_CEILING).find(can_be_had);
    let above = above.unwrap_or(TicketType::MAX_CEILING);
    let detail = Text::BetweenOrders { below: below as usize, above: above as usize };
    let errors = vec![FieldError::new("/capacity", detail.clone())];
    Failure::from(Problem { reason: Reason::Conflict, detail: Some(detail), errors })
        .with_member("capacity_below", below)
        .with_member("capacity_above", above)
}

/// Makes cuts and ceiling agree with the capacity that a type was given: gives
/// back what is withdrawn beyond it. An order is given back whole or not at all,
/// so up to 39 places may have to come from the ceiling instead.
///
/// Cuts made for the version that stands now are somebody's who is about to write
/// the next one: they are left alone.
pub(crate) async fn balance(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: TicketType,
) -> Result<TicketType, Failure> {
    let event = catalogue.event(id).await?;
    if event.epoch.0 == 0 || ticket_type.kind != TicketKind::GeneralAdmission {
        return Ok(ticket_type);
    }
    let mut ticket_type = ticket_type;
    for _ in 0..ATTEMPTS {
        let cuts = cuts_before(catalogue, id, &ticket_type).await?;
        let Returns { keep, missing } = plan(&cuts, ticket_type.ceiling, ticket_type.capacity);
        if !keep.is_empty() {
            let withdrawals = Withdrawals::of(catalogue, &event, &ticket_type);
            for (cut, orders) in keep {
                withdrawals.keep(cut, orders).await?;
            }
            continue;
        }
        if missing == 0 {
            return Ok(ticket_type);
        }
        let Some(ceiling) = ceiling_after(&cuts, &ticket_type) else {
            // What an edit that died left behind was put right before the next, and a raise
            // that would come to this was refused. What is written reaches Redis all the same.
            let (kind, version) = (&ticket_type.id, ticket_type.version);
            tracing::error!(event = %id, ticket_type = %kind, version, missing, "places are missing");
            return Ok(ticket_type);
        };
        let version = ticket_type.version.saturating_add(1);
        let grown = TicketType { ceiling, version, ..ticket_type };
        match catalogue.store.ticket_type_update(id, &grown).await.or_fail()? {
            TicketTypeUpdated::Updated => return Ok(grown),
            TicketTypeUpdated::VersionMismatch(current) => ticket_type = current,
            TicketTypeUpdated::Missing => return Err(Reason::UnknownTicketType.into()),
        }
    }
    Err(Failure::new(Reason::Unavailable).with_detail(Text::TooManyEdits))
}

async fn cuts_before(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: &TicketType,
) -> Result<Vec<Withdrawal>, Failure> {
    let mut cuts = catalogue.store.withdrawals_list(id).await.or_fail()?;
    cuts.retain(|withdrawal| {
        let is_earlier = Cut::read(&withdrawal.id)
            .is_some_and(|cut| cut.index == ticket_type.index && cut.version < ticket_type.version);
        is_earlier
            && !matches!(withdrawal.state, WithdrawalState::Refused | WithdrawalState::Returned)
    });
    Ok(cuts)
}
