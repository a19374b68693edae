//! WebSocket connections, what they watch, and who ticks for an event.

mod connection;
mod subscription;
mod ticker;

pub use connection::Connection;
pub use subscription::{MAX_EVENTS_PER_CONNECTION, Subscribed, Subscriber, Subscription};
pub use ticker::{LastTold, Look, Ticker};

use aws_sdk_dynamodb::Client;

use crate::table::TableClient;

/// The connections table.
#[derive(Debug, Clone)]
pub struct ConnectionStore {
    table: TableClient,
}

impl ConnectionStore {
    /// The store over this table.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { table: TableClient::new(client, table) }
    }
}
