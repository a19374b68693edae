//! Working off a batch of queue messages: each one decoded, handled apart from
//! the others, and reported by itself.
//!
//! The trigger must have `ReportBatchItemFailures`: without it, SQS deletes the
//! messages that are reported as failed here.

use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::{FutureExt, StreamExt, stream};
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use crate::clock;

/// Room that is left before the function is killed, for the answer itself.
const FAREWELL: Duration = Duration::from_millis(500);
/// And before that, for putting off a message that isn't done with: the queue alone
/// would keep it back for six times the function's timeout.
const PUTTING_OFF: Duration = Duration::from_millis(500);

/// One message, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<T> {
    /// What it says.
    pub body: T,
    /// Its name in the queue.
    pub id: String,
    /// What its visibility can be changed with.
    pub receipt_handle: String,
    /// How often it was received, this time included.
    pub receive_count: u32,
}

/// The message could not be worked off now; the queue delivers it again. Why
/// was logged by whoever knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry;

/// The time was over before the work was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the function's time was over before this was done")]
pub struct OutOfTime;

/// Until when a batch has time.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    ends_at: Timestamp,
    longest: Duration,
}

impl Deadline {
    /// The invocation's end. `longest` is what handling one message takes at
    /// most: nothing is started with less than that left.
    #[must_use]
    pub fn of(context: &lambda_runtime::Context, longest: Duration) -> Self {
        let millisecond = i64::try_from(context.deadline).unwrap_or(i64::MAX);
        let ends_at = Timestamp::from_millisecond(millisecond).unwrap_or(Timestamp::MAX);
        Self { ends_at, longest }
    }

    /// Any end, for tests.
    #[must_use]
    pub fn at(ends_at: Timestamp, longest: Duration) -> Self {
        Self { ends_at, longest }
    }

    /// How much time is left for work.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let left = Duration::try_from(self.ends_at.duration_since(clock::now()));
        left.unwrap_or_default().saturating_sub(FAREWELL)
    }

    /// How much of it the work of a message may take.
    #[must_use]
    pub fn for_work(&self) -> Duration {
        self.remaining().saturating_sub(PUTTING_OFF)
    }

    /// Does the work of a message, for as long as there is time for it.
    ///
    /// # Errors
    /// When it was cut off. Then there still is time to put its message off.
    pub async fn within<F: Future>(&self, work: F) -> Result<F::Output, OutOfTime> {
        tokio::time::timeout(self.for_work(), work).await.map_err(|_| OutOfTime)
    }

    /// Whether handling one more message can still end in time.
    #[must_use]
    pub fn allows_another(&self) -> bool {
        self.for_work() >= self.longest
    }
}

/// Handles each message by itself, `concurrency` at a time. The answer names
/// exactly those that failed: the handler said [`Retry`], it panicked, the time
/// was up, or the message could not be read (so that it ends in the
/// dead-letter queue).
///
/// Messages with the same key are one: the first is handled, and its outcome is
/// that of all. Two copies of one message in one batch would otherwise get in
/// each other's way.
pub async fn each_distinct<T, K, F, Fut>(
    event: SqsEvent,
    key: impl Fn(&T) -> K,
    concurrency: usize,
    deadline: Deadline,
    handle: F,
) -> SqsBatchResponse
where
    T: DeserializeOwned,
    K: Hash + Eq,
    F: Fn(Message<T>) -> Fut,
    Fut: Future<Output = Result<(), Retry>>,
{
    let (messages, unreadable) = decode(event);
    run(distinct(messages, key), unreadable, concurrency, deadline, handle).await
}

