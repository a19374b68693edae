//! Ticket types: creating, editing, listing with what remains.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use contracts::catalog::{TicketTypeBody, TicketTypeEdit, TicketTypeWish, TicketTypesBody};
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{Event, EventId, TicketKind, TicketType, TicketTypeId};
use dynamo_store::{Consistency, TicketTypeCreated, TicketTypeUpdated};
use http::{HeaderMap, StatusCode};
use lambda_kit::http::etag::{self, Expectation};
use lambda_kit::http::{Answer, Failure, JsonBody, Operator, PathId, QueryParams};
use redis_store::TypeCounts;
use store_failures::OrFail;

use crate::answer::{edited, invalid, tag_of};
use crate::capacity;
use crate::catalogue::Catalogue;
use crate::seats::{known_event, renewed_event};
use crate::stock::{lost, sync};

/// What remains turns with every order.
const KEEP: &str = "public, max-age=1";
/// So often another new type may take the free index.
const ATTEMPTS: u32 = 16;

/// `GET /events/{event}/ticket-types`
pub(crate) async fn list(
    State(catalogue): State<Arc<Catalogue>>,
    PathId(id): PathId<EventId>,
    query: QueryParams,
    headers: HeaderMap,
) -> Answer {
    let page = Page::read(&query)?;
    let event = known_event(&catalogue, &id).await?;
    let types = catalogue.store.ticket_types_list(&id, Consistency::Eventual).await.or_fail()?;
    let remaining = remaining(&catalogue, &event).await?;
    let body = page.of(&types, &remaining);
    Ok(etag::readable(&headers, tag_of(&body), KEEP, Json(body)))
}

/// What Redis says remains of each type.
async fn remaining(
    catalogue: &Catalogue,
    event: &Event,
) -> Result<HashMap<TicketTypeId, u32>, Failure> {
    if !event.activated {
        return Ok(HashMap::new());
    }
    let mut counts = catalogue.inventory.counts(&event.id, event.epoch).await.or_fail()?;
    if counts.is_none() {
        let event = renewed_event(catalogue, &event.id).await?;
        counts = catalogue.inventory.counts(&event.id, event.epoch).await.or_fail()?;
    }
    let counts = counts.ok_or_else(lost)?;
    Ok(counts.into_iter().map(|counts| (counts.ticket_type, counts.remaining)).collect())
}

/// Which part of the list is wanted. Types are in the order of their index, so
/// the last one's index is where the next page goes on.
struct Page {
    limit: usize,
    after: u8,
}

impl Page {
    fn read(query: &QueryParams) -> Result<Self, Failure> {
        const MOST: u8 = TicketType::MAX_PER_EVENT;
        let limit = query.optional("limit")?.unwrap_or(MOST);
        if !(1..=MOST).contains(&limit) {
            let detail = Text::Between { least: 1, most: MOST.into() };
            return Err(FieldError::new("query:limit", detail).into());
        }
        Ok(Self { limit: limit.into(), after: query.optional("next")?.unwrap_or(0) })
    }

    fn of(&self, types: &[TicketType], remaining: &HashMap<TicketTypeId, u32>) -> TicketTypesBody {
        let mut rest = types.iter().filter(|ticket_type| ticket_type.index > self.after).peekable();
        let mut last = self.after;
        let mut page = Vec::new();
        while let Some(ticket_type) = rest.next_if(|_| page.len() < self.limit) {
            let left = remaining.get(&ticket_type.id).copied().unwrap_or(ticket_type.capacity);
            page.push(TicketTypeBody::of(ticket_type, left));
            last = ticket_type.index;
        }
        TicketTypesBody { ticket_types: page, next: rest.peek().map(|_| last.to_string()) }
    }
}

/// `PUT /events/{event}/ticket-types/{type}`
pub(crate) async fn write(
    State(catalogue): State<Arc<Catalogue>>,
    _: Operator,
    PathId(id): PathId<EventId>,
    PathId(type_id): PathId<TicketTypeId>,
    headers: HeaderMap,
    JsonBody(edit): JsonBody<TicketTypeEdit>,
) -> Answer {
    let expectation = etag::expectation(&headers)?;
    let event = catalogue.event(&id).await?;
    let wish = edit.parse(event.currency).map_err(invalid)?;
    let current = catalogue.store.ticket_type_fetch(&id, &type_id).await.or_fail()?;
    let (status, ticket_type) = match current {
        None => create(&catalogue, &event, type_id, expectation, wish).await?,
        Some(current) => {
            (StatusCode::OK, change(&catalogue, &event, current, expectation, wish).await?)
        }
    };
    let remaining = remaining(&catalogue, &*known_event(&catalogue, &id).await?).await?;
    let left = remaining.get(&ticket_type.id).copied().unwrap_or(ticket_type.capacity);
    let tag = etag::of_version(ticket_type.version);
    Ok(edited(status, tag, TicketTypeBody::of(&ticket_type, left)))
}

