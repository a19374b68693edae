//! The seat map: sections come in one by one and never change.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Json, RequestExt};
use contracts::catalog::{SeatMapBody, SectionBody, SectionEdit, SectionRows, rows_of_csv};
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{Event, EventId, Section, SectionId, TicketKind, TicketType, TicketTypeId};
use dynamo_store::{Consistency, SectionPut};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use lambda_kit::http::{Answer, Failure, JsonBody, Operator, PathId, QueryParams, etag};
use store_failures::OrFail;

use crate::catalogue::Catalogue;
use crate::seats::known_event;
use crate::stock::sync;

/// A map that is asked for by its version stays what it is.
const KEEP_FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Asked for without one, it may have more sections soon.
const KEEP: &str = "public, max-age=60";
/// So often another section of the same type may come between.
const ATTEMPTS: u32 = 16;

/// `GET /events/{event}/seat-map?version=…`
pub(crate) async fn read(
    State(catalogue): State<Arc<Catalogue>>,
    PathId(id): PathId<EventId>,
    query: QueryParams,
    headers: HeaderMap,
) -> Answer {
    let wanted: Option<u32> = query.optional("version")?;
    known_event(&catalogue, &id).await?;
    let types = catalogue.store.ticket_types_list(&id, Consistency::Eventual).await.or_fail()?;
    let layout = catalogue.layouts.of(&id, &types).await.or_fail()?;
    let version = layout.version();
    let keep = if wanted == Some(version) { KEEP_FOR_EVER } else { KEEP };
    let sections = layout.sections.iter().map(SectionBody::from).collect();
    let tag = HeaderValue::try_from(format!("\"s{version}\""))
        .unwrap_or_else(|_| HeaderValue::from_static("\"s\""));
    let body = SeatMapBody { event: id, version, sections };
    Ok(etag::readable(&headers, tag, keep, Json(body)))
}

/// `PUT /events/{event}/seat-map/sections/{section}`
pub(crate) async fn write(
    State(catalogue): State<Arc<Catalogue>>,
    _: Operator,
    PathId(id): PathId<EventId>,
    PathId(section): PathId<SectionId>,
    upload: Upload,
) -> Answer {
    let event = catalogue.event(&id).await?;
    let wish = Section::new(section, upload.ticket_type.clone(), 0, upload.rows.rows.clone())
        .map_err(|invalid| upload.rows.fault(&invalid))?;
    let (status, section, ticket_type) = put(&catalogue, &event, wish, &upload).await?;
    sync::section(&catalogue, &id, &ticket_type, &section).await?;
    Ok(answer(status, &section))
}

fn answer(status: StatusCode, section: &Section) -> Response {
    (status, Json(SectionBody::from(section))).into_response()
}

/// Puts the section behind the others of its type.
async fn put(
    catalogue: &Catalogue,
    event: &Event,
    wish: Section,
    upload: &Upload,
) -> Result<(StatusCode, Section, TicketType), Failure> {
    for _ in 0..ATTEMPTS {
        let read =
            catalogue.store.ticket_type_fetch(&event.id, &wish.ticket_type).await.or_fail()?;
        let ticket_type = read.ok_or_else(|| upload.unknown_type())?;
        if ticket_type.kind != TicketKind::ReservedSeating {
            return Err(upload.wrong_kind());
        }
        let section = Section { first: ticket_type.ceiling, ..wish.clone() };
        let Some(grown) = grown(&ticket_type, &section) else {
            let section = repeated(catalogue, event, &section).await?;
            return Ok((StatusCode::OK, section, ticket_type));
        };
        match catalogue.store.section_put(&event.id, &section, &grown).await.or_fail()? {
            SectionPut::Stored => return Ok((StatusCode::CREATED, section, grown)),
            SectionPut::Same(section) => return Ok((StatusCode::OK, section, ticket_type)),
            SectionPut::Conflict(_) => return Err(section_fixed()),
            SectionPut::VersionMismatch => {}
        }
    }
    Err(Failure::new(Reason::Unavailable).with_detail(Text::TooManyEdits))
}

/// The type with the section's seats; none: it can't have so many.
fn grown(ticket_type: &TicketType, section: &Section) -> Option<TicketType> {
    let ceiling = ticket_type.ceiling.saturating_add(section.seat_count());
    (ceiling <= TicketType::MAX_CEILING).then(|| TicketType {
        ceiling,
        capacity: ceiling,
        version: ticket_type.version.saturating_add(1),
        ..ticket_type.clone()
    })
}

/// A section that its type has no room for: it may be one of those the type has.
async fn repeated(
    catalogue: &Catalogue,
    event: &Event,
    wish: &Section,
) -> Result<Section, Failure> {
    match catalogue.store.section_fetch(&event.id, &wish.id).await.or_fail()? {
        Some(section) if Section { first: section.first, ..wish.clone() } == section => Ok(section),
        Some(_) => Err(section_fixed()),
        None => {
            let detail = Text::TypeTooLarge { most: TicketType::MAX_CEILING as usize };
            Err(Failure::new(Reason::Conflict).with_detail(detail))
        }
    }
}

fn section_fixed() -> Failure {
    Failure::new(Reason::Conflict).with_detail(Text::SectionFixed)
}

/// A section as it was sent: JSON, or CSV with its type in the query.
#[derive(Debug)]
pub(crate) struct Upload {
    ticket_type: TicketTypeId,
    rows: SectionRows,
    /// Where the type stood.
    type_pointer: &'static str,
}

impl Upload {
    fn unknown_type(&self) -> Failure {
        let errors = vec![FieldError::new(self.type_pointer, Text::NoType)];
        Failure::from(Problem { reason: Reason::UnknownTicketType, detail: None, errors })
    }

    fn wrong_kind(&self) -> Failure {
        FieldError::new(self.type_pointer, Text::TypeOfPlaces).into()
    }
}

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        if is_csv(request.headers()) {
            return csv_upload(request, state).await;
        }
        let JsonBody(edit): JsonBody<SectionEdit> = JsonBody::from_request(request, state).await?;
        let rows = edit.rows()?;
        Ok(Self { ticket_type: edit.ticket_type, rows, type_pointer: "/ticket_type" })
    }
}

async fn csv_upload<S: Send + Sync>(request: Request, state: &S) -> Result<Upload, Failure> {
    const POINTER: &str = "query:ticket_type";
    let (mut parts, body) = request.into_parts();
    let query = QueryParams::from_request_parts(&mut parts, state).await?;
    let ticket_type: String = query.required("ticket_type")?;
    let ticket_type =
        TicketTypeId::parse(&ticket_type).map_err(|invalid| FieldError::new(POINTER, invalid))?;
    let body: Bytes = Request::from_parts(parts, body)
        .extract()
        .await
        .map_err(|_| Failure::new(Reason::TooLarge))?;
    Ok(Upload { ticket_type, rows: rows_of_csv(&body)?, type_pointer: POINTER })
}

fn is_csv(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/csv"))
}
