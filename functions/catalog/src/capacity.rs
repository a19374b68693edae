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
//! A cut is named after the version it was made for and the capacity it leads to. It is
//! taken first; then the type gets its capacity and the cut begins to count, in one
//! transaction. A raise writes the capacity and what cuts keep in one transaction as well,
//! and gives back the rest after it ([`finish`]). So the cuts that count are always
//! ceiling − capacity, and whoever dies in between leaves places out of sale that should be
//! in it, never the other way round: the next edit that changes the type puts that right. (A
//! cut that does not count yet may be somebody's who is about to write its capacity: so an
//! edit that changes nothing leaves it alone. It makes room for another one of the same version
//! that finds too few places, where that is enough.)

mod cut;

use contracts::catalog::MAX_WITHDRAWAL_UNITS;
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{Event, EventId, Line, TicketKind, TicketType, Wanted};
use dynamo_store::{CapacityWritten, CatalogStore, TicketTypeResized, Withdrawal, WithdrawalState};
use lambda_kit::http::Failure;
use redis_store::TypeCounts;
use store_failures::OrFail;

use crate::catalogue::Catalogue;
use crate::stock::{self, sync};
use crate::ticket_type::counts_of;
use crate::withdrawal::{Take, Withdrawals};
pub(crate) use cut::PREFIX as CUT_PREFIX;
use cut::{Cut, Returns, plan};

/// So often another edit may come between.
const ATTEMPTS: u32 = 8;
/// So often room is made for places.
const ROUNDS: u32 = 2;

