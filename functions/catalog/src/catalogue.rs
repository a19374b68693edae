//! What all handlers share.

use std::time::Duration;

use contracts::problem::{Reason, Text};
use domain::{CustomerKey, Epoch, Event, EventId, OrderId};
use dynamo_store::{CatalogStore, Consistency, EventCache, OrderStore, PartitionCache};
use expiry::Expiry;
use jiff::SignedDuration;
use lambda_kit::clock;
use lambda_kit::http::Failure;
use redis_store::Inventory;
use seat_log::SeatLog;
use store_failures::OrFail;

use crate::layout::Layouts;
use crate::seats::{SNAPSHOT_AGE, Snapshots};
use crate::stock::PATIENCE;

/// The stores, and what a warm environment remembers of them.
#[derive(Debug)]
pub struct Catalogue {
    /// Events, types, sections, marks, withdrawals.
    pub(crate) store: CatalogStore,
    /// Orders and units, for withdrawals.
    pub(crate) orders: OrderStore,
    /// What Redis decides with.
    pub(crate) inventory: Inventory,
    /// Where units are found.
    pub(crate) partitions: PartitionCache,
    /// Events that are on sale.
    pub(crate) events: EventCache,
    /// Seat maps.
    pub(crate) layouts: Layouts,
    /// What changed on them.
    pub(crate) log: SeatLog,
    /// The last snapshot of each.
    pub(crate) snapshots: Snapshots,
    /// How long a hold lasts.
    pub(crate) hold: Duration,
    /// How long somebody else's load may take.
    pub(crate) patience: Duration,
    /// How old a snapshot may be.
    pub(crate) snapshot_age: SignedDuration,
}

impl Catalogue {
    /// Over these stores; holds of withdrawals last this long.
    #[must_use]
    pub fn new(
        store: CatalogStore,
        orders: OrderStore,
        inventory: Inventory,
        hold: Duration,
    ) -> Self {
        Self {
            partitions: PartitionCache::new(store.clone()),
            events: EventCache::new(store.clone(), clock::now),
            layouts: Layouts::new(store.clone()),
            log: SeatLog::new(inventory.clone(), store.clone()),
            snapshots: Snapshots::default(),
            store,
            orders,
            inventory,
            hold,
            patience: PATIENCE,
            snapshot_age: SNAPSHOT_AGE,
        }
    }

    /// One that waits for nobody and remembers no snapshot, so that a test sees
    /// each step.
    #[must_use]
    pub fn impatient(self) -> Self {
        Self { patience: Duration::ZERO, snapshot_age: SignedDuration::ZERO, ..self }
    }

    /// Ends orders that were not paid in time; whether any is out of the way now.
    pub(crate) async fn end_overdue(
        &self,
        epoch: Epoch,
        overdue: &[(CustomerKey, OrderId)],
    ) -> Result<bool, Failure> {
        let Self { orders, partitions, inventory, .. } = self;
        let expiry = Expiry { orders, partitions, inventory, epoch };
        expiry.end_overdue(overdue, clock::now()).await.map_err(|error| {
            let is_retryable = error.is_retryable();
            Failure::at_store(error, is_retryable)
        })
    }

    /// The event as it is now, for whatever decides.
    pub(crate) async fn event(&self, id: &EventId) -> Result<Event, Failure> {
        let event = self.store.event_fetch(id, Consistency::Strong).await.or_fail()?;
        event.ok_or_else(unknown_event)
    }
}

/// There is no such event.
pub(crate) fn unknown_event() -> Failure {
    Failure::new(Reason::NotFound).with_detail(Text::NoEvent)
}
