//! A fan's own place: joining, reading, entering, leaving.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use contracts::problem::{Reason, Text};
use contracts::queue::{AdmissionBody, PlaceBody, PlaceStateBody, wait_seconds};
use domain::{
    CustomerId, EventId, Place, PlaceState, QueueSettings, SessionId, estimate_wait, poll_seconds,
};
use http::StatusCode;
use jiff::Timestamp;
use lambda_kit::clock;
use lambda_kit::http::{Answer, Failure, Fan, NoBody, PathId};
use redis_store::{Entry, Leaving};
use store_failures::OrFail;
use tokens::{Admission, Receipt, Signer};

use crate::failures::at_signing;
use crate::handler::App;
use crate::signing::whole_seconds;

/// A fan who is in leaves in two steps; a third, where another tab renewed the
/// session, or left, joined and entered again in between.
const MOST_STEPS: usize = 4;

/// The fan left, joined and entered again, again and again, while leaving.
#[derive(Debug, thiserror::Error)]
#[error("new sessions came up faster than they were ended")]
struct StillIn;

/// `POST /events/{event}/queue/places`: 201, or 200 with the place there is.
pub(crate) async fn join(
    State(app): State<App>,
    PathId(event): PathId<EventId>,
    Fan(customer): Fan,
    _: NoBody,
) -> Answer {
    let signer = app.signer().await?;
    let (place, is_new) = app.lines.join(&event, &customer.key()).await?;
    let body = place_body(&app, &signer, event, customer, place).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(body)).into_response())
}

/// `GET /events/{event}/queue/places/mine`.
pub(crate) async fn mine(
    State(app): State<App>,
    PathId(event): PathId<EventId>,
    Fan(customer): Fan,
) -> Answer {
    let signer = app.signer().await?;
    let place = app.lines.room.place(&event, &customer.key()).await.or_fail()?;
    let place = place.flatten().ok_or_else(|| Failure::new(Reason::NoPlace))?;
    Ok(Json(place_body(&app, &signer, event, customer, place).await?).into_response())
}

async fn place_body(
    app: &App,
    signer: &Signer,
    event: EventId,
    customer: CustomerId,
    place: Place,
) -> Result<PlaceBody, Failure> {
    let now = clock::now();
    let settings = app.lines.settings(&event, now).await?;
    let (generation, number) = (place.generation, place.number);
    let receipt = Receipt { customer, event, generation, number, issued_at: now };
    let signed = signer.receipt(&receipt).map_err(at_signing)?;
    Ok(describe(receipt.event, &place, &settings, signed))
}

fn describe(event: EventId, place: &Place, settings: &QueueSettings, receipt: String) -> PlaceBody {
    let (state, until) = match place.state {
        PlaceState::Waiting => (PlaceStateBody::Waiting, None),
        PlaceState::Called { until } => (PlaceStateBody::Called, Some(until)),
        PlaceState::Active { until } => (PlaceStateBody::Active, Some(until)),
        PlaceState::Missed => (PlaceStateBody::Missed, None),
        PlaceState::Ended => (PlaceStateBody::Ended, None),
    };
    let estimated_wait_seconds = match place.state {
        PlaceState::Waiting | PlaceState::Missed => {
            wait_seconds(&estimate_wait(place.ahead, settings))
        }
        PlaceState::Called { .. } | PlaceState::Active { .. } | PlaceState::Ended => [0, 0],
    };
    PlaceBody {
        event,
        generation: place.generation,
        number: place.number,
        state,
        until,
        ahead: place.ahead,
        estimated_wait_seconds,
        next_poll_seconds: poll_seconds(place.ahead),
        receipt,
    }
}

/// `POST /events/{event}/queue/places/mine/admission`: enters, or renews.
pub(crate) async fn enter(
    State(app): State<App>,
    PathId(event): PathId<EventId>,
    Fan(customer): Fan,
    _: NoBody,
) -> Answer {
    let signer = app.signer().await?;
    match app.lines.room.enter(&event, &customer.key()).await.or_fail()? {
        Entry::Entered { session, number, token_expires_at, session_ends_at, .. } => {
            let admission = Admission {
                customer,
                event,
                session,
                issued_at: clock::now(),
                expires_at: whole_seconds(token_expires_at),
            };
            admitted(&signer, admission, number, session_ends_at)
        }
        Entry::NotYet(place) => Err(ask_again(Reason::NotCalled, &place)),
        Entry::Missed(place) => Err(ask_again(Reason::CallMissed, &place)),
        Entry::Ended => Err(Failure::new(Reason::SessionEnded).with_detail(Text::PlaceEnded)),
        Entry::NoPlace | Entry::NoLine => Err(Failure::new(Reason::NoPlace)),
    }
}

fn admitted(
    signer: &Signer,
    admission: Admission,
    number: u32,
    session_ends_at: Timestamp,
) -> Answer {
    let admission_token = signer.admission(&admission).map_err(at_signing)?;
    let expires_at = admission.expires_at;
    let session = admission.session;
    let body = AdmissionBody { admission_token, expires_at, session_ends_at, session, number };
    Ok(Json(body).into_response())
}

fn ask_again(reason: Reason, place: &Place) -> Failure {
    let seconds = poll_seconds(place.ahead);
    Failure::new(reason)
        .retry_after(seconds)
        .with_member("number", place.number)
        .with_member("ahead", place.ahead)
        .with_member("state", place.state.as_str())
        .with_member("next_poll_seconds", seconds)
}

/// `DELETE /events/{event}/queue/places/mine`: 204 whenever the fan is out, also
/// when repeated or where no line is.
///
/// The order matters. The session is put on the inventory's list of ended ones
/// before its slot is freed: the other way round, the next fan would be let in
/// while the old token still buys.
pub(crate) async fn leave(
    State(app): State<App>,
    PathId(event): PathId<EventId>,
    Fan(customer): Fan,
    _: NoBody,
) -> Answer {
    let room = &app.lines.room;
    let key = customer.key();
    let mut ended: Option<(SessionId, Timestamp)> = None;
    for _ in 0..MOST_STEPS {
        let until_now = ended.as_ref().map(|(id, until)| (id, *until));
        match room.leave(&event, &key, until_now).await.or_fail()? {
            Leaving::Session { id, until } => {
                app.lines.inventory.session_end(&event, &key, &id, until).await.or_fail()?;
                ended = Some((id, until));
            }
            Leaving::Left | Leaving::NoPlace | Leaving::NoLine => {
                return Ok(StatusCode::NO_CONTENT.into_response());
            }
        }
    }
    Err(Failure::unavailable(StillIn))
}