/// Writes a type's next version with another capacity. Afterwards it wants [`finish`].
pub(crate) async fn change(
    catalogue: &Catalogue,
    event: &Event,
    next: TicketType,
    capacity: u32,
) -> Result<TicketType, Failure> {
    if event.epoch.0 == 0 {
        let partitions = TicketType::partitions_for(next.kind, capacity);
        let resized = TicketType { ceiling: capacity, capacity, partitions, ..next.clone() };
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
    sync::wanted(catalogue, &event, &next, &line).await?;
    take_places(catalogue, &event, &next, &cut, line).await?;
    let lowered = TicketType { capacity, ..next };
    for _ in 0..ATTEMPTS {
        let counted = match catalogue.store.withdrawal_fetch(id, &cut.id()?).await.or_fail()? {
            Some(cut) if cut.state == WithdrawalState::Taken => vec![cut::counted(&cut)],
            // By another request, together with the version that this one would write.
            Some(cut) if cut.state == WithdrawalState::Counted => Vec::new(),
            // It came too late to count, or made room, and is given back.
            Some(_) | None => return Err(Reason::VersionMismatch.into()),
        };
        match catalogue.store.capacity_write(id, &lowered, &counted).await.or_fail()? {
            CapacityWritten::Written => return Ok(lowered),
            CapacityWritten::VersionMismatch(current) => {
                // Not simply given back: whoever was first may have made the same cut.
                finish(catalogue, id, &current).await?;
                return Err(Reason::VersionMismatch.into());
            }
            CapacityWritten::Contended => {}
            CapacityWritten::Missing => return Err(Reason::UnknownTicketType.into()),
        }
    }
    Err(too_many_edits())
}

/// Takes the places of a cut. Where too few are free others may be in the way, who come and
/// go: so it is tried again as long as there can be enough.
async fn take_places(
    catalogue: &Catalogue,
    event: &Event,
    next: &TicketType,
    cut: &Cut,
    line: Line,
) -> Result<(), Failure> {
    let withdrawals = Withdrawals::of(catalogue, event);
    let mut rounds = 0..ROUNDS;
    loop {
        if let Take::Taken { .. } = withdrawals.take(&cut.id()?, line.clone()).await? {
            return Ok(());
        }
        rounds.next().ok_or_else(too_many_edits)?;
        make_room(catalogue, event, next, cut, line.count()).await?;
    }
}

/// Another edit may have been first; or some that broke off, or are as far as this one, have
/// taken places: of those for one version only one can count. What was taken in part is given
/// back, and what was taken whole where there are enough places then. That there are too few
/// is said only where nobody's cut changed while they were counted.
async fn make_room(
    catalogue: &Catalogue,
    event: &Event,
    next: &TicketType,
    wanted: &Cut,
    places: usize,
) -> Result<(), Failure> {
    let (id, withdrawals) = (&event.id, Withdrawals::of(catalogue, event));
    let is_in_part = |cut: &&Withdrawal| cut.state != WithdrawalState::Taken;
    let cuts = cuts_of(catalogue, id, next).await?;
    for rival in cuts.iter().filter(|cut| wanted.is_rival_of(cut)).filter(is_in_part) {
        withdrawals.give_back_as_read(rival).await?;
    }
    let cuts = cuts_of(catalogue, id, next).await?;
    // Read after them: while the version is the same, none of them came to count by it.
    let current = catalogue.store.ticket_type_fetch(id, &next.id).await.or_fail()?;
    let current = current.ok_or(Reason::UnknownTicketType)?;
    if current.version != wanted.version {
        finish(catalogue, id, &current).await?;
        return Err(Reason::VersionMismatch.into());
    }
    let rivals: Vec<_> = cuts.iter().filter(|cut| wanted.is_rival_of(cut)).collect();
    let theirs: usize = rivals.iter().flat_map(|rival| &rival.lines).map(Line::count).sum();
    let counts = counts_of(catalogue, event, &next.id).await?;
    if counts.remaining as usize + theirs < places {
        let is_moving = |cut: &Withdrawal| {
            let state = cut.state;
            [WithdrawalState::Taking, WithdrawalState::Returning].contains(&state)
        };
        let is_quiet = !cuts.iter().any(is_moving) && !has_own(&cuts, wanted);
        return match is_quiet && cuts_of(catalogue, id, next).await? == cuts {
            true => Err(too_low(next, &counts, theirs)),
            false => Ok(()),
        };
    }
    for rival in rivals {
        withdrawals.give_back_as_read(rival).await?;
    }
    Ok(())
}

/// Whether the same edit, sent twice, has taken the cut.
fn has_own(cuts: &[Withdrawal], wanted: &Cut) -> bool {
    let is_own = |cut: &&Withdrawal| Cut::read(&cut.id).as_ref() == Some(wanted);
    cuts.iter().filter(is_own).any(|cut| cut.state == WithdrawalState::Taken)
}

/// More are sold or held than the capacity leaves room for: with the numbers. What other
/// edits have taken for now could still be had.
fn too_low(next: &TicketType, counts: &TypeCounts, taken_for_now: usize) -> Failure {
    let can_be_had = counts.remaining as usize + taken_for_now;
    let lowest = (next.capacity as usize).saturating_sub(can_be_had);
    let detail = Text::BelowSold { lowest, capacity: next.capacity as usize };
    let errors = vec![FieldError::new("/capacity", detail.clone())];
    Failure::from(Problem { reason: Reason::Conflict, detail: Some(detail), errors })
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
    for _ in 0..ATTEMPTS {
        // [`finish`] came before: a cut that counts and is read as one that does not (the list
        // is read beside the transaction that made it so) was met there.
        let cuts = cuts_of(catalogue, id, &raised).await?;
        let Some(ceiling) = ceiling_after(&cuts, &raised) else {
            return Err(between_orders(&cuts, &raised));
        };
        let Returns { keep, .. } = plan(&cuts, raised.ceiling, capacity);
        if keep.len() > CatalogStore::MOST_WITHDRAWALS {
            return Err(FieldError::new("/capacity", Text::RaisedTooMuch).into());
        }
        let kept: Vec<Withdrawal> =
            keep.into_iter().map(|(cut, orders)| cut::keeping(cut, orders)).collect();
        let raised = TicketType { ceiling, ..raised.clone() };
        match catalogue.store.capacity_write(id, &raised, &kept).await.or_fail()? {
            CapacityWritten::Written => return Ok(raised),
            CapacityWritten::VersionMismatch(_) => return Err(Reason::VersionMismatch.into()),
            CapacityWritten::Contended => {}
            CapacityWritten::Missing => return Err(Reason::UnknownTicketType.into()),
        }
    }
    Err(too_many_edits())
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

/// Gives back what edits left withdrawn that their type's capacity does not want so: what
/// a raise said it would give back, and cuts that came too late to count. Again is fine.
///
/// Cuts made for the version that stands now are somebody's who is about to write
/// the next one: they are left alone, but for what is being returned of them.
pub(crate) async fn finish(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: &TicketType,
) -> Result<(), Failure> {
    let event = catalogue.event(id).await?;
    if event.epoch.0 == 0 || ticket_type.kind != TicketKind::GeneralAdmission {
        return Ok(());
    }
    let withdrawals = Withdrawals::of(catalogue, &event);
    for cut in cuts_of(catalogue, id, ticket_type).await? {
        let is_late = Cut::read(&cut.id).is_some_and(|cut| cut.version < ticket_type.version);
        match cut.state {
            WithdrawalState::Counted => withdrawals.trim(&cut).await?,
            // For ever, whatever has become of it meanwhile.
            WithdrawalState::Taking | WithdrawalState::Taken | WithdrawalState::Returning
                if is_late =>
            {
                withdrawals.give_back(&cut.id).await?;
            }
            // Its owner may have begun anew meanwhile.
            WithdrawalState::Returning => withdrawals.give_back_as_read(&cut).await?,
            WithdrawalState::Taking | WithdrawalState::Taken => {}
            WithdrawalState::Refused | WithdrawalState::Returned => {}
        }
    }
    Ok(())
}

async fn cuts_of(
    catalogue: &Catalogue,
    id: &EventId,
    ticket_type: &TicketType,
) -> Result<Vec<Withdrawal>, Failure> {
    let mut cuts = catalogue.store.withdrawals_list(id).await.or_fail()?;
    cuts.retain(|cut| Cut::read(&cut.id).is_some_and(|cut| cut.index == ticket_type.index));
    Ok(cuts)
}

fn too_many_edits() -> Failure {
    Failure::new(Reason::Unavailable).with_detail(Text::TooManyEdits)
}
