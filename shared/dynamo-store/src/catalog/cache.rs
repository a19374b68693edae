//! What a warm function remembers of the catalogue, so that an order does not
//! read it again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Event, EventId, OrderLine, TicketTypeId};

use super::{CatalogStore, Consistency};
use crate::{PartitionCounts, StoreError};

/// More events than one environment serves in its life; beyond it, it forgets
/// all and begins anew.
const MOST_EVENTS: usize = 1_000;
const MOST_TYPES: usize = 10_000;

/// Events on sale, as they were read last: for the currency, which never changes
/// once there are types, and for the epoch, which every script of the inventory
/// checks. Whoever is told that an epoch is not the active one reads anew. For
/// everything else this is too old.
#[derive(Debug)]
pub struct EventCache {
    catalog: CatalogStore,
    known: Mutex<HashMap<EventId, Arc<Event>>>,
}

impl EventCache {
    /// Over this catalogue.
    #[must_use]
    pub fn new(catalog: CatalogStore) -> Self {
        Self { catalog, known: Mutex::default() }
    }

    /// The event, as it was read last; read now if it never was on sale then.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn event_cached(&self, event: &EventId) -> Result<Option<Arc<Event>>, StoreError> {
        let known = locked(&self.known).get(event).map(Arc::clone);
        match known {
            Some(known) => Ok(Some(known)),
            None => self.event_renewed(event).await,
        }
    }

    /// The event, read now; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn event_renewed(&self, event: &EventId) -> Result<Option<Arc<Event>>, StoreError> {
        let read = self.catalog.event_fetch(event, Consistency::Strong).await?.map(Arc::new);
        let mut known = locked(&self.known);
        match &read {
            Some(read) if read.activated => {
                if known.len() >= MOST_EVENTS {
                    known.clear();
                }
                known.insert(event.clone(), Arc::clone(read));
            }
            _ => {
                known.remove(event);
            }
        }
        Ok(read)
    }
}

/// Partition counts, which never change: read once for each type.
#[derive(Debug)]
pub struct PartitionCache {
    catalog: CatalogStore,
    known: Mutex<HashMap<(EventId, TicketTypeId), u32>>,
}

impl PartitionCache {
    /// Over this catalogue.
    #[must_use]
    pub fn new(catalog: CatalogStore) -> Self {
        Self { catalog, known: Mutex::default() }
    }

    /// The counts of the types of these lines, without types that don't exist.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn partitions_cached(
        &self,
        event: &EventId,
        lines: &[OrderLine],
    ) -> Result<PartitionCounts, StoreError> {
        let mut counts = Vec::new();
        for OrderLine { ticket_type, .. } in lines {
            if let Some(count) = self.count(event, ticket_type).await? {
                counts.push((ticket_type.clone(), count));
            }
        }
        Ok(counts.into_iter().collect())
    }

    async fn count(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
    ) -> Result<Option<u32>, StoreError> {
        let place = (event.clone(), ticket_type.clone());
        let known = locked(&self.known).get(&place).copied();
        if known.is_some() {
            return Ok(known);
        }
        let read = self.catalog.ticket_type_fetch(event, ticket_type).await?;
        let Some(read) = read else { return Ok(None) };
        let mut known = locked(&self.known);
        if known.len() >= MOST_TYPES {
            known.clear();
        }
        known.insert(place, read.partitions);
        Ok(Some(read.partitions))
    }
}

/// Nothing half-done is ever kept under these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
