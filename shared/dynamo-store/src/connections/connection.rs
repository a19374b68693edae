//! Connections: pk `connection#<id>`, sk `meta`; a fan's also under pk
//! `customer#<customer>`, sk `<id>`, where the outcome of an order finds them.
//!
//! The gateway closes every connection after two hours, and doesn't always say so.
//! What nobody removed goes by the table's time to live, three hours after the
//! connection came: garbage, as nobody hears it any more. It decides nothing.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{ConnectionId, CustomerId, EventId};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::ConnectionStore;
use super::subscription::subscription_key;
use crate::StoreError;
use crate::table::{Item, Key, decode, encode};

/// Longer than any connection lives: two hours, and one for clocks that differ.
const KEPT: SignedDuration = SignedDuration::from_hours(3);
/// The attribute that the table's time to live goes by, in seconds.
pub(super) const GONE_AT: &str = "ttl";

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    customer: Option<CustomerId>,
    connected_at: i64,
    /// A set of texts, written by subscribing only.
    #[serde(default, skip_serializing)]
    events: BTreeSet<EventId>,
}

pub(super) fn connection_key(connection: &ConnectionId) -> Key {
    Key::new(format!("connection#{connection}"), "meta")
}

fn customer_partition(customer: &CustomerId) -> String {
    format!("customer#{customer}")
}

fn customer_key(customer: &CustomerId, connection: &ConnectionId) -> Key {
    Key::new(customer_partition(customer), connection.as_str())
}

fn gone_at(connected_at: Timestamp) -> Item {
    let at = connected_at + KEPT;
    Item::from([(GONE_AT.to_owned(), AttributeValue::N(at.as_second().to_string()))])
}

fn connection_of(id: &ConnectionId, item: Item) -> Result<Connection, StoreError> {
    let record: Record = decode("connection", item)?;
    let connected_at = Timestamp::from_millisecond(record.connected_at)
        .map_err(|source| StoreError::corrupt("connection", source))?;
    let Record { customer, events, .. } = record;
    Ok(Connection { id: id.clone(), customer, connected_at, events })
}

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
        let Connection { id, customer, connected_at, .. } = connection;
        let record = Record {
            customer: customer.clone(),
            connected_at: connected_at.as_millisecond(),
            events: BTreeSet::new(),
        };
        let gone_at = gone_at(*connected_at);
        let mut attributes = encode(&record)?;
        attributes.extend(gone_at.clone());
        self.table.put(connection_key(id).with(attributes)).await?;
        if let Some(customer) = customer {
            self.table.put(customer_key(customer, id).with(gone_at)).await?;
        }
        Ok(())
    }

    /// The connection; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn connection_fetch(
        &self,
        connection: &ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        let item = self.table.get(&connection_key(connection), true).await?;
        item.map(|item| connection_of(connection, item)).transpose()
    }

    /// Removes a connection, its subscriptions and its customer's pointer to it.
    /// An unknown one is fine; a pointer that was put after it had gone is left to
    /// the time to live, as nothing says whose it is. The connection itself goes
    /// last: whoever died in between leaves it to be found again.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn connection_delete(&self, connection: &ConnectionId) -> Result<(), StoreError> {
        let Some(found) = self.connection_fetch(connection).await? else { return Ok(()) };
        for event in &found.events {
            self.table.delete(&subscription_key(event, connection)).await?;
        }
        if let Some(customer) = &found.customer {
            self.table.delete(&customer_key(customer, connection)).await?;
        }
        // Subscribed in between: that one is not removed above.
        let last = self.table.delete(&connection_key(connection)).await?;
        let Some(last) = last else { return Ok(()) };
        for event in connection_of(connection, last)?.events.difference(&found.events) {
            self.table.delete(&subscription_key(event, connection)).await?;
        }
        Ok(())
    }

    /// The customer's open connections, perhaps a moment old.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn customer_connections_list(
        &self,
        customer: &CustomerId,
    ) -> Result<Vec<ConnectionId>, StoreError> {
        let items = self.table.query(&customer_partition(customer), "", false).await?;
        items.iter().map(connection_id_of).collect()
    }
}

/// The connection that an item's sort key names.
pub(super) fn connection_id_of(item: &Item) -> Result<ConnectionId, StoreError> {
    let id = item.get("sk").and_then(|id| id.as_s().ok()).map_or("", String::as_str);
    ConnectionId::parse(id).map_err(|source| StoreError::corrupt("connection", source))
}
