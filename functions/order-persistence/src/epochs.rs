//! The durable epoch of each event, read once a batch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::{Epoch, EventId};
use dynamo_store::{CatalogStore, Consistency, StoreError};
use tokio::sync::OnceCell;

/// The epochs that one batch has seen. Never kept longer: each batch compares
/// the durable epoch with the one that Redis says is active, and that is how a
/// restored old snapshot is noticed.
#[derive(Debug)]
pub struct Epochs<'a> {
    catalog: &'a CatalogStore,
    read: Mutex<HashMap<EventId, Arc<OnceCell<Epoch>>>>,
}

impl<'a> Epochs<'a> {
    /// For a new batch.
    #[must_use]
    pub fn new(catalog: &'a CatalogStore) -> Self {
        Self { catalog, read: Mutex::default() }
    }

    /// The event's durable epoch; 0 for an event nobody knows.
    ///
    /// # Errors
    /// When DynamoDB fails or the event's item is corrupt.
    pub async fn of(&self, event: &EventId) -> Result<Epoch, StoreError> {
        let cell = {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(read.entry(event.clone()).or_default())
        };
        let fetch = || async {
            let event = self.catalog.event_fetch(event, Consistency::Strong).await?;
            Ok(event.map_or(Epoch(0), |event| event.epoch))
        };
        cell.get_or_try_init(fetch).await.copied()
    }
}
