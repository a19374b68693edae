//! WebSocket connections, what they watch, and who ticks for an event.

mod connection;
mod subscription;
mod ticker;

pub use connection::Connection;
pub use subscription::{MAX_EVENTS_PER_CONNECTION, Subscribed, Subscriber, Subscription};
pub use ticker::{LastTold, Look, Ticker};

use aws_sdk_dynamodb::Client;

use crate::StoreError;
use crate::table::{Key, TableClient};

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

    /// Reads nothing, where no connection is: as
    /// [`CatalogStore::catalog_reach`](crate::CatalogStore::catalog_reach), for who
    /// may get no item of the catalogue.
    ///
    /// # Errors
    /// When DynamoDB fails.
    pub fn connections_reach(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let table = self.table.clone();
        async move { table.get(&Key::new("connection#", "meta"), false).await.map(drop) }
    }
}
