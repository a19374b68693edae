//! Sections of the seat map: pk `event#<event>`, sk `section#<section>`. Immutable.

use domain::{EventId, Section, SectionId, TicketType};

use super::{CatalogStore, Consistency};
use crate::StoreError;

/// What putting a section came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionPut {
    /// It is there now, and its type has grown by it.
    Stored,
    /// The same section was there already (wherever its units begin).
    Same(Section),
    /// Another section stands under this id.
    Conflict(Section),
    /// The ticket type was edited in the meantime (or is missing): read it and
    /// the sections again.
    VersionMismatch,
}

impl CatalogStore {
    /// Puts a section where there is none and lets its type grow by it, both or
    /// neither. `grown` is the type as it is afterwards: version + 1, ceiling =
    /// `first` + the section's seats. Two sections put at once can't get
    /// overlapping ranges: the type's version lets one through.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown, repeating is safe.
    pub async fn section_put(
        &self,
        event: &EventId,
        section: &Section,
        grown: &TicketType,
    ) -> Result<SectionPut, StoreError> {
        todo!()
    }

    /// One section; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn section_fetch(
        &self,
        event: &EventId,
        section: &SectionId,
    ) -> Result<Option<Section>, StoreError> {
        todo!()
    }

    /// All sections of an event, by type and first unit.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn sections_list(
        &self,
        event: &EventId,
        consistency: Consistency,
    ) -> Result<Vec<Section>, StoreError> {
        todo!()
    }
}
