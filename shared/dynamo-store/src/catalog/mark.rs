//! Durable marks: pk `event#<event>`, sk `mark#<type>`. Redis issues general
//! admission serials only below the mark, so after a loss whatever lies above it
//! is surely fresh.

use domain::{EventId, TicketTypeId};

use super::CatalogStore;
use crate::StoreError;

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
        todo!()
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
        todo!()
    }
}
