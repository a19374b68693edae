//! Sending to the queues between functions.
//!
//! A send that fails may have happened: SQS can take a message and lose the
//! answer. Every message here is safe to arrive twice, so the caller sends
//! again or says "outcome unknown", and never "it did not happen".

use aws_config::SdkConfig;
use aws_sdk_sqs::error::{BuildError, SdkError};
use aws_sdk_sqs::types::{MessageAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry};
use contracts::messages::{GivenUp, LiveUpdate, OrderIntent, SettleRetry};
use fault_points::{QUEUES_SENT, reached};
use serde::Serialize;

pub use aws_sdk_sqs::Client;

/// The longest delay SQS knows, in seconds.
pub const LONGEST_DELAY: u32 = 900;
/// The most messages of one call.
const BATCH: usize = 10;
/// The most signs of an attribute's text.
const LONGEST_LABEL: usize = 300;

/// It is unknown whether the messages are in the queue.
#[derive(Debug, thiserror::Error)]
#[error("it is unknown whether the queue took the message")]
pub struct SendError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl<E, R> From<SdkError<E, R>> for SendError
where
    SdkError<E, R>: std::error::Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E, R>) -> Self {
        Self(Box::new(error))
    }
}

impl From<serde_json::Error> for SendError {
    fn from(error: serde_json::Error) -> Self {
        Self(Box::new(error))
    }
}

impl From<BuildError> for SendError {
    fn from(error: BuildError) -> Self {
        Self(Box::new(error))
    }
}

/// SQS can't be reached.
#[derive(Debug, thiserror::Error)]
#[error("the queue can't be reached")]
pub struct ReachError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// The queue did not take some messages of a batch.
#[derive(Debug, thiserror::Error)]
#[error("the queue refused {0} messages")]
struct Refused(usize);

/// A client for all queues.
#[must_use]
pub fn client(config: &SdkConfig) -> Client {
    Client::new(config)
}

/// Orders that wait to be persisted. Grouped by event, so that a rush on one
/// leaves the others their turn (fair queues).
#[derive(Debug, Clone)]
pub struct IntentQueue(Queue);

impl IntentQueue {
    /// The queue at this address.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self(Queue { client, url: url.into() })
    }

    /// Asks for nothing of use: the connection to SQS is what this is for.
    ///
    /// # Errors
    /// When SQS can't be reached.
    pub fn queue_reach(&self) -> impl Future<Output = Result<(), ReachError>> + Send + use<> {
        let ask = self.0.client.get_queue_attributes().queue_url(&self.0.url);
        let ask = ask.attribute_names(QueueAttributeName::QueueArn);
        async move { ask.send().await.map(drop).map_err(|error| ReachError(error.into())) }
    }

    /// Puts an intent in.
    ///
    /// # Errors
    /// When it is unknown whether it is in.
    pub async fn send(&self, intent: &OrderIntent) -> Result<(), SendError> {
        self.0.send(intent, Some(intent.event.as_str()), 0).await
    }
}

/// Orders that Redis still has to be made to agree with.
#[derive(Debug, Clone)]
pub struct SettleQueue(Queue);

impl SettleQueue {
    /// The queue at this address.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self(Queue { client, url: url.into() })
    }

    /// Puts an order in, to be looked at after a delay.
    ///
    /// # Errors
    /// When it is unknown whether it is in.
    pub async fn send(&self, retry: &SettleRetry, delay_seconds: u32) -> Result<(), SendError> {
        self.0.send(retry, None, delay_seconds).await
    }
}

/// What watchers should see. Grouped by event.
#[derive(Debug, Clone)]
pub struct LiveQueue(Queue);

impl LiveQueue {
    /// The queue at this address.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self(Queue { client, url: url.into() })
    }

    /// Puts an update in.
    ///
    /// # Errors
    /// When it is unknown whether it is in.
    pub async fn send(&self, update: &LiveUpdate) -> Result<(), SendError> {
        self.send_delayed(update, 0).await
    }

    /// Puts an update in that becomes visible after a delay.
    ///
    /// # Errors
    /// When it is unknown whether it is in.
    pub async fn send_delayed(
        &self,
        update: &LiveUpdate,
        delay_seconds: u32,
    ) -> Result<(), SendError> {
        self.0.send(update, Some(update.event().as_str()), delay_seconds).await
    }

    /// Puts several updates in, ten a call.
    ///
    /// # Errors
    /// When it is unknown whether all are in.
    pub async fn send_all(&self, updates: &[LiveUpdate]) -> Result<(), SendError> {
        for updates in updates.chunks(BATCH) {
            self.0.send_batch(updates, |update| Some(update.event().as_str())).await?;
        }
        Ok(())
    }
}

