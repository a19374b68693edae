//! An SQS that takes messages and gives none out, faked at the wire.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_config::SdkConfig;
use serde_json::Value;

use crate::endpoint::{Answer, Asked, Endpoint, lock};

/// A message that was sent to a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// The body, as JSON; null where it is none.
    pub body: Value,
    /// The body, as it was sent.
    pub text: String,
    /// The delay in seconds.
    pub delay: u64,
    /// The message group; empty where it has none.
    pub group: String,
    /// The attributes that are texts.
    pub attributes: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct Taken {
    refuses: bool,
    loses_replies: bool,
    sent: Vec<SentMessage>,
    postponed: Vec<u64>,
}

/// An SQS that takes messages and gives none out.
#[derive(Debug)]
pub struct FakeQueue {
    endpoint: Endpoint,
    taken: Arc<Mutex<Taken>>,
}

impl FakeQueue {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        let taken = Arc::new(Mutex::new(Taken::default()));
        let own = Arc::clone(&taken);
        let endpoint = Endpoint::start(move |asked| take(asked, &mut lock(&own))).await;
        Self { endpoint, taken }
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

    /// From now on it takes no message, or takes them again.
    pub fn set_refusing(&self, refuses: bool) {
        lock(&self.taken).refuses = refuses;
    }

    /// From now on it takes messages and fails to say so, or says it again.
    pub fn set_losing_replies(&self, loses: bool) {
        lock(&self.taken).loses_replies = loses;
    }

    /// Forgets the messages it took, and gives them back, in order.
    #[must_use]
    pub fn take_sent(&self) -> Vec<SentMessage> {
        std::mem::take(&mut lock(&self.taken).sent)
    }

    /// Forgets which messages were postponed, and gives back by how many seconds.
    #[must_use]
    pub fn take_postponed(&self) -> Vec<u64> {
        std::mem::take(&mut lock(&self.taken).postponed)
    }
}

fn take(asked: &Asked, taken: &mut Taken) -> Answer {
    let request: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    match asked.header("x-amz-target") {
        "AmazonSQS.ChangeMessageVisibility" => {
            taken.postponed.extend(request["VisibilityTimeout"].as_u64());
            Answer::new(200, "{}")
        }
        _ if taken.refuses => Answer::new(500, "{}"),
        "AmazonSQS.SendMessage" => {
            taken.sent.push(message_of(&request));
            taken.answer(r#"{"MessageId":"m"}"#)
        }
        "AmazonSQS.SendMessageBatch" => {
            taken.sent.extend(request["Entries"].as_array().into_iter().flatten().map(message_of));
            taken.answer(r#"{"Successful":[],"Failed":[]}"#)
        }
        _ => Answer::new(400, "{}"),
    }
}

impl Taken {
    fn answer(&self, body: &str) -> Answer {
        if self.loses_replies { Answer::new(500, "{}") } else { Answer::new(200, body) }
    }
}

fn message_of(entry: &Value) -> SentMessage {
    let text = entry["MessageBody"].as_str().unwrap_or_default();
    SentMessage {
        body: serde_json::from_str(text).unwrap_or_default(),
        text: text.to_owned(),
        delay: entry["DelaySeconds"].as_u64().unwrap_or_default(),
        group: entry["MessageGroupId"].as_str().unwrap_or_default().to_owned(),
        attributes: attributes_of(entry),
    }
}

fn attributes_of(entry: &Value) -> BTreeMap<String, String> {
    let attributes = entry["MessageAttributes"].as_object().into_iter().flatten();
    attributes
        .filter_map(|(name, value)| Some((name.clone(), value["StringValue"].as_str()?.to_owned())))
        .collect()
}
