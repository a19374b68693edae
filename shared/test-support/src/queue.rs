//! An SQS that takes messages and gives none out, faked at the wire.

use std::sync::{Arc, Mutex};

use aws_config::SdkConfig;
use serde_json::Value;

use crate::endpoint::{Answer, Asked, Endpoint, lock};

/// A message that was sent to a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// The body, as JSON.
    pub body: Value,
    /// The delay in seconds.
    pub delay: u64,
    /// The message group; empty where it has none.
    pub group: String,
}

/// An SQS that takes messages and gives none out.
#[derive(Debug)]
pub struct FakeQueue {
    endpoint: Endpoint,
    down: Arc<Mutex<bool>>,
}

impl FakeQueue {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        let down = Arc::new(Mutex::new(false));
        let is_down = Arc::clone(&down);
        let endpoint = Endpoint::start(move |_| match *lock(&is_down) {
            true => Answer::new(500, "{}"),
            false => Answer::new(200, r#"{"MessageId":"m","Successful":[],"Failed":[]}"#)
                .header("content-type", "application/x-amz-json-1.0"),
        });
        Self { endpoint: endpoint.await, down }
    }

    /// A configuration for its clients.
    #[must_use]
    pub fn sdk_config(&self) -> SdkConfig {
        self.endpoint.sdk_config()
    }

    /// The address of a queue with this name.
    #[must_use]
    pub fn queue_url(&self, name: &str) -> String {
        format!("{}/123456789012/{name}", self.endpoint.url())
    }

    /// From now on it fails, or works again.
    pub fn set_down(&self, down: bool) {
        *lock(&self.down) = down;
    }

    /// Forgets the messages it was sent (also those it failed to take), and gives
    /// them back, in order.
    #[must_use]
    pub fn take_sent(&self) -> Vec<SentMessage> {
        self.endpoint.take_asked().iter().flat_map(messages_of).collect()
    }
}

fn messages_of(asked: &Asked) -> Vec<SentMessage> {
    let request: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    match asked.header("x-amz-target") {
        "AmazonSQS.SendMessage" => vec![message_of(&request)],
        "AmazonSQS.SendMessageBatch" => {
            request["Entries"].as_array().into_iter().flatten().map(message_of).collect()
        }
        _ => Vec::new(),
    }
}

fn message_of(entry: &Value) -> SentMessage {
    let body = entry["MessageBody"].as_str().unwrap_or_default();
    SentMessage {
        body: serde_json::from_str(body).unwrap_or_default(),
        delay: entry["DelaySeconds"].as_u64().unwrap_or_default(),
        group: entry["MessageGroupId"].as_str().unwrap_or_default().to_owned(),
    }
}
