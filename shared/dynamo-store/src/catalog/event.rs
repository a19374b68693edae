//! The event's own item: pk `event#<event>`, sk `event`.

use domain::{Epoch, Event, EventId};

use super::{CatalogStore, Consistency};
use crate::StoreError;

/// What creating an event came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventCreated {
    /// It is there now, exactly so.
    Created,
    /// Another one stood under this id.
    Exists(Event),
}

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventUpdated {
    /// It is so now.
    Updated,
    /// Someone else edited it first; this is what stands there.
    VersionMismatch(Event),
    /// There is no such event.
    Missing,
}

/// What raising the epoch came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochRaised {
    /// This epoch is the caller's own.
    Raised(Epoch),
    /// Another one raised it first; this is the epoch now.
    Lost(Epoch),
    /// There is no such event.
    Missing,
}

/// What marking an event's inventory as active came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventActivated {
    /// It is marked.
    Activated,
    /// A newer epoch was begun, or there is no such event.
    Superseded,
}

impl CatalogStore {
    /// The event.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn event_fetch(
        &self,
        event: &EventId,
        consistency: Consistency,
    ) -> Result<Option<Event>, StoreError> {
        todo!()
    }

    /// Puts an event (version 1) where there is none. Repeating it is `Created` again.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn event_create(&self, event: &Event) -> Result<EventCreated, StoreError> {
        todo!()
    }

    /// Replaces details and sale switch by those of `event`, whose version is
    /// the old one + 1. Epoch and activation are left as they are: an edit must
    /// never undo what a recovery wrote.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn event_update(&self, event: &Event) -> Result<EventUpdated, StoreError> {
        todo!()
    }

    /// Raises the epoch by one where it still is `from`: each build of an
    /// inventory gets an epoch of its own.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn epoch_raise(
        &self,
        event: &EventId,
        from: Epoch,
    ) -> Result<EpochRaised, StoreError> {
        todo!()
    }

    /// Records that an inventory was activated, while `epoch` is still the highest.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn event_activate(
        &self,
        event: &EventId,
        epoch: Epoch,
    ) -> Result<EventActivated, StoreError> {
        todo!()
    }
}
