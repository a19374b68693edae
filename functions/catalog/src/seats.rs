//! What watchers read: a snapshot of all seats, changes since then, one seat.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use contracts::problem::{FieldError, Problem, Reason, Text};
use contracts::seats::{
    LockStatus, LockStatusBody, RemainingBody, SeatChangesBody, SeatsBody, SectionStates,
};
use domain::{Event, EventId, LogPosition, SeatLabel, TicketType, TicketTypeId, is_fresh};
use dynamo_store::Consistency;
use http::{HeaderMap, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::clock;
use lambda_kit::http::{Answer, Failure, PathId, QueryParams, etag};
use redis_store::{SeatRange, SeatStatus, TypeCounts};
use seat_log::{Heard, SeatLogError};
use store_failures::OrFail;

use crate::answer::tag_of;
use crate::catalogue::{Catalogue, unknown_event};
use crate::layout::Layout;
use crate::stock::lost;

/// A seat map lives: a second is what a watcher is behind at most anyway.
const KEEP: &str = "public, max-age=1";
/// Half of a tick: a snapshot is read once for all who ask at the same time.
pub(crate) const SNAPSHOT_AGE: SignedDuration = SignedDuration::from_millis(500);
/// Snapshots that are kept at once.
const MOST_SNAPSHOTS: usize = 100;

/// `GET /events/{event}/seats`
pub(crate) async fn snapshot(
    State(catalogue): State<Arc<Catalogue>>,
    PathId(id): PathId<EventId>,
    headers: HeaderMap,
) -> Answer {
    let now = clock::now();
    if let Some((tag, body)) = catalogue.snapshots.recent(&id, now, catalogue.snapshot_age) {
        return Ok(etag::readable(&headers, tag, KEEP, Json(&*body)));
    }
    let body = Arc::new(take_snapshot(&catalogue, &id).await?);
    let tag = tag_of(&*body);
    catalogue.snapshots.keep(&id, now, &tag, &body);
    Ok(etag::readable(&headers, tag, KEEP, Json(&*body)))
}

async fn take_snapshot(catalogue: &Catalogue, id: &EventId) -> Result<SeatsBody, Failure> {
    let event = known_event(catalogue, id).await?;
    let types = catalogue.store.ticket_types_list(id, Consistency::Eventual).await.or_fail()?;
    let layout = catalogue.layouts.of(id, &types).await.or_fail()?;
    if !event.activated {
        if !layout.covers(&types) {
            // A section is being added this very moment: its type says so, the hall not yet.
            return Err(Failure::new(Reason::Unavailable).with_detail(Text::NotLoadedYet));
        }
        return Ok(before_the_first_sale(id, &layout, &types));
    }
    if let Some(body) = read_snapshot(catalogue, &event, &layout, &types).await? {
        return Ok(body);
    }
    let event = renewed_event(catalogue, id).await?;
    read_snapshot(catalogue, &event, &layout, &types).await?.ok_or_else(lost)
}

/// Nobody has anything: there is no inventory yet to ask.
fn before_the_first_sale(id: &EventId, layout: &Layout, types: &[TicketType]) -> SeatsBody {
    let all_free = layout.spans().iter().map(|span| SectionStates::pack(span, [])).collect();
    let remaining = types.iter().map(|ticket_type| RemainingBody {
        ticket_type: ticket_type.id.clone(),
        remaining: ticket_type.capacity,
    });
    let position = LogPosition::before_the_first_sale(types);
    SeatsBody {
        event: id.clone(),
        epoch: position.epoch,
        sequence: position.sequence,
        seat_map_version: layout.version(),
        sections: all_free,
        ticket_types: remaining.collect(),
    }
}

/// From the inventory; none: it is of another epoch, or gone. Whoever has it never
/// asks for what came before, so a section that the inventory has may not be
/// missing: the hall was read before it was added, or by a read that lags.
async fn read_snapshot(
    catalogue: &Catalogue,
    event: &Event,
    layout: &Layout,
    types: &[TicketType],
) -> Result<Option<SeatsBody>, Failure> {
    let read = snapshot_of(catalogue, event, layout).await?;
    let Some((first, counts)) = read else { return Ok(None) };
    if layout.has_all(types, &counts) {
        return Ok(Some(first));
    }
    // The catalogue is written before the inventory, so it has now what the inventory
    // had then. What is added meanwhile is told to who asks for what came since then.
    let types =
        catalogue.store.ticket_types_list(&event.id, Consistency::Strong).await.or_fail()?;
    let layout = catalogue.layouts.of(&event.id, &types).await.or_fail()?;
    if !layout.has_all(&types, &counts) {
        tracing::error!(event = %event.id, "the inventory has seats that no section has");
    }
    let read = snapshot_of(catalogue, event, &layout).await?;
    Ok(read.map(|(second, _)| SeatsBody { sequence: first.sequence, ..second }))
}

async fn snapshot_of(
    catalogue: &Catalogue,
    event: &Event,
    layout: &Layout,
) -> Result<Option<(SeatsBody, Vec<TypeCounts>)>, Failure> {
    let (inventory, id, epoch) = (&catalogue.inventory, &event.id, event.epoch);
    let spans = layout.spans();
    let ranges: Vec<SeatRange> = spans
        .iter()
        .map(|span| SeatRange {
            ticket_type: span.ticket_type.clone(),
            first: span.first,
            count: span.count,
        })
        .collect();
    let Some(snapshot) = inventory.seat_states(id, epoch, &ranges).await.or_fail()? else {
        return Ok(None);
    };
    let sections = spans.iter().zip(snapshot.states);
    let remaining = snapshot.counts.iter().map(|counts| RemainingBody {
        ticket_type: counts.ticket_type.clone(),
        remaining: counts.remaining,
    });
    let body = SeatsBody {
        event: id.clone(),
        epoch: snapshot.position.epoch,
        sequence: snapshot.position.sequence,
        seat_map_version: layout.version(),
        sections: sections.map(|(span, states)| SectionStates::pack(span, states)).collect(),
        ticket_types: remaining.collect(),
    };
    Ok(Some((body, snapshot.counts)))
}

/// `GET /events/{event}/seats/changes?after=…&epoch=…`
pub(crate) async fn changes(
    State(catalogue): State<Arc<Catalogue>>,
    PathId(id): PathId<EventId>,
    query: QueryParams,
    headers: HeaderMap,
) -> Answer {
    let position =
        LogPosition { epoch: query.required("epoch")?, sequence: query.required("after")? };
    let event = known_event(&catalogue, &id).await?;
    let heard = if event.activated {
        catalogue.log.since(&id, Some(position), clock::now()).await.map_err(unheard)?
    } else {
        heard_before_the_first_sale(&catalogue, &id, position).await?
    };
    let body = match heard {
        Heard::Silence => SeatChangesBody::none(&id, position),
        Heard::Changes(changes) => changes,
        Heard::Lost(now) => return Err(gone(&id, now)),
        Heard::NoInventory => return Err(lost()),
    };
    Ok(etag::readable(&headers, tag_of(&body), KEEP, Json(body)))
}

/// There is no log yet: who is elsewhere takes the hall as it is now.
async fn heard_before_the_first_sale(
    catalogue: &Catalogue,
    id: &EventId,
    position: LogPosition,
) -> Result<Heard, Failure> {
    let now = catalogue.log.before_the_first_sale(id).await.or_fail()?;
    Ok(if now == position { Heard::Silence } else { Heard::Lost(now) })
}

fn unheard(error: SeatLogError) -> Failure {
    match error {
        SeatLogError::Log(error) => Err::<(), _>(error).or_fail(),
        SeatLogError::Hall(error) => Err::<(), _>(error).or_fail(),
    }
    .err()
    .unwrap_or_else(lost)
}

/// The log does not reach back that far: only a snapshot tells.
fn gone(id: &EventId, now: LogPosition) -> Failure {
    Failure::new(Reason::Gone)
        .with_detail(Text::SnapshotFirst)
        .with_member("snapshot", format!("/events/{id}/seats"))
        .with_member("epoch", now.epoch)
        .with_member("sequence", now.sequence)
}

/// `GET /events/{event}/seats/{seat}/lock-status`
pub(crate) async fn lock_status(
    State(catalogue): State<Arc<Catalogue>>,
    PathId(id): PathId<EventId>,
    PathId(seat): PathId<SeatLabel>,
    headers: HeaderMap,
) -> Answer {
    let event = known_event(&catalogue, &id).await?;
    let types = catalogue.store.ticket_types_list(&id, Consistency::Eventual).await.or_fail()?;
    let layout = catalogue.layouts.of(&id, &types).await.or_fail()?;
    let ticket_type = layout.type_of(&seat).ok_or_else(unknown_seat)?;
    let status = if event.activated {
        seat_status(&catalogue, &event, ticket_type, &seat).await?
    } else {
        SeatStatus::Free
    };
    let body = lock_status_body(seat, status)?;
    Ok(etag::readable(&headers, tag_of(&body), KEEP, Json(body)))
}

async fn seat_status(
    catalogue: &Catalogue,
    event: &Event,
    ticket_type: &TicketTypeId,
    seat: &SeatLabel,
) -> Result<SeatStatus, Failure> {
    let (inventory, id) = (&catalogue.inventory, &event.id);
    let status = inventory.seat_status(id, event.epoch, ticket_type, seat).await.or_fail()?;
    if status != SeatStatus::Unavailable {
        return Ok(status);
    }
    let event = renewed_event(catalogue, id).await?;
    inventory.seat_status(id, event.epoch, ticket_type, seat).await.or_fail()
}

fn lock_status_body(seat: SeatLabel, status: SeatStatus) -> Result<LockStatusBody, Failure> {
    let (status, remaining_seconds) = match status {
        SeatStatus::Free => (LockStatus::Available, None),
        SeatStatus::Held { remaining, .. } => (LockStatus::Locked, Some(whole_seconds(remaining))),
        SeatStatus::Sold => (LockStatus::Sold, None),
        SeatStatus::Withdrawn => (LockStatus::Withdrawn, None),
        SeatStatus::Unknown => return Err(unknown_seat()),
        SeatStatus::Unavailable => return Err(lost()),
    };
    Ok(LockStatusBody { seat, status, remaining_seconds })
}

/// Rounded up: a seat is locked for as long as this says.
fn whole_seconds(remaining: Duration) -> u32 {
    u32::try_from(remaining.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX).max(1)
}

fn unknown_seat() -> Failure {
    let errors = vec![FieldError::new("path:seat", Text::NoSeat)];
    Failure::from(Problem { reason: Reason::UnknownSeat, detail: None, errors })
}

/// The event, as it may be remembered.
pub(crate) async fn known_event(
    catalogue: &Catalogue,
    id: &EventId,
) -> Result<Arc<Event>, Failure> {
    catalogue.events.event_cached(id).await.or_fail()?.ok_or_else(unknown_event)
}

/// The event as it is now: what was remembered of it is of another epoch.
pub(crate) async fn renewed_event(
    catalogue: &Catalogue,
    id: &EventId,
) -> Result<Arc<Event>, Failure> {
    catalogue.events.event_renewed(id).await.or_fail()?.ok_or_else(unknown_event)
}

#[derive(Debug)]
struct Kept {
    at: Timestamp,
    tag: HeaderValue,
    body: Arc<SeatsBody>,
}

/// The last snapshot of each event.
#[derive(Debug, Default)]
pub(crate) struct Snapshots(Mutex<HashMap<EventId, Kept>>);

impl Snapshots {
    fn recent(
        &self,
        id: &EventId,
        now: Timestamp,
        age: SignedDuration,
    ) -> Option<(HeaderValue, Arc<SeatsBody>)> {
        let known = self.locked();
        let kept = known.get(id).filter(|kept| is_fresh(kept.at, now, age))?;
        Some((kept.tag.clone(), Arc::clone(&kept.body)))
    }

    fn keep(&self, id: &EventId, at: Timestamp, tag: &HeaderValue, body: &Arc<SeatsBody>) {
        let mut known = self.locked();
        if known.len() >= MOST_SNAPSHOTS {
            known.clear();
        }
        known.insert(id.clone(), Kept { at, tag: tag.clone(), body: Arc::clone(body) });
    }

    /// Nothing half-done is ever kept under this lock.
    fn locked(&self) -> MutexGuard<'_, HashMap<EventId, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_told_in_whole_seconds_rounded_up() {
        let seconds = |ms| whole_seconds(Duration::from_millis(ms));
        assert_eq!([0, 1, 1_000, 1_001, 599_999].map(seconds), [1, 1, 1, 2, 600]);
    }

    #[test]
    fn a_snapshot_is_kept_for_a_moment() {
        let id = EventId::parse("show").unwrap();
        let body = Arc::new(SeatsBody {
            event: id.clone(),
            epoch: 1,
            sequence: 7,
            seat_map_version: 0,
            sections: Vec::new(),
            ticket_types: Vec::new(),
        });
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        let snapshots = Snapshots::default();
        snapshots.keep(&id, at(1_000), &tag_of(&*body), &body);
        assert!(snapshots.recent(&id, at(1_499), SNAPSHOT_AGE).is_some());
        assert!(snapshots.recent(&id, at(1_500), SNAPSHOT_AGE).is_none());
        assert!(snapshots.recent(&id, at(1_000), SignedDuration::ZERO).is_none());
        assert!(snapshots.recent(&id, at(500), SNAPSHOT_AGE).is_none(), "the clock was set back");
    }
}
