//! The waiting room's settings and generation: pk `event#<event>`, sk `queue`.

use domain::{EventId, QueueSettings};

use super::CatalogStore;
use crate::StoreError;

/// What is durable of an event's waiting room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueRecord {
    /// As the operator set them.
    pub settings: QueueSettings,
    /// Starts at 1 and grows by one with each edit of the settings.
    pub version: u64,
    /// Which line it is, from 1: a reset or a loss begins a new one.
    pub generation: u64,
}

/// What an edit of the settings came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePut {
    /// It is so now.
    Stored(QueueRecord),
    /// Someone else edited them first; none: there are no settings yet.
    VersionMismatch(Option<QueueRecord>),
}

/// What beginning a new line came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerationRaised {
    /// This generation is the caller's own.
    Raised(u64),
    /// Another one raised it first (or there are no settings: 0).
    Lost(u64),
}

impl CatalogStore {
    /// Settings and generation; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn queue_fetch(&self, event: &EventId) -> Result<Option<QueueRecord>, StoreError> {
        todo!()
    }

    /// Stores settings under `version`: 1 where there are none yet (the
    /// generation is 1 then), else the old version + 1. Repeating it is `Stored` again.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn queue_put(
        &self,
        event: &EventId,
        settings: &QueueSettings,
        version: u64,
    ) -> Result<QueuePut, StoreError> {
        todo!()
    }

    /// Raises the generation by one where it still is `from`.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn queue_generation_raise(
        &self,
        event: &EventId,
        from: u64,
    ) -> Result<GenerationRaised, StoreError> {
        todo!()
    }
}
