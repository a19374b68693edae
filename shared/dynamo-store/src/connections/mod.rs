//! WebSocket connections, what they watch, and who ticks for an event.

mod connection;
mod subscription;
mod ticker;

pub use connection::Connection;
pub use subscription::{MAX_EVENTS_PER_CONNECTION, Subscribed, Subscriber, Subscription};
pub use ticker::{TickerClaim, TickerPosition};

use aws_sdk_dynamodb::Client;

/// The connections table.
#[derive(Debug, Clone)]
pub struct ConnectionStore {
    client: Client,
    table: String,
}

impl ConnectionStore {
    /// The store over this table.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }
}
