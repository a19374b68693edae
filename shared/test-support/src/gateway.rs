//! The connections of a WebSocket API, faked at the wire.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use aws_config::SdkConfig;
use serde_json::{Value, json};

use crate::endpoint::{Answer, Asked, Endpoint, lock};

/// A frame that was posted to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedFrame {
    /// The connection.
    pub connection: String,
    /// The frame, as JSON.
    pub frame: Value,
}

/// What becomes of posts to a connection.
#[derive(Debug, Default)]
struct Fates {
    gone: BTreeSet<String>,
    broken: BTreeSet<String>,
}

/// The connections of a WebSocket API. A connection is open unless it is said
/// to be gone (410) or broken (500).
#[derive(Debug)]
pub struct FakeGateway {
    endpoint: Endpoint,
    fates: Arc<Mutex<Fates>>,
}

impl FakeGateway {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        let fates = Arc::new(Mutex::new(Fates::default()));
        let known = Arc::clone(&fates);
        let endpoint = Endpoint::start(move |asked| {
            let connection = connection_of(asked);
            let fates = lock(&known);
            if fates.gone.contains(&connection) {
                let body = json!({"message": "GoneException"}).to_string();
                return Answer::new(410, body).header("x-amzn-errortype", "GoneException");
            }
            Answer::new(if fates.broken.contains(&connection) { 500 } else { 200 }, "")
        });
        Self { endpoint: endpoint.await, fates }
    }

    /// A configuration for its clients.
    #[must_use]
    pub fn sdk_config(&self) -> SdkConfig {
        self.endpoint.sdk_config()
    }

    /// The endpoint of its connections, with a stage as on AWS.
    #[must_use]
    pub fn connections_endpoint(&self) -> String {
        format!("{}/live", self.endpoint.url())
    }

    /// From now on this connection answers 410.
    pub fn set_gone(&self, connection: &str) {
        lock(&self.fates).gone.insert(connection.to_owned());
    }

    /// From now on posts to this connection fail, or work again.
    pub fn set_broken(&self, connection: &str, broken: bool) {
        let mut fates = lock(&self.fates);
        match broken {
            true => fates.broken.insert(connection.to_owned()),
            false => fates.broken.remove(connection),
        };
    }

    /// Forgets what was posted (also what failed), and gives it back, in order.
    #[must_use]
    pub fn take_posted(&self) -> Vec<PostedFrame> {
        let posted = |asked: &Asked| PostedFrame {
            connection: connection_of(asked),
            frame: serde_json::from_str(&asked.body).unwrap_or_default(),
        };
        self.endpoint.take_asked().iter().map(posted).collect()
    }
}

/// The last part of the path; the gateway's ids end with `=`, which comes encoded.
fn connection_of(asked: &Asked) -> String {
    let path = asked.path.split('?').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().replace("%3D", "=")
}