/// The same, where the caller makes of a message what it will: also of one that
/// others could not read. None is reported but for its handler.
pub async fn each_distinct_of<T, K, F, Fut>(
    event: SqsEvent,
    read: impl Fn(&SqsMessage) -> T,
    key: impl Fn(&T) -> K,
    concurrency: usize,
    deadline: Deadline,
    handle: F,
) -> SqsBatchResponse
where
    K: Hash + Eq,
    F: Fn(Message<T>) -> Fut,
    Fut: Future<Output = Result<(), Retry>>,
{
    let message = |record| message(read(&record), record);
    let messages = event.records.into_iter().map(message).collect();
    run(distinct(messages, key), Vec::new(), concurrency, deadline, handle).await
}

/// The first message of each key, with the ids of all that have it.
fn distinct<T, K: Hash + Eq>(
    messages: Vec<Message<T>>,
    key: impl Fn(&T) -> K,
) -> Vec<(Vec<String>, Message<T>)> {
    let mut groups: Vec<(Vec<String>, Message<T>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for message in messages {
        let place = *places.entry(key(&message.body)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((ids, _)) => ids.push(message.id),
            None => groups.push((vec![message.id.clone()], message)),
        }
    }
    groups
}

async fn run<T, F, Fut>(
    groups: Vec<(Vec<String>, Message<T>)>,
    unreadable: Vec<String>,
    concurrency: usize,
    deadline: Deadline,
    handle: F,
) -> SqsBatchResponse
where
    F: Fn(Message<T>) -> Fut,
    Fut: Future<Output = Result<(), Retry>>,
{
    let handle = &handle;
    let failed: Vec<Vec<String>> = stream::iter(groups)
        .map(|(ids, message)| async move {
            let done = deadline.allows_another() && in_time(deadline, || handle(message)).await;
            if done { Vec::new() } else { ids }
        })
        .buffer_unordered(concurrency.max(1))
        .collect()
        .await;
    let mut response = SqsBatchResponse::default();
    for id in unreadable.into_iter().chain(failed.into_iter().flatten()) {
        response.add_failure(id);
    }
    response
}

async fn in_time<Fut>(deadline: Deadline, start: impl FnOnce() -> Fut) -> bool
where
    Fut: Future<Output = Result<(), Retry>>,
{
    let handled = isolated(async move { start().await });
    match tokio::time::timeout(deadline.remaining(), handled).await {
        Ok(Ok(outcome)) => outcome.is_ok(),
        Ok(Err(Panicked)) => false,
        Err(_) => {
            tracing::warn!("handling a message did not end in time");
            false
        }
    }
}

/// Something panicked; the panic itself was logged where it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it panicked")]
pub struct Panicked;

/// Runs a future so that its panic costs nothing but itself.
///
/// # Errors
/// When it panicked.
pub async fn isolated<Fut: Future>(future: Fut) -> Result<Fut::Output, Panicked> {
    // What is shared with a future that panicked are handles to the outside
    // (clients, pools), which hold no half-done state of ours.
    AssertUnwindSafe(future).catch_unwind().await.map_err(|_: Box<dyn Any + Send>| Panicked)
}

fn decode<T: DeserializeOwned>(event: SqsEvent) -> (Vec<Message<T>>, Vec<String>) {
    let mut readable = Vec::new();
    let mut unreadable = Vec::new();
    for record in event.records {
        match serde_json::from_str(record.body.as_deref().unwrap_or_default()) {
            Ok(body) => readable.push(message(body, record)),
            Err(error) => {
                let id = id_of(&record);
                tracing::error!(message_id = id, %error, "a message can't be read");
                unreadable.push(id);
            }
        }
    }
    (readable, unreadable)
}

fn message<T>(body: T, record: SqsMessage) -> Message<T> {
    let count = record.attributes.get("ApproximateReceiveCount");
    Message {
        body,
        id: id_of(&record),
        receive_count: count.and_then(|count| count.parse().ok()).unwrap_or(1),
        receipt_handle: record.receipt_handle.unwrap_or_default(),
    }
}

/// An empty identifier fails the whole batch, which is what a message without a
/// name deserves: nothing may be deleted by mistake.
fn id_of(record: &SqsMessage) -> String {
    record.message_id.clone().unwrap_or_default()
}
