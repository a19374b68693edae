//! Durable marks: pk `event#<event>`, sk `mark#<type>`. Redis issues general
//! admission serials only below the mark, so after a loss whatever lies above it
//! is surely fresh.

use domain::{EventId, TicketTypeId};
use fault_points::{TABLES_MARK_RAISED, reached};
use serde::Deserialize;

use super::{CatalogStore, key};
use crate::StoreError;
use crate::table::{Change, Guard, Item, Key, Written, decode, no_item};

/// A mark only grows: below it, serials may have been issued.
const IS_LOWER: &str = "attribute_not_exists(#mark) OR #mark < :to";

fn mark_key(event: &EventId, ticket_type: &TicketTypeId) -> Key {
    key(event, format!("mark#{ticket_type}"))
}

fn mark_of(item: Item) -> Result<u32, StoreError> {
    #[derive(Deserialize)]
    struct Record {
        mark: u32,
    }
    decode::<Record>("mark", item).map(|record| record.mark)
}

impl CatalogStore {
    /// The mark of a type; 0 before it was raised. Consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn mark_fetch(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
    ) -> Result<u32, StoreError> {
        let item = self.table.get(&mark_key(event, ticket_type), true).await?;
        item.map_or(Ok(0), mark_of)
    }

    /// Raises the mark to `to` unless it stands higher; the mark now. Only this
    /// answer may be passed on to Redis.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn mark_raise(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
        to: u32,
    ) -> Result<u32, StoreError> {
        let change = Change::new("SET #mark = :to").value(":to", to);
        let key = mark_key(event, ticket_type);
        let written = self.table.update_if(&key, &change, &Guard::new(IS_LOWER)).await?;
        reached(TABLES_MARK_RAISED).await;
        match written {
            Written::Done(item) => mark_of(item),
            Written::Refused(present) => mark_of(present.ok_or_else(no_item)?),
        }
    }
}
