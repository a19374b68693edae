//! What can go wrong between a client and the stack.

use std::path::PathBuf;
use std::time::Duration;

/// A client could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// There is no running stack to talk to.
    #[error("no stack is up ({path}); run localstack/up first", path = .path.display())]
    NoStack {
        /// The outputs that were looked for.
        path: PathBuf,
        /// Why they could not be read.
        source: std::io::Error,
    },
    /// The outputs are not what this version of the clients expects.
    #[error("the outputs in {path} can't be read; run localstack/up again", path = .path.display())]
    Outputs {
        /// The outputs.
        path: PathBuf,
        /// What is wrong with them.
        source: serde_json::Error,
    },
    /// A file that tells functions what to do could not be written or taken away.
    #[error("a file can't be written")]
    File(#[source] std::io::Error),
    /// A request got no answer.
    #[error("no answer")]
    Http(#[from] reqwest::Error),
    /// An answer that should have been something else.
    #[error("{what}: {status} {body}")]
    Unexpected {
        /// What was asked.
        what: String,
        /// The status it had.
        status: u16,
        /// Its body.
        body: String,
    },
    /// A body that could not be read as what it should be.
    #[error("{what} can't be read: {body}")]
    Decode {
        /// What it should be.
        what: String,
        /// What it was.
        body: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A queue that does not say what it holds.
    #[error("{queue} does not say how many messages it has")]
    Uncounted {
        /// Its address.
        queue: String,
    },
    /// A word that should be an id and is none.
    #[error("{id:?} is no id")]
    InvalidId {
        /// The word.
        id: String,
    },
    /// Redis could not be read.
    #[error("Redis can't be read")]
    Redis(#[from] redis_store::RedisStoreError),
    /// DynamoDB could not be read.
    #[error("DynamoDB can't be read")]
    DynamoDb(#[from] dynamo_store::StoreError),
    /// An event that was on sale has no inventory in Redis.
    #[error("Redis has no inventory of the event")]
    NoInventory,
    /// A WebSocket broke.
    #[error("the WebSocket broke")]
    WebSocket(#[from] Box<tokio_tungstenite::tungstenite::Error>),
    /// A WebSocket was closed by the other side.
    #[error("the WebSocket was closed")]
    Closed,
    /// A journey that waits for a hold to lapse, on a stack where that takes long.
    #[error("holds live {seconds} s here; bring a stack up with ONSALE_HOLD_SECONDS=30")]
    HoldsTooLong {
        /// How long they live.
        seconds: u32,
    },
    /// Something did not come true in time.
    #[error("not within {within:?}: {what}; last seen: {last}")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// For how long.
        within: Duration,
        /// What was there instead.
        last: String,
    },
}

/// The error with everything that caused it, for people.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