async fn create(
    catalogue: &Catalogue,
    event: &Event,
    id: TicketTypeId,
    expectation: Option<Expectation>,
    wish: TicketTypeWish,
) -> Result<(StatusCode, TicketType), Failure> {
    if let Some(Expectation::Present | Expectation::Version(_)) = expectation {
        return Err(Failure::new(Reason::VersionMismatch).with_detail(Text::NoTypeYet));
    }
    for _ in 0..ATTEMPTS {
        let types =
            catalogue.store.ticket_types_list(&event.id, Consistency::Strong).await.or_fail()?;
        let ceiling = wish.capacity.unwrap_or(0);
        let ticket_type = TicketType {
            id: id.clone(),
            name: wish.name.clone(),
            kind: wish.kind,
            price: wish.price,
            limit_per_customer: wish.limit_per_customer,
            index: free_index(&types)?,
            ceiling,
            capacity: ceiling,
            partitions: TicketType::partitions_for(wish.kind, ceiling),
            version: 1,
        };
        match catalogue.store.ticket_type_create(&event.id, &ticket_type).await.or_fail()? {
            TicketTypeCreated::Created => {
                sync::ticket_type(catalogue, &event.id, &ticket_type.id).await?;
                return Ok((StatusCode::CREATED, ticket_type));
            }
            // Another request was faster.
            TicketTypeCreated::Exists(current) => {
                let changed = Box::pin(change(catalogue, event, current, expectation, wish));
                return Ok((StatusCode::OK, changed.await?));
            }
            TicketTypeCreated::IndexTaken => {}
        }
    }
    Err(Failure::new(Reason::Unavailable).with_detail(Text::TooManyEdits))
}

fn free_index(types: &[TicketType]) -> Result<u8, Failure> {
    let is_free = |index: &u8| types.iter().all(|ticket_type| ticket_type.index != *index);
    (1..=TicketType::MAX_PER_EVENT).find(is_free).ok_or_else(|| {
        let detail = Text::TooManyTypes { most: TicketType::MAX_PER_EVENT.into() };
        Failure::new(Reason::Conflict).with_detail(detail)
    })
}

/// Edits a type that is there. Where it already is as wished, an earlier request
/// was carried out, and its answer or the rest of its way to Redis was lost: so
/// that is done again. Another capacity begins where what an earlier one left is done.
async fn change(
    catalogue: &Catalogue,
    event: &Event,
    current: TicketType,
    expectation: Option<Expectation>,
    wish: TicketTypeWish,
) -> Result<TicketType, Failure> {
    if wish.kind != current.kind {
        return Err(other_kind(&current));
    }
    let is_done = wish.is_met_by(&current);
    if is_done {
        follow_up(catalogue, &event.id, &current).await?;
    } else if wish.capacity.is_some_and(|capacity| capacity != current.capacity) {
        capacity::finish(catalogue, &event.id, &current).await?;
    }
    match expectation {
        Some(Expectation::Absent) => {
            Err(Failure::new(Reason::VersionMismatch).with_detail(Text::TypeExists))
        }
        _ if is_done => Ok(current),
        None => Err(Failure::new(Reason::PreconditionRequired)),
        Some(expectation) if !expectation.is_met_by(current.version) => {
            Err(Failure::new(Reason::VersionMismatch))
        }
        Some(expectation) => {
            let edited = edit(catalogue, event, current, wish).await;
            edited.map_err(|failure| expectation.failed(failure))
        }
    }
}

async fn edit(
    catalogue: &Catalogue,
    event: &Event,
    current: TicketType,
    wish: TicketTypeWish,
) -> Result<TicketType, Failure> {
    let next = TicketType {
        name: wish.name,
        price: wish.price,
        limit_per_customer: wish.limit_per_customer,
        version: current.version.saturating_add(1),
        ..current.clone()
    };
    let changed = match wish.capacity {
        Some(capacity) if capacity != current.capacity => {
            capacity::change(catalogue, event, next, capacity).await?
        }
        Some(_) | None => {
            update(catalogue, &event.id, &next).await?;
            next
        }
    };
    follow_up(catalogue, &event.id, &changed).await?;
    Ok(changed)
}

/// What comes after a type's item was written; again is fine.
async fn follow_up(
    catalogue: &Catalogue,
    id: &EventId,
    written: &TicketType,
) -> Result<(), Failure> {
    sync::ticket_type(catalogue, id, &written.id).await?;
    capacity::finish(catalogue, id, written).await
}

/// Writes a type's next version.
async fn update(catalogue: &Catalogue, id: &EventId, next: &TicketType) -> Result<(), Failure> {
    match catalogue.store.ticket_type_update(id, next).await.or_fail()? {
        TicketTypeUpdated::Updated => Ok(()),
        TicketTypeUpdated::VersionMismatch(_) => Err(Reason::VersionMismatch.into()),
        TicketTypeUpdated::Missing => Err(Reason::UnknownTicketType.into()),
    }
}

fn other_kind(current: &TicketType) -> Failure {
    let kind = match current.kind {
        TicketKind::GeneralAdmission => "general_admission",
        TicketKind::ReservedSeating => "reserved_seating",
    };
    let errors = vec![FieldError::new("/kind", Text::KindFixed { kind })];
    Failure::from(Problem { reason: Reason::Conflict, detail: None, errors })
}

/// The counts of one type in an event's inventory.
pub(crate) async fn counts_of(
    catalogue: &Catalogue,
    event: &Event,
    ticket_type: &TicketTypeId,
) -> Result<TypeCounts, Failure> {
    let counts = catalogue.inventory.counts(&event.id, event.epoch).await.or_fail()?;
    let mut counts = counts.ok_or_else(lost)?.into_iter();
    counts.find(|counts| counts.ticket_type == *ticket_type).ok_or_else(lost)
}
