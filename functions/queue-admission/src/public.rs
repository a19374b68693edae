//! What anybody may ask: how the line stands, a pass to watch, the public keys.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use contracts::problem::Reason;
use contracts::queue::{QueueState, QueueStatusBody, ViewerBody};
use domain::{EventId, QueueSettings, poll_seconds};
use dynamo_store::{Consistency, StoredKey};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::clock;
use lambda_kit::http::{Answer, Failure, NoBody, PathId, etag};
use redis_store::LineStatus;
use store_failures::OrFail;
use tokens::{Keys, PublicKey, Viewer};

use crate::failures::at_signing;
use crate::handler::App;
use crate::signing::whole_seconds;

/// How long a pass to watch lives. A connection that was opened with it stays.
const VIEWER_LIFE: SignedDuration = SignedDuration::from_hours(1);

/// `GET /events/{event}/queue`: the same for all who poll, so the edge serves
/// one copy for a second.
pub(crate) async fn status(
    State(app): State<App>,
    PathId(event): PathId<EventId>,
    headers: HeaderMap,
) -> Answer {
    let body = match app.lines.room.status(&event).await.or_fail()? {
        Some(line) => of_line(event, &line),
        None => before_any_line(&app, event).await?,
    };
    let tag = tag_of(&body);
    Ok(etag::readable(&headers, tag, "public, max-age=1, s-maxage=1", Json(body)))
}

fn of_line(event: EventId, line: &LineStatus) -> QueueStatusBody {
    QueueStatusBody {
        event,
        state: if line.settings.cap == 0 { QueueState::Halted } else { QueueState::Open },
        generation: line.generation,
        serving: line.serving,
        issued: line.issued,
        waiting: line.waiting,
        active: line.active,
        called: line.called,
        cap: line.settings.cap,
        admissions_per_minute: None,
        settings_version: line.version,
        next_poll_seconds: poll_seconds(line.waiting),
    }
}

/// Nobody has joined, or Redis lost the line: asking does not begin one.
async fn before_any_line(app: &App, event: EventId) -> Result<QueueStatusBody, Failure> {
    let there = app.catalog.event_fetch(&event, Consistency::Eventual).await.or_fail()?;
    there.ok_or_else(|| Failure::new(Reason::NotFound))?;
    let record = app.catalog.queue_fetch(&event).await.or_fail()?;
    let settings = record.map_or_else(QueueSettings::default, |record| record.settings);
    Ok(QueueStatusBody {
        event,
        state: QueueState::Empty,
        generation: record.map_or(0, |record| record.generation),
        serving: 0,
        issued: 0,
        waiting: 0,
        active: 0,
        called: 0,
        cap: settings.cap,
        admissions_per_minute: None,
        settings_version: record.map_or(0, |record| record.version),
        next_poll_seconds: poll_seconds(0),
    })
}

fn tag_of(body: &QueueStatusBody) -> HeaderValue {
    let QueueStatusBody { generation, serving, issued, waiting, active, called, cap, .. } = body;
    let version = body.settings_version;
    let tag =
        format!("\"{generation}.{serving}.{issued}.{waiting}.{active}.{called}.{cap}.{version}\"");
    HeaderValue::try_from(tag).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// `POST /events/{event}/viewers`.
pub(crate) async fn viewer(
    State(app): State<App>,
    PathId(event): PathId<EventId>,
    _: NoBody,
) -> Answer {
    let signer = app.signer().await?;
    let there = app.events.event_cached(&event).await.or_fail()?;
    there.ok_or_else(|| Failure::new(Reason::NotFound))?;
    let now = clock::now();
    let expires_at = whole_seconds(now.saturating_add(VIEWER_LIFE).unwrap_or(Timestamp::MAX));
    let viewer = Viewer { event, issued_at: now, expires_at };
    let viewer_token = signer.viewer(&viewer).map_err(at_signing)?;
    let body = ViewerBody { viewer_token, expires_at };
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

/// `GET /.well-known/jwks.json`: every key that has signed something that may
/// still be shown, our own among them.
pub(crate) async fn keys(State(app): State<App>, headers: HeaderMap) -> Answer {
    app.signer().await?;
    let stored = app.catalog.keys_list().await.or_fail()?;
    let names: Vec<&str> = stored.iter().map(|key| key.kid.as_str()).collect();
    let tag = HeaderValue::try_from(format!("\"{}\"", names.join(".")))
        .unwrap_or_else(|_| HeaderValue::from_static("\"\""));
    Ok(etag::readable(&headers, tag, "public, max-age=60", document(&stored)))
}

fn document(stored: &[StoredKey]) -> impl IntoResponse + use<> {
    let keys = PublicKey::parse_all(stored.iter().map(|key| &key.jwk));
    let kind = HeaderValue::from_static("application/jwk-set+json");
    ([(CONTENT_TYPE, kind)], Keys::new(keys).document().to_string())
}
