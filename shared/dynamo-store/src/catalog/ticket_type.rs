//! Ticket types: pk `event#<event>`, sk `type#<type>`; and each type's index,
//! taken once: sk `index#<index>`.

use domain::{EventId, TicketType, TicketTypeId};

use super::{CatalogStore, Consistency};
use crate::StoreError;

/// What creating a type came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketTypeCreated {
    /// It is there now, exactly so.
    Created,
    /// Another one stood under this id.
    Exists(TicketType),
    /// Another type has the index: list the types again and take a free one.
    IndexTaken,
}

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketTypeUpdated {
    /// It is so now.
    Updated,
    /// Someone else edited it first; this is what stands there.
    VersionMismatch(TicketType),
    /// There is no such type.
    Missing,
}

impl CatalogStore {
    /// All types of an event, by index. Empty also for an unknown event.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn ticket_types_list(
        &self,
        event: &EventId,
        consistency: Consistency,
    ) -> Result<Vec<TicketType>, StoreError> {
        todo!()
    }

    /// One type; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn ticket_type_fetch(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
    ) -> Result<Option<TicketType>, StoreError> {
        todo!()
    }

    /// Puts a type (version 1) where there is none, and takes its index, both or
    /// neither. Repeating it is `Created` again.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn ticket_type_create(
        &self,
        event: &EventId,
        ticket_type: &TicketType,
    ) -> Result<TicketTypeCreated, StoreError> {
        todo!()
    }

    /// Replaces name, price, limit, ceiling and capacity by those given, whose
    /// version is the old one + 1. Kind, index and `partitions` never change:
    /// functions cache them, and a unit must be found where it was put. Nor does
    /// the ceiling ever sink (that is a `VersionMismatch` with what stands there).
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn ticket_type_update(
        &self,
        event: &EventId,
        ticket_type: &TicketType,
    ) -> Result<TicketTypeUpdated, StoreError> {
        todo!()
    }
}
