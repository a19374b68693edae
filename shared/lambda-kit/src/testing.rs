//! For tests: requests as the gateway passes them on, answered without it.
//!
//! ```no_run
//! # async fn example(router: axum::Router) {
//! use lambda_kit::testing::TestRequest;
//!
//! let answer = TestRequest::post("/events/show/queue/places").fan("fan-1").send(&router).await;
//! assert_eq!(answer.status, 201);
//! # }
//! ```

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tracing::instrument::WithSubscriber;

use crate::http::{GatewayEvent, GatewayResponse, answer};
use crate::start;

/// A request in the making.
#[derive(Debug, Clone)]
pub struct TestRequest {
    event: Value,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct TestResponse {
    /// The HTTP status.
    pub status: u16,
    /// The answer as the gateway gets it.
    pub raw: GatewayResponse,
}

impl TestResponse {
    /// A header; empty where there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.raw.headers.get(&name.to_ascii_lowercase()).map_or("", String::as_str)
    }

    /// The body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.raw.body).unwrap_or_default()
    }

    /// The machine-readable reason of a problem; empty where it is none.
    #[must_use]
    pub fn reason(&self) -> String {
        self.json()["reason"].as_str().unwrap_or_default().to_owned()
    }
}

impl TestRequest {
    /// A request of any method. The path may have a query.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Self {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let event = json!({
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": query,
            "headers": {"host": "api.test", "x-forwarded-proto": "https"},
            "requestContext": {
                "accountId": "123456789012",
                "apiId": "api-id",
                "domainName": "api.test",
                "http": {
                    "method": method,
                    "path": path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": "192.0.2.1",
                    "userAgent": "test",
                },
                "requestId": "request-id",
                "routeKey": "$default",
                "stage": "$default",
                "time": "01/Jan/2026:00:00:00 +0000",
                "timeEpoch": 1_767_225_600_000_u64,
            },
            "isBase64Encoded": false,
        });
        Self { event }
    }

    /// A request as a fixture has it.
    #[must_use]
    pub fn from_event(event: Value) -> Self {
        Self { event }
    }

    /// GET.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// POST.
    #[must_use]
    pub fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    /// PUT.
    #[must_use]
    pub fn put(path: &str) -> Self {
        Self::new("PUT", path)
    }

    /// DELETE.
    #[must_use]
    pub fn delete(path: &str) -> Self {
        Self::new("DELETE", path)
    }

    /// From this verified fan.
    #[must_use]
    pub fn fan(self, subject: &str) -> Self {
        self.claims(json!({ "sub": subject }))
    }

    /// From this verified operator.
    #[must_use]
    pub fn operator(self, subject: &str) -> Self {
        self.claims(json!({ "sub": subject, "cognito:groups": ["operators"] }))
    }

    /// With a verified token of these claims.
    #[must_use]
    pub fn claims(self, claims: Value) -> Self {
        let payload = BASE64_URL_SAFE_NO_PAD.encode(claims.to_string());
        self.header("authorization", &format!("Bearer e30.{payload}.c2ln")).verified(claims)
    }

    /// With these claims as the gateway verified them, which writes a list as
    /// one text.
    #[must_use]
    pub fn verified(mut self, mut claims: Value) -> Self {
        for claim in claims.as_object_mut().into_iter().flat_map(Map::values_mut) {
            if let Value::Array(list) = claim {
                let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                *claim = Value::from(format!("[{}]", words.join(" ")));
            }
        }
        self.event["requestContext"]["authorizer"] =
            json!({ "jwt": { "claims": claims, "scopes": null } });
        self
    }

    /// The header with the token.
    #[must_use]
    pub fn authorization(&self) -> &str {
        self.event["headers"]["authorization"].as_str().unwrap_or_default()
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(headers) = self.event["headers"].as_object_mut() {
            headers.insert(name.to_ascii_lowercase(), Value::from(value));
        }
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &impl Serialize) -> Self {
        let text = serde_json::to_string(body).unwrap_or_default();
        self.header("content-type", "application/json").text(&text)
    }

    /// With this body.
    #[must_use]
    pub fn text(mut self, body: &str) -> Self {
        self.event["body"] = Value::from(body);
        self
    }

    /// With a body of bytes, which the gateway passes on as base64.
    #[must_use]
    pub fn bytes(mut self, body: &[u8]) -> Self {
        self.event["isBase64Encoded"] = Value::Bool(true);
        self.text(&BASE64_STANDARD.encode(body))
    }

    /// Sends it to an adapted router ([`crate::http::adapt`]).
    ///
    /// # Panics
    /// When the event is none of the gateway's.
    #[expect(clippy::expect_used, reason = "only tests come here")]
    pub async fn send(self, router: &Router) -> TestResponse {
        let event: GatewayEvent =
            serde_json::from_value(self.event).expect("this is no event of the gateway");
        let raw = answer(router.clone(), event).await;
        TestResponse { status: raw.status_code, raw }
    }
}

/// An SQS event with these bodies; the messages are named `0`, `1`, ….
#[must_use]
pub fn sqs_event<T: Serialize>(bodies: &[T]) -> aws_lambda_events::sqs::SqsEvent {
    let texts = bodies.iter().map(|body| serde_json::to_string(body).unwrap_or_default());
    sqs_event_of_texts(texts)
}

/// An SQS event with these texts, readable or not.
#[must_use]
pub fn sqs_event_of_texts(
    texts: impl IntoIterator<Item = impl Into<String>>,
) -> aws_lambda_events::sqs::SqsEvent {
    let records: Vec<Value> = texts
        .into_iter()
        .enumerate()
        .map(|(at, text)| {
            let mut record = Map::new();
            record.insert("messageId".to_owned(), Value::from(at.to_string()));
            record.insert("receiptHandle".to_owned(), Value::from(format!("receipt-{at}")));
            record.insert("body".to_owned(), Value::from(text.into()));
            record.insert("attributes".to_owned(), json!({"ApproximateReceiveCount": "1"}));
            record.insert("messageAttributes".to_owned(), json!({}));
            Value::Object(record)
        })
        .collect();
    serde_json::from_value(json!({ "Records": records })).unwrap_or_default()
}

/// Does some work, and tells what it logs: an object a line, as the template's filters
/// see them.
pub async fn logged<F: Future>(work: F) -> (F::Output, Vec<Value>) {
    let written = Written::default();
    let writer = written.clone();
    let logs = start::lines().with_writer(move || writer.clone()).finish();
    let output = work.with_subscriber(logs).await;
    let bytes = written.0.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = serde_json::Deserializer::from_slice(&bytes).into_iter().filter_map(Result::ok);
    (output, lines.collect())
}

/// The metrics among lines of a log, which the template's filters count.
pub fn metrics(lines: &[Value]) -> impl Iterator<Item = &str> {
    lines.iter().filter_map(|line| line["metric"].as_str())
}

#[derive(Debug, Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
