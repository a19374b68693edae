//! Subscriptions: pk `event#<event>#<shard>`, sk `<connection id>`. Four shards by
//! connection, so that a crowd that subscribes at once spreads: they take 4,000
//! subscriptions a second. Not more of them, as every tick that has something to
//! say reads them all. One goes by the time to live when its connection does, if
//! nobody removes it.

use domain::{ConnectionId, EventId, SectionId};

use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::ConnectionStore;
use super::connection::{GONE_AT, connection_id_of, connection_key};
use crate::StoreError;
use crate::table::{Change, Guard, Item, Key, Written, decode, encode};

/// The connection is there and watches this event already, or few enough others.
const HAS_ROOM: &str = "attribute_exists(pk) AND (attribute_not_exists(#events) \
                        OR contains(#events, :event) OR size(#events) < :most)";
/// Forgetting an event must not bring a removed connection back.
const IS_THERE: &str = "attribute_exists(pk)";

const SHARDS: u32 = 4;

/// No section list: all sections.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sections: Vec<SectionId>,
}

fn shard_partition(event: &EventId, shard: u32) -> String {
    format!("event#{event}#{shard}")
}

/// The shard a connection's subscriptions lie in; never changes.
fn shard_of(connection: &ConnectionId) -> u32 {
    let add = |sum: u32, byte: u8| sum.wrapping_mul(31).wrapping_add(byte.into());
    connection.as_str().bytes().fold(0, add) % SHARDS
}

pub(super) fn subscription_key(event: &EventId, connection: &ConnectionId) -> Key {
    Key::new(shard_partition(event, shard_of(connection)), connection.as_str())
}

fn subscriber_of(item: Item) -> Result<Subscriber, StoreError> {
    let connection = connection_id_of(&item)?;
    let Record { sections } = decode("subscription", item)?;
    Ok(Subscriber { connection, sections })
}

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
        let Subscription { event, connection, sections } = subscription;
        // The connection first: whatever is subscribed is found again when it goes.
        let change = Change::new("ADD #events :events")
            .value(":events", AttributeValue::Ss(vec![event.to_string()]));
        let guard = Guard::new(HAS_ROOM)
            .value(":event", event.as_str())
            .value(":most", MAX_EVENTS_PER_CONNECTION as u64);
        let written = self.table.update_if(&connection_key(connection), &change, &guard).await?;
        let mut of_connection = match written {
            Written::Done(item) => item,
            Written::Refused(Some(_)) => return Ok(Subscribed::TooMany),
            Written::Refused(None) => return Ok(Subscribed::NoConnection),
        };
        let mut attributes = encode(&Record { sections: sections.clone() })?;
        attributes.extend(of_connection.remove_entry(GONE_AT));
        self.table.put(subscription_key(event, connection).with(attributes)).await?;
        Ok(Subscribed::Stored)
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
        self.table.delete(&subscription_key(event, connection)).await?;
        let change = Change::new("DELETE #events :events")
            .value(":events", AttributeValue::Ss(vec![event.to_string()]));
        self.table.update_if(&connection_key(connection), &change, &Guard::new(IS_THERE)).await?;
        Ok(())
    }

    /// Everyone who watches the event, perhaps a moment old: the last tick is
    /// repeated, so one who just came misses nothing for good.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn subscribers_list(&self, event: &EventId) -> Result<Vec<Subscriber>, StoreError> {
        let partitions: Vec<String> =
            (0..SHARDS).map(|shard| shard_partition(event, shard)).collect();
        let reads = partitions.iter().map(|partition| self.table.query(partition, "", false));
        let items = try_join_all(reads).await?;
        items.into_iter().flatten().map(subscriber_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_spreads_over_the_shards() {
        let mut seen = [0u32; SHARDS as usize];
        for number in 0..1_600u32 {
            let id = ConnectionId::parse(&format!("L0SM9c{number:x}FvHcCIhw=")).unwrap();
            seen[shard_of(&id) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (300..500).contains(&count)), "{seen:?}");
    }
}
