//! The wire between an AWS client and its engine: it carries everything, counts
//! what it costs, and loses or replaces what the test tells it to.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_config::SdkConfig;
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It never arrives; the client sees a broken connection.
    RequestLost,
    /// It is carried out; the client sees a broken connection.
    ReplyLost,
    /// It never arrives; the client gets this status and JSON.
    Answer(u16, String),
}

impl Fault {
    /// DynamoDB's error of this type.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let kind = format!("com.amazonaws.dynamodb.v20120810#{kind}");
        Self::Answer(status, json!({"__type": kind, "message": message}).to_string())
    }

    /// A cancelled transaction with these reason codes, as DynamoDB answers it.
    #[must_use]
    pub fn cancelled(codes: &[&str]) -> Self {
        let reason = |code: &&str| match *code {
            "None" => json!({"Code": "None"}),
            code => json!({"Code": code, "Message": format!("because of {code}")}),
        };
        let body = json!({
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "Message": format!(
                "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
                codes.join(", ")
            ),
            "CancellationReasons": codes.iter().map(reason).collect::<Vec<_>>(),
        });
        Self::Answer(400, body.to_string())
    }
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The action, like `PutItem`.
    pub action: String,
    /// The request.
    pub request: Value,
    /// The write capacity it consumed, indexes included.
    pub written: f64,
    /// The read capacity it consumed.
    pub read: f64,
}

#[derive(Default)]
struct State {
    faults: VecDeque<(String, Fault)>,
    /// How many requests more get through; none: all.
    left: Option<usize>,
    /// Where requests wait for each other, and how many more have to come.
    meetings: Vec<(String, Arc<Barrier>, usize)>,
    /// Where a request stands until it is let on: its action, and what it says.
    gates: Vec<(String, String, Gate)>,
    /// How long each request is on its way.
    takes: Duration,
    sent: Vec<Sent>,
}

/// Where a request stands until it is let on.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    arrived: Arc<Notify>,
    open: Arc<Notify>,
}

impl Gate {
    /// Waits until the request stands at the gate.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Lets it on.
    pub fn open(&self) {
        self.open.notify_one();
    }
}

/// A wire. Its clones are the same one.
#[derive(Clone)]
pub struct Wire {
    engine: SharedHttpClient,
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wire")
    }
}

impl Default for Wire {
    fn default() -> Self {
        Self::new()
    }
}

impl Wire {
    /// A wire that carries everything.
    #[must_use]
    pub fn new() -> Self {
        let provider = Provider::Rustls(CryptoMode::AwsLc);
        let engine = Builder::new().tls_provider(provider).build_https();
        Self { engine, state: Arc::default() }
    }

    /// This configuration, over this wire.
    #[must_use]
    pub fn over(&self, config: &SdkConfig) -> SdkConfig {
        config.clone().into_builder().http_client(self.clone()).build()
    }

    /// The next request of this action (like `PutItem`) meets this fault. Told
    /// several times, one after the other does.
    pub fn next(&self, action: &str, fault: Fault) {
        self.state().faults.push_back((action.to_owned(), fault));
    }

    /// The next so many requests of this action wait for each other: none arrives
    /// before all of them were sent. So what came before them came before all.
    pub fn gather(&self, action: &str, requests: usize) {
        let meeting = (action.to_owned(), Arc::new(Barrier::new(requests)), requests);
        self.state().meetings.push(meeting);
    }

    /// The next request of this action that says this (a part of its JSON) does not
    /// arrive before its gate is opened. Told several times, the next ones stand, too.
    #[must_use]
    pub fn stop(&self, action: &str, saying: &str) -> Gate {
        let gate = Gate::default();
        self.state().gates.push((action.to_owned(), saying.to_owned(), gate.clone()));
        gate
    }

    /// So many requests more get through, whatever their action; then none does,
    /// as if the process had died, until [`Self::heal`].
    pub fn break_after(&self, requests: usize) {
        self.state().left = Some(requests);
    }

    /// Carries everything again.
    pub fn heal(&self) {
        self.state().left = None;
    }

    /// From now on each request takes so long on its way, as those to a table of
    /// another machine do.
    pub fn slow_down(&self, takes: Duration) {
        self.state().takes = takes;
    }

