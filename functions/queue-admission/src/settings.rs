//! The operator's settings of a line.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use contracts::problem::{Problem, Reason};
use contracts::queue::{QueueSettingsBody, StoredQueueSettingsBody};
use domain::EventId;
use dynamo_store::{Consistency, QueuePut, QueueRecord};
use http::header::ETAG;
use http::{HeaderMap, StatusCode};
use lambda_kit::http::etag::{self, Expectation};
use lambda_kit::http::{Answer, Failure, JsonBody, Operator, PathId};
use store_failures::OrFail;

use crate::handler::App;

/// `PUT /events/{event}/queue/settings`: durable first, then in Redis. Where the
/// second fails, sending the same again does it again; a creation is told then that
/// there are settings, like any creation of what is there.
pub(crate) async fn replace(
    State(app): State<App>,
    PathId(event): PathId<EventId>,
    _: Operator,
    headers: HeaderMap,
    JsonBody(body): JsonBody<QueueSettingsBody>,
) -> Answer {
    let settings = body.parse().map_err(Problem::invalid)?;
    let expectation = etag::required(&headers)?;
    let there = app.catalog.event_fetch(&event, Consistency::Strong).await.or_fail()?;
    there.ok_or_else(|| Failure::new(Reason::NotFound))?;
    let now = app.catalog.queue_fetch(&event).await.or_fail()?;
    // What is asked for stands there: this was carried out before, and its answer,
    // or the rest of its way to Redis, was lost.
    if let Some(record) = now.filter(|record| record.settings == settings) {
        app.lines.apply(&event, &record).await?;
        return match expectation {
            Expectation::Absent => Err(mismatch(now.as_ref())),
            Expectation::Present | Expectation::Version(_) => Ok(answer(StatusCode::OK, &record)),
        };
    }
    let version = match expectation {
        Expectation::Absent => 1,
        Expectation::Version(seen) => seen.saturating_add(1),
        Expectation::Present => now.ok_or_else(|| mismatch(None))?.version.saturating_add(1),
    };
    match app.catalog.queue_put(&event, &settings, version).await.or_fail()? {
        QueuePut::Stored(record) => {
            app.lines.apply(&event, &record).await?;
            let status = if record.version == 1 { StatusCode::CREATED } else { StatusCode::OK };
            Ok(answer(status, &record))
        }
        QueuePut::VersionMismatch(now) => Err(expectation.failed(mismatch(now.as_ref()))),
    }
}

fn answer(status: StatusCode, record: &QueueRecord) -> axum::response::Response {
    let body =
        StoredQueueSettingsBody { settings: record.settings.into(), version: record.version };
    (status, [(ETAG, etag::of_version(record.version))], Json(body)).into_response()
}

fn mismatch(now: Option<&QueueRecord>) -> Failure {
    Failure::new(Reason::VersionMismatch)
        .with_member("version", now.map_or(0, |record| record.version))
}
