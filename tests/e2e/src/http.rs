//! The HTTP API as a client sees it: requests that any test can bend, answers
//! that say what they were when they are not what was expected.

use std::sync::Arc;
use std::time::Duration;

use contracts::problem::ProblemBody;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use crate::error::ClientError;
use crate::identity::Person;

/// The HTTP API of a stack. Clones share one pool of connections and one bound
/// on how many requests are under way.
#[derive(Debug, Clone)]
pub struct HttpApi {
    http: reqwest::Client,
    url: String,
    permits: Arc<Semaphore>,
}

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a polite client waits before each repetition.
pub const PAUSES: [Duration; 5] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

impl HttpApi {
    /// The API at an address, asked at most so many things at once.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(url: &str, at_once: usize) -> Result<Self, ClientError> {
        Ok(Self {
            http: reqwest::Client::builder().timeout(REQUEST_TIMEOUT).build()?,
            url: url.trim_end_matches('/').to_owned(),
            permits: Arc::new(Semaphore::new(at_once)),
        })
    }

    /// The same API and connections, with a bound of its own on requests at once.
    #[must_use]
    pub fn lane(&self, at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once)), ..self.clone() }
    }

    /// A request to any path by any method.
    pub fn request(&self, method: Method, path: &str) -> Request<'_> {
        Request {
            api: self,
            what: format!("{method} {path}"),
            builder: self.http.request(method, format!("{}{path}", self.url)),
        }
    }

    /// A `GET`.
    pub fn get(&self, path: &str) -> Request<'_> {
        self.request(Method::GET, path)
    }

    /// A `POST`.
    pub fn post(&self, path: &str) -> Request<'_> {
        self.request(Method::POST, path)
    }

    /// A `PUT`.
    pub fn put(&self, path: &str) -> Request<'_> {
        self.request(Method::PUT, path)
    }

    /// A `DELETE`.
    pub fn delete(&self, path: &str) -> Request<'_> {
        self.request(Method::DELETE, path)
    }
}

/// A request that is being put together.
#[derive(Debug)]
#[must_use = "a request does nothing before it is sent"]
pub struct Request<'a> {
    api: &'a HttpApi,
    what: String,
    builder: reqwest::RequestBuilder,
}

impl Request<'_> {
    /// In the name of somebody.
    pub fn by(self, person: &Person) -> Self {
        self.bearer(&person.token)
    }

    /// With any bearer token.
    pub fn bearer(self, token: &str) -> Self {
        Self { builder: self.builder.bearer_auth(token), ..self }
    }

    /// With a header.
    pub fn header(self, name: &str, value: &str) -> Self {
        Self { builder: self.builder.header(name, value), ..self }
    }

    /// With a JSON body.
    pub fn json(self, body: &impl Serialize) -> Self {
        Self { builder: self.builder.json(body), ..self }
    }

    /// With any body of any type.
    pub fn body(self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let builder = self.builder.header("content-type", content_type).body(body.into());
        Self { builder, ..self }
    }

    /// Sends it, once.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn send(self) -> Result<Answer, ClientError> {
        // The semaphore is never closed, so this never fails.
        let _permit = self.api.permits.acquire().await.ok();
        let response = self.builder.send().await?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.bytes().await?.to_vec();
        Ok(Answer { what: self.what, status, headers, body })
    }

    /// Sends it until it is answered: what got no answer, or one that asks for a
    /// repetition, is sent again after a while, the same to the last byte. The
    /// last answer counts, whatever it is.
    ///
    /// # Errors
    /// When no answer comes, however often it is sent.
    pub async fn send_politely(self) -> Result<Answer, ClientError> {
        let mut again = self;
        for pause in PAUSES {
            // Every body is bytes, so every request can be copied.
            let Some(copy) = again.copy() else { break };
            let answer = again.send().await;
            match &answer {
                Ok(answer) if answer.asks_for_repetition() => {}
                Ok(_) => return answer,
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            again = copy;
        }
        again.send().await
    }

    fn copy(&self) -> Option<Self> {
        let builder = self.builder.try_clone()?;
        Some(Self { api: self.api, what: self.what.clone(), builder })
    }

    /// Sends it and reads the answer, which must be a success.
    ///
    /// # Errors
    /// When no answer comes, or another one.
    pub async fn read<T: DeserializeOwned>(self) -> Result<T, ClientError> {
        self.send().await?.success()?.json()
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The request it is for.
    pub what: String,
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap<HeaderValue>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Answer {
    /// A header, if it is there and readable.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as something.
    ///
    /// # Errors
    /// When it is something else.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
        serde_json::from_slice(&self.body).map_err(|source| ClientError::Decode {
            what: format!("{} ({}): {}", self.what, self.status, std::any::type_name::<T>()),
            body: self.text(),
            source,
        })
    }

    /// The problem that it is.
    ///
    /// # Errors
    /// When it is none.
    pub fn problem(&self) -> Result<ProblemBody, ClientError> {
        if self.header("content-type") != Some("application/problem+json") {
            return Err(self.unexpected());
        }
        let problem: ProblemBody = self.json()?;
        if problem.status == self.status { Ok(problem) } else { Err(self.unexpected()) }
    }

    /// Whether nothing was decided: the same request may be sent again.
    #[must_use]
    pub fn asks_for_repetition(&self) -> bool {
        matches!(self.status, 429 | 500..=599)
    }

    /// For how long it asks to wait, if it does.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(self.header("retry-after")?.parse().ok()?))
    }

    /// The same, if it has that status.
    ///
    /// # Errors
    /// When it has another.
    pub fn expect(self, status: u16) -> Result<Self, ClientError> {
        if self.status == status { Ok(self) } else { Err(self.unexpected()) }
    }

    /// The same, if it is a success.
    ///
    /// # Errors
    /// When it is none.
    pub fn success(self) -> Result<Self, ClientError> {
        if (200..300).contains(&self.status) { Ok(self) } else { Err(self.unexpected()) }
    }

    /// What to say about an answer that should have been another.
    #[must_use]
    pub fn unexpected(&self) -> ClientError {
        ClientError::Unexpected { what: self.what.clone(), status: self.status, body: self.text() }
    }
}
