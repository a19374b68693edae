//! Events: creating, editing, reading.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use contracts::catalog::{EventBody, EventEdit, EventWish};
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{Epoch, Event, EventId, SaleSwitch};
use dynamo_store::{Consistency, EventCreated, EventUpdated};
use http::{HeaderMap, HeaderValue, StatusCode};
use jiff::Timestamp;
use lambda_kit::clock;
use lambda_kit::http::etag::{self, Expectation};
use lambda_kit::http::{Answer, Failure, JsonBody, Operator, PathId};
use store_failures::OrFail;

use crate::answer::{edited, invalid};
use crate::catalogue::{Catalogue, unknown_event};
use crate::stock::sync;

/// The sale's state turns by the clock, so nobody keeps it for long.
const KEEP: &str = "public, max-age=2";

/// `GET /events/{event}`
pub(crate) async fn read(
    State(catalogue): State<Arc<Catalogue>>,
    PathId(id): PathId<EventId>,
    headers: HeaderMap,
) -> Answer {
    let event = catalogue.store.event_fetch(&id, Consistency::Eventual).await.or_fail()?;
    let event = event.ok_or_else(unknown_event)?;
    let now = clock::now();
    Ok(etag::readable(&headers, tag(&event, now), KEEP, Json(EventBody::of(&event, now))))
}

/// `PUT /events/{event}`
pub(crate) async fn write(
    State(catalogue): State<Arc<Catalogue>>,
    _: Operator,
    PathId(id): PathId<EventId>,
    headers: HeaderMap,
    JsonBody(edit): JsonBody<EventEdit>,
) -> Answer {
    let expectation = etag::required(&headers)?;
    let wish = edit.parse().map_err(invalid)?;
    match expectation {
        Expectation::Absent => {
            let event = create(&catalogue, id, wish).await?;
            Ok(answer(StatusCode::CREATED, &event))
        }
        Expectation::Present | Expectation::Version(_) => {
            let event = edit_version(&catalogue, &id, expectation, wish).await?;
            Ok(answer(StatusCode::OK, &event))
        }
    }
}

/// The event after an edit.
pub(crate) fn answer(status: StatusCode, event: &Event) -> Response {
    let now = clock::now();
    edited(status, tag(event, now), EventBody::of(event, now))
}

/// Differs with the state, which turns without an edit.
fn tag(event: &Event, now: Timestamp) -> HeaderValue {
    etag::of_version_showing(event.version, event.state(now).as_str())
}

async fn create(catalogue: &Catalogue, id: EventId, wish: EventWish) -> Result<Event, Failure> {
    let taken = || Failure::new(Reason::VersionMismatch).with_detail(Text::EventExists);
    if catalogue.store.event_fetch(&id, Consistency::Strong).await.or_fail()?.is_some() {
        return Err(taken());
    }
    let event = Event {
        id,
        title: wish.title,
        venue: wish.venue,
        time_zone: wish.time_zone,
        starts_at: wish.starts_at,
        window: wish.window,
        currency: wish.currency,
        limit_per_customer: wish.limit_per_customer,
        switch: SaleSwitch::Scheduled,
        version: 1,
        epoch: Epoch(0),
        activated: false,
    };
    match catalogue.store.event_create(&event).await.or_fail()? {
        EventCreated::Created => Ok(event),
        EventCreated::Exists(_) => Err(taken()),
    }
}

async fn edit_version(
    catalogue: &Catalogue,
    id: &EventId,
    expectation: Expectation,
    wish: EventWish,
) -> Result<Event, Failure> {
    let current = catalogue.store.event_fetch(id, Consistency::Strong).await.or_fail()?;
    let current = current.ok_or_else(|| nothing_to_edit(expectation))?;
    if wish.currency != current.currency {
        return Err(other_currency(&current));
    }
    let wished = apply(wish, &current);
    // What is asked for stands there: this edit was carried out before, and its
    // answer, or the rest of its way to Redis, was lost.
    let is_done = wished == current;
    if !is_done && !expectation.is_met_by(current.version) {
        return Err(Failure::new(Reason::VersionMismatch));
    }
    let event = if is_done {
        current
    } else {
        let next = Event { version: current.version.saturating_add(1), ..wished };
        match catalogue.store.event_update(&next).await.or_fail()? {
            EventUpdated::Updated => next,
            EventUpdated::VersionMismatch(_) => {
                return Err(expectation.failed(Reason::VersionMismatch.into()));
            }
            EventUpdated::Missing => return Err(unknown_event()),
        }
    };
    sync::sale(catalogue, id).await?;
    Ok(event)
}

/// `*` is the condition that something is there; a version is of an event that isn't.
fn nothing_to_edit(expectation: Expectation) -> Failure {
    match expectation {
        Expectation::Present => Failure::new(Reason::VersionMismatch).with_detail(Text::NoEvent),
        Expectation::Absent | Expectation::Version(_) => unknown_event(),
    }
}

fn apply(wish: EventWish, current: &Event) -> Event {
    Event {
        title: wish.title,
        venue: wish.venue,
        time_zone: wish.time_zone,
        starts_at: wish.starts_at,
        window: wish.window,
        limit_per_customer: wish.limit_per_customer,
        ..current.clone()
    }
}

fn other_currency(current: &Event) -> Failure {
    let detail = Text::CurrencyFixed { currency: current.currency.as_str().to_owned() };
    Failure::from(Problem {
        reason: Reason::Conflict,
        detail: None,
        errors: vec![FieldError::new("/currency", detail)],
    })
}