    /// Whether every fault was met.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.state().faults.is_empty()
    }

    /// Forgets what was sent (also what was lost), and gives it back, in order.
    #[must_use]
    pub fn take_sent(&self) -> Vec<Sent> {
        std::mem::take(&mut self.state().sent)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn meeting_for(&self, action: &str) -> Option<Arc<Barrier>> {
        let mut state = self.state();
        let at = state.meetings.iter().position(|(wanted, ..)| wanted == action)?;
        let (_, barrier, left) = &mut state.meetings[at];
        let barrier = Arc::clone(barrier);
        *left -= 1;
        if *left == 0 {
            state.meetings.remove(at);
        }
        Some(barrier)
    }

    fn gate_for(&self, action: &str, body: &[u8]) -> Option<Gate> {
        let mut state = self.state();
        let body = String::from_utf8_lossy(body);
        let is_meant = |(wanted, saying, _): &(String, String, Gate)| {
            wanted == action && body.contains(saying.as_str())
        };
        let at = state.gates.iter().position(is_meant)?;
        Some(state.gates.remove(at).2)
    }

    fn fault_for(&self, action: &str) -> Option<Fault> {
        let mut state = self.state();
        match &mut state.left {
            Some(0) => return Some(Fault::RequestLost),
            Some(left) => *left -= 1,
            None => {}
        }
        let at = state.faults.iter().position(|(wanted, _)| wanted == action)?;
        state.faults.remove(at).map(|(_, fault)| fault)
    }
}

impl HttpClient for Wire {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        let inner = self.engine.http_connector(settings, components);
        SharedHttpConnector::new(Line { inner, wire: self.clone() })
    }
}

#[derive(Debug)]
struct Line {
    inner: SharedHttpConnector,
    wire: Wire,
}

impl HttpConnector for Line {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (inner, wire) = (self.inner.clone(), self.wire.clone());
        HttpConnectorFuture::new(carry(inner, wire, request))
    }
}

async fn carry(
    inner: SharedHttpConnector,
    wire: Wire,
    mut request: HttpRequest,
) -> Result<HttpResponse, ConnectorError> {
    let target = request.headers().get("x-amz-target").unwrap_or_default();
    let is_dynamo = target.starts_with("DynamoDB");
    let action = target.rsplit('.').next().unwrap_or_default().to_owned();
    let body = request.body().bytes().unwrap_or_default();
    let gate = wire.gate_for(&action, body);
    let mut sent = Sent {
        action: action.clone(),
        request: serde_json::from_slice(body).unwrap_or_default(),
        written: 0.0,
        read: 0.0,
    };
    if let Some(others) = wire.meeting_for(&action) {
        others.wait().await;
    }
    if let Some(gate) = gate {
        gate.arrived.notify_one();
        gate.open.notified().await;
    }
    let fault = wire.fault_for(&action);
    if fault == Some(Fault::RequestLost) {
        wire.state().sent.push(sent);
        return Err(broken());
    }
    if let Some(Fault::Answer(status, body)) = fault {
        wire.state().sent.push(sent);
        return Ok(answer(status, body));
    }
    if is_dynamo {
        ask_for_capacity(&mut request, sent.request.clone());
    }
    let takes = wire.state().takes;
    if !takes.is_zero() {
        tokio::time::sleep(takes).await;
    }
    let response = inner.call(request).await?;
    let (response, body) = whole(response).await?;
    meter(&mut sent, &body);
    wire.state().sent.push(sent);
    if fault == Some(Fault::ReplyLost) { Err(broken()) } else { Ok(response) }
}

fn broken() -> ConnectorError {
    ConnectorError::io("the wire broke, as the test told it to".into())
}

#[expect(clippy::expect_used, reason = "only tests come here")]
fn answer(status: u16, body: String) -> HttpResponse {
    let status = status.try_into().expect("an HTTP status");
    let mut response = HttpResponse::new(status, SdkBody::from(body));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    response
}

/// The signature no longer fits then; the engines of tests look at none.
fn ask_for_capacity(request: &mut HttpRequest, mut body: Value) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert("ReturnConsumedCapacity".to_owned(), json!("INDEXES"));
        let body = body.to_string();
        request.headers_mut().insert("content-length", body.len().to_string());
        *request.body_mut() = SdkBody::from(body);
    }
}

async fn whole(mut response: HttpResponse) -> Result<(HttpResponse, Vec<u8>), ConnectorError> {
    let body = ByteStream::new(response.take_body()).collect().await;
    let body = body.map_err(|error| ConnectorError::io(error.into()))?.to_vec();
    *response.body_mut() = SdkBody::from(body.clone());
    Ok((response, body))
}

/// Capacity comes as one object, or as one for each table.
fn meter(sent: &mut Sent, body: &[u8]) {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let consumed = &body["ConsumedCapacity"];
    let tables = consumed.as_array().cloned().unwrap_or_else(|| vec![consumed.clone()]);
    let writes = ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"];
    for table in tables {
        let units = table["CapacityUnits"].as_f64().unwrap_or_default();
        match writes.contains(&sent.action.as_str()) {
            true => sent.written += units,
            false => sent.read += units,
        }
    }
}