/// Where intents go that can never be carried out, with why.
#[derive(Debug, Clone)]
pub struct DeadLetters(Queue);

impl DeadLetters {
    /// The dead-letter queue at this address.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self(Queue { client, url: url.into() })
    }

    /// Puts a message in as it came, with the attributes `reason` and `detail`.
    ///
    /// # Errors
    /// When it is unknown whether it is in.
    pub async fn bury(&self, text: &str, reason: GivenUp, detail: &str) -> Result<(), SendError> {
        self.0.send_labelled(text, &[("reason", reason.as_str()), ("detail", detail)]).await
    }
}

/// Where dead letters are kept once their orders have been seen to.
#[derive(Debug, Clone)]
pub struct ParkedLetters(Queue);

impl ParkedLetters {
    /// The queue at this address.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self(Queue { client, url: url.into() })
    }

    /// Puts a letter in as it came, with what is known of it as attributes.
    ///
    /// # Errors
    /// When it is unknown whether it is in.
    pub async fn park(&self, text: &str, labels: &[(&str, &str)]) -> Result<(), SendError> {
        self.0.send_labelled(text, labels).await
    }
}

/// Messages under way to us, of whatever queue: their visibility.
#[derive(Debug, Clone)]
pub struct Visibility(Queue);

impl Visibility {
    /// Of the messages of the queue at this address.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self(Queue { client, url: url.into() })
    }

    /// Makes a message that will be reported as failed come back after this
    /// many seconds, not after the whole visibility timeout.
    ///
    /// # Errors
    /// When it could not be changed; the message comes back later then.
    pub async fn postpone(&self, receipt_handle: &str, seconds: u32) -> Result<(), SendError> {
        self.0
            .client
            .change_message_visibility()
            .queue_url(&self.0.url)
            .receipt_handle(receipt_handle)
            .visibility_timeout(i32::try_from(seconds).unwrap_or(i32::MAX))
            .send()
            .await?;
        Ok(())
    }
}

#[derive(Debug, Clone)]
struct Queue {
    client: Client,
    url: String,
}

impl Queue {
    async fn send(
        &self,
        message: &impl Serialize,
        group: Option<&str>,
        delay_seconds: u32,
    ) -> Result<(), SendError> {
        self.client
            .send_message()
            .queue_url(&self.url)
            .message_body(serde_json::to_string(message)?)
            .set_message_group_id(group.map(str::to_owned))
            .set_delay_seconds(delay(delay_seconds))
            .send()
            .await?;
        reached(QUEUES_SENT).await;
        Ok(())
    }

    /// Sends a text as it is. Labels without a text are left out: SQS takes none.
    async fn send_labelled(&self, text: &str, labels: &[(&str, &str)]) -> Result<(), SendError> {
        let mut call = self.client.send_message().queue_url(&self.url).message_body(text);
        for (name, value) in labels.iter().filter(|(_, value)| !value.is_empty()) {
            let label =
                MessageAttributeValue::builder().data_type("String").string_value(label_of(value));
            call = call.message_attributes(*name, label.build()?);
        }
        call.send().await?;
        reached(QUEUES_SENT).await;
        Ok(())
    }

    async fn send_batch<T: Serialize>(
        &self,
        messages: &[T],
        group: impl Fn(&T) -> Option<&str>,
    ) -> Result<(), SendError> {
        let mut call = self.client.send_message_batch().queue_url(&self.url);
        for (at, message) in messages.iter().enumerate() {
            let entry = SendMessageBatchRequestEntry::builder()
                .id(at.to_string())
                .message_body(serde_json::to_string(message)?)
                .set_message_group_id(group(message).map(str::to_owned))
                .build()?;
            call = call.entries(entry);
        }
        let answer = call.send().await?;
        reached(QUEUES_SENT).await;
        match answer.failed().len() {
            0 => Ok(()),
            refused => Err(SendError(Box::new(Refused(refused)))),
        }
    }
}

/// What SQS takes as an attribute: a bounded text without control characters. The
/// template's limits leave room for it beside the largest message.
fn label_of(text: &str) -> String {
    let is_taken = |sign: char| !sign.is_control() && !matches!(sign, '\u{fffe}' | '\u{ffff}');
    text.chars().take(LONGEST_LABEL).map(|sign| if is_taken(sign) { sign } else { '?' }).collect()
}

/// No delay is no parameter: the queue's own default holds.
fn delay(seconds: u32) -> Option<i32> {
    match seconds.min(LONGEST_DELAY) {
        0 => None,
        seconds => i32::try_from(seconds).ok(),
    }
}
