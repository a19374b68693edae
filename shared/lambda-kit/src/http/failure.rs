//! What a handler gives back instead of an answer.

use std::error::Error;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use contracts::problem::{FieldError, Problem, Reason, Text};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};

/// What a handler gives back.
pub type Answer = Result<Response, Failure>;

/// A problem on its way to the client. It is put into words by the layer that
/// knows the client's language; until then it travels beside the response.
#[derive(Debug, Clone)]
pub struct Failure {
    pub(crate) problem: Problem,
    pub(crate) retry_after: Option<u32>,
    pub(crate) members: Map<String, Value>,
    pub(crate) cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A problem that its reason says all of.
    #[must_use]
    pub fn new(reason: Reason) -> Self {
        Problem::new(reason).into()
    }

    /// Nothing was decided; repeating helps. The cause is logged, not told.
    #[must_use]
    pub fn unavailable(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::new(Reason::Unavailable).caused_by(cause)
    }

    /// Something may have happened; repeating with the same key tells.
    #[must_use]
    pub fn outcome_unknown(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::new(Reason::OutcomeUnknown).caused_by(cause)
    }

    /// A fault of ours.
    #[must_use]
    pub fn internal(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::new(Reason::Internal).caused_by(cause)
    }

    /// A fault at a store: 503 where the same call may succeed later, else 500.
    #[must_use]
    pub fn at_store(cause: impl Error + Send + Sync + 'static, is_retryable: bool) -> Self {
        if is_retryable { Self::unavailable(cause) } else { Self::internal(cause) }
    }

    /// With what is logged about it, at the boundary.
    #[must_use]
    pub fn caused_by(self, cause: impl Error + Send + Sync + 'static) -> Self {
        Self { cause: Some(Arc::new(cause)), ..self }
    }

    /// With a sentence that says more than the title.
    #[must_use]
    pub fn with_detail(mut self, detail: Text) -> Self {
        self.problem.detail = Some(detail);
        self
    }

    /// With another time to repeat after than the reason's own.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// With one more member for machines, like `"opens_at"`.
    #[must_use]
    pub fn with_member(mut self, name: &str, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.members.insert(name.to_owned(), value);
        }
        self
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.problem.reason
    }

    /// The problem as it will be told.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { problem, retry_after: None, members: Map::new(), cause: None }
    }
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Problem::from(error).into()
    }
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self::new(reason)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.problem.reason.status());
        let mut response = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
        response.extensions_mut().insert(self);
        response
    }
}
