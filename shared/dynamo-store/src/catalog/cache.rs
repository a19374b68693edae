//! What a warm function remembers of the catalogue, so that an order does not
//! read it again.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Event, EventId, OrderLine, TicketKind, TicketType, TicketTypeId, is_fresh};
use jiff::{SignedDuration, Timestamp};

use super::{CatalogStore, Consistency};
use crate::{PartitionCounts, StoreError};

/// More events than one environment serves in its life; beyond it, it forgets
/// all and begins anew.
const MOST_EVENTS: usize = 1_000;
const MOST_TYPES: usize = 10_000;

/// How old a remembered event may be. The scripts refuse an epoch that is not the
/// active one, but a Redis that was restored from a snapshot may have an old one
/// active: an environment that slept since would find just the epoch it knows.
const EVENT_LIFE: SignedDuration = SignedDuration::from_secs(5);

/// Events on sale, as they were read a moment ago: for the currency, which never
/// changes once there are types, and for the epoch, which every script of the
/// inventory checks. Whoever is told that an epoch is not the active one reads
/// anew. For everything else this is too old.
pub struct EventCache {
    catalog: CatalogStore,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    known: Mutex<HashMap<EventId, Remembered>>,
}

struct Remembered {
    event: Arc<Event>,
    /// When reading it began: it is at least as new as this.
    read_at: Timestamp,
}

impl Remembered {
    fn is_good(&self, now: Timestamp) -> bool {
        is_fresh(self.read_at, now, EVENT_LIFE)
    }
}

impl fmt::Debug for EventCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventCache")
    }
}

impl EventCache {
    /// Over this catalogue, with ages by this clock.
    #[must_use]
    pub fn new(
        catalog: CatalogStore,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        Self { catalog, clock: Box::new(clock), known: Mutex::default() }
    }

    /// The event, as it was read less than five seconds ago; read now if it was not
    /// on sale then.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn event_cached(&self, event: &EventId) -> Result<Option<Arc<Event>>, StoreError> {
        let now = (self.clock)();
        let known = locked(&self.known)
            .get(event)
            .filter(|known| known.is_good(now))
            .map(|known| Arc::clone(&known.event));
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
        let read_at = (self.clock)();
        let read = self.catalog.event_fetch(event, Consistency::Strong).await?.map(Arc::new);
        let mut known = locked(&self.known);
        match &read {
            Some(read) if read.activated => {
                if known.len() >= MOST_EVENTS {
                    known.clear();
                }
                let event = Arc::clone(read);
                known.insert(event.id.clone(), Remembered { event, read_at });
            }
            _ => {
                known.remove(event);
            }
        }
        Ok(read)
    }
}

/// What is remembered of a type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) kind: TicketKind,
    pub(super) partitions: u32,
    /// As it was read; by now it may be higher.
    pub(super) ceiling: u32,
}

/// Partition counts, which never change once an inventory was begun: read once for each
/// type from then on.
#[derive(Debug)]
pub struct PartitionCache {
    catalog: CatalogStore,
    known: Mutex<HashMap<(EventId, TicketTypeId), Shape>>,
}

impl PartitionCache {
    /// Over this catalogue.
    #[must_use]
    pub fn new(catalog: CatalogStore) -> Self {
        Self { catalog, known: Mutex::default() }
    }

    /// The counts of the types of these lines, without types that don't exist or of whose
    /// event no inventory was begun: nobody can have one of their units.
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
            if let Some(shape) = self.shape(event, ticket_type).await? {
                counts.push((ticket_type.clone(), shape.partitions));
            }
        }
        Ok(counts.into_iter().collect())
    }

    pub(super) async fn shape(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
    ) -> Result<Option<Shape>, StoreError> {
        let known = locked(&self.known).get(&(event.clone(), ticket_type.clone())).copied();
        match known {
            Some(shape) => Ok(Some(shape)),
            None => self.shape_renewed(event, ticket_type).await,
        }
    }

    /// Read now, settled. The event comes first: a type that is read after its epoch was
    /// seen keeps its partitions for ever, and one before it may get others with its next size.
    pub(super) async fn shape_renewed(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
    ) -> Result<Option<Shape>, StoreError> {
        let of = self.catalog.event_fetch(event, Consistency::Strong).await?;
        if of.is_none_or(|of| of.epoch.0 == 0) {
            return Ok(None);
        }
        let types = std::slice::from_ref(ticket_type);
        let read = self.catalog.ticket_types_settled(event, types).await?;
        let Some(&TicketType { kind, partitions, ceiling, .. }) = read.first() else {
            return Ok(None);
        };
        let shape = Shape { kind, partitions, ceiling };
        let mut known = locked(&self.known);
        if known.len() >= MOST_TYPES {
            known.clear();
        }
        known.insert((event.clone(), ticket_type.clone()), shape);
        Ok(Some(shape))
    }
}

/// Nothing half-done is ever kept under these locks.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
