//! Subscriptions: pk `event#<event>#<shard>`, sk `<connection id>`. Sixteen
//! shards by connection, so that a crowd that subscribes at once spreads.

use domain::{ConnectionId, EventId, SectionId};

use super::ConnectionStore;
use crate::StoreError;

/// The most events one connection can watch at once.
pub const MAX_EVENTS_PER_CONNECTION: usize = 10;

/// What a connection watches of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Which event.
    pub event: EventId,
    /// Whose.
    pub connection: ConnectionId,
    /// The sections it wants; empty: all of them.
    pub sections: Vec<SectionId>,
}

/// One who watches an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    /// The connection.
    pub connection: ConnectionId,
    /// The sections it wants; empty: all of them.
    pub sections: Vec<SectionId>,
}

/// What subscribing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subscribed {
    /// It watches.
    Stored,
    /// It watches [`MAX_EVENTS_PER_CONNECTION`] other events.
    TooMany,
    /// The connection is gone.
    NoConnection,
}

impl ConnectionStore {
    /// Subscribes, or replaces the sections of this connection's subscription.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn subscription_put(
        &self,
        subscription: &Subscription,
    ) -> Result<Subscribed, StoreError> {
        todo!()
    }

    /// Ends a subscription; an unknown one is fine.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn subscription_delete(
        &self,
        event: &EventId,
        connection: &ConnectionId,
    ) -> Result<(), StoreError> {
        todo!()
    }

    /// Everyone who watches the event, perhaps a moment old: the last tick is
    /// repeated, so one who just came misses nothing for good.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn subscribers_list(&self, event: &EventId) -> Result<Vec<Subscriber>, StoreError> {
        todo!()
    }
}
