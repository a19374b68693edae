//! Connections: pk `connection#<id>`, sk `meta`; a fan's also under pk
//! `customer#<customer>`, sk `<id>`, where the outcome of an order finds them.

use std::collections::BTreeSet;

use domain::{ConnectionId, CustomerId, EventId};
use jiff::Timestamp;

use super::ConnectionStore;
use crate::StoreError;

/// An open connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Named by the gateway.
    pub id: ConnectionId,
    /// Whose it is; none: an anonymous viewer's.
    pub customer: Option<CustomerId>,
    /// Since when.
    pub connected_at: Timestamp,
    /// The events it watches.
    pub events: BTreeSet<EventId>,
}

impl ConnectionStore {
    /// Registers a connection (its events are not looked at: it watches none yet).
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn connection_put(&self, connection: &Connection) -> Result<(), StoreError> {
        todo!()
    }

    /// The connection; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn connection_fetch(
        &self,
        connection: &ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        todo!()
    }

    /// Removes a connection, its subscriptions and its customer's pointer to it.
    /// An unknown one is fine.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn connection_delete(&self, connection: &ConnectionId) -> Result<(), StoreError> {
        todo!()
    }

    /// The customer's open connections, perhaps a moment old.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn customer_connections_list(
        &self,
        customer: &CustomerId,
    ) -> Result<Vec<ConnectionId>, StoreError> {
        todo!()
    }
}
