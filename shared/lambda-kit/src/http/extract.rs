//! Reading a request into types. What a handler gets needs no second check.

use axum::body::HttpBody;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::HeaderMap;
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{
    CustomerId, EventId, IdempotencyKey, InvalidId, OrderId, SeatLabel, SectionId, TicketTypeId,
    WithdrawalId,
};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::gateway::Claims;
use super::layers::BODY_LIMIT;
use super::{Failure, json, token};

/// The group whose members may change what is on sale.
const OPERATORS: &str = "operators";

/// The verified customer who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fan(pub CustomerId);

impl<S: Send + Sync> FromRequestParts<S> for Fan {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let subject = parts.extensions.get::<Claims>().and_then(|claims| claims.text("sub"));
        subject
            .and_then(|subject| CustomerId::of_subject(subject).ok())
            .map(Self)
            .ok_or_else(|| Failure::new(Reason::Unauthorized))
    }
}

/// The name of the claim that lists a person's groups; laid into a router with
/// [`axum::Extension`] where [`Operator`] is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupsClaim(pub String);

/// A verified member of the group `operators`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator(pub CustomerId);

impl<S: Send + Sync> FromRequestParts<S> for Operator {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Fan(customer) = Fan::from_request_parts(parts, state).await?;
        let claim = parts.extensions.get::<GroupsClaim>();
        let verified = parts.extensions.get::<Claims>();
        let is_operator = claim.zip(verified).is_some_and(|(claim, verified)| {
            let claims = token::claims(&parts.headers, verified).unwrap_or_default();
            claims.get(&claim.0).is_some_and(|groups| names_group(groups, OPERATORS))
        });
        if is_operator { Ok(Self(customer)) } else { Err(Failure::new(Reason::Forbidden)) }
    }
}

/// Whether a claim lists a group. A text is one group, whatever is in it, so
/// that `x operators`, `venue,operators` and `[operators]` are others.
fn names_group(claim: &Value, group: &str) -> bool {
    match claim {
        Value::Array(groups) => groups.iter().any(|one| one.as_str() == Some(group)),
        Value::String(text) => text == group,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// An identifier that stands in a path.
pub trait NamedInPath: Sized {
    /// The parameter's name in the table of routes.
    const NAME: &'static str;
    /// What a client is told when there can be no such thing.
    const UNKNOWN: Reason;

    /// Reads it.
    ///
    /// # Errors
    /// When the text is no identifier of this kind.
    fn parse(text: &str) -> Result<Self, InvalidId>;
}

macro_rules! named_in_path {
    ($($id:ident is $name:literal or $unknown:ident;)*) => {$(
        impl NamedInPath for $id {
            const NAME: &'static str = $name;
            const UNKNOWN: Reason = Reason::$unknown;
            fn parse(text: &str) -> Result<Self, InvalidId> {
                $id::parse(text)
            }
        }
    )*};
}

named_in_path! {
    EventId is "event" or NotFound;
    TicketTypeId is "type" or UnknownTicketType;
    SectionId is "section" or NotFound;
    WithdrawalId is "withdrawal" or NotFound;
    SeatLabel is "seat" or UnknownSeat;
    OrderId is "order" or UnknownOrder;
}

/// An identifier from the path, by its kind: `PathId(event): PathId<EventId>`.
/// A text that can be no such identifier names nothing: 404.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathId<T>(pub T);

impl<S: Send + Sync, T: NamedInPath> FromRequestParts<S> for PathId<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        // What is no UTF-8 is read like nothing at all.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let named = params.iter().flatten().find(|(name, _)| *name == T::NAME);
        T::parse(named.map_or("", |(_, text)| text)).map(Self).map_err(|invalid| {
            let errors = vec![FieldError::new(format!("path:{}", T::NAME), invalid)];
            Problem { reason: T::UNKNOWN, detail: None, errors }.into()
        })
    }
}

/// The query, read one parameter at a time; parameters nobody reads are ignored.
#[derive(Debug, Clone, Default)]
pub struct QueryParams(Vec<(String, String)>);

impl QueryParams {
    /// A parameter that may be missing.
    ///
    /// # Errors
    /// When it is there twice, or is no value of its kind.
    pub fn optional<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Failure> {
        let invalid = |detail| Failure::from(FieldError::new(format!("query:{name}"), detail));
        let mut values = self.0.iter().filter(|(given, _)| given == name);
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some((_, text)), None) => text.parse().map(Some).map_err(|_| invalid(Text::NotRight)),
            (Some(_), Some(_)) => Err(invalid(Text::GivenTwice)),
        }
    }

    /// A parameter that must be there.
    ///
    /// # Errors
    /// As [`Self::optional`], and when it is missing.
    pub fn required<T: std::str::FromStr>(&self, name: &str) -> Result<T, Failure> {
        self.optional(name)?
            .ok_or_else(|| FieldError::new(format!("query:{name}"), Text::Missing).into())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        match Query::<Vec<(String, String)>>::try_from_uri(&parts.uri) {
            Ok(Query(pairs)) => Ok(Self(pairs)),
            Err(_) => Err(FieldError::new("query:", Text::NotReadable).into()),
        }
    }
}

/// A JSON body, read into a type. Types of bodies refuse unknown fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        if !is_json(request.headers()) {
            return Err(Failure::new(Reason::UnsupportedMediaType).with_detail(Text::ContentType));
        }
        let body = axum::body::to_bytes(request.into_body(), BODY_LIMIT)
            .await
            .map_err(|_| Failure::new(Reason::TooLarge))?;
        Ok(Self(json::read(&body)?))
    }
}

/// No body, or an empty JSON object: a field that nobody reads would only
/// look as if it did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoBody;

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}

        if request.body().is_end_stream() {
            return Ok(Self);
        }
        JsonBody::<Nothing>::from_request(request, state).await.map(|JsonBody(Nothing {})| Self)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// The `Idempotency-Key` header.
///
/// # Errors
/// When it is missing, there twice, or no key.
pub fn idempotency_key(headers: &HeaderMap) -> Result<IdempotencyKey, Failure> {
    const NAME: &str = "Idempotency-Key";
    let mut values = headers.get_all(NAME).iter();
    let read = match (values.next(), values.next()) {
        (None, _) => Err(Text::Missing),
        (Some(_), Some(_)) => Err(Text::GivenTwice),
        // A text that is not printable breaks the rule of keys as an empty one does.
        (Some(value), None) => {
            IdempotencyKey::from_header(value.to_str().unwrap_or_default()).map_err(Text::from)
        }
    };
    read.map_err(|text| FieldError::new(format!("header:{NAME}"), text).into())
}
