//! What warm functions remember, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use domain::{Epoch, Event, OrderLine, TicketKind, TicketType};
use dynamo_store::{EpochRaised, EventCache, PartitionCache, TicketTypeResized};
use test_support::dynamo::Dynamo;
use test_support::wire::{Fault, Wire};

use crate::given::{Stores, at, event, event_id, line, serials, ticket_type, type_id};

/// Stores over a wire that counts.
struct Office {
    wire: Wire,
    stores: Stores,
    _dynamo: Dynamo,
}

impl Office {
    async fn open() -> Self {
        let (dynamo, wire) = (Dynamo::start().await, Wire::new());
        let stores = Stores::new(&wire.over(&dynamo.sdk_config()), &dynamo.tables);
        Self { wire, stores, _dynamo: dynamo }
    }

    /// With an event that is on sale in epoch 1.
    async fn on_sale() -> Self {
        let office = Self::open().await;
        let event = Event { epoch: Epoch(1), activated: true, ..event() };
        office.stores.catalog.event_create(&event).await.unwrap();
        office
    }

    /// A memory of events, and what its clock shows, in milliseconds.
    fn events(&self) -> (EventCache, Arc<AtomicI64>) {
        let clock = Arc::new(AtomicI64::new(0));
        let shown = Arc::clone(&clock);
        let now = move || at(0) + jiff::SignedDuration::from_millis(shown.load(Ordering::SeqCst));
        (EventCache::new(self.stores.catalog.clone(), now), clock)
    }

    /// As whoever builds its inventory anew does.
    async fn raise_epoch(&self) {
        let on_sale = Event { epoch: Epoch(1), activated: true, ..event() };
        let raised = self.stores.catalog.epoch_raise(&on_sale).await.unwrap();
        assert_eq!(raised, EpochRaised::Raised(Epoch(2)));
    }

    /// How many reads were sent since this was last asked.
    fn reads(&self) -> usize {
        let sent = self.wire.take_sent();
        sent.iter()
            .filter(|sent| ["GetItem", "TransactGetItems"].contains(&sent.action.as_str()))
            .count()
    }
}

async fn epoch(events: &EventCache) -> Epoch {
    events.event_cached(&event_id()).await.unwrap().unwrap().epoch
}

#[tokio::test]
async fn an_event_on_sale_is_read_once_in_five_seconds() {
    let office = Office::on_sale().await;
    let (events, clock) = office.events();
    assert_eq!((epoch(&events).await, office.reads()), (Epoch(1), 1));
    office.raise_epoch().await;
    let _ = office.reads();
    clock.store(4_999, Ordering::SeqCst);
    assert_eq!((epoch(&events).await, office.reads()), (Epoch(1), 0));
    clock.store(5_000, Ordering::SeqCst);
    assert_eq!((epoch(&events).await, office.reads()), (Epoch(2), 1));
    clock.store(9_999, Ordering::SeqCst);
    assert_eq!((epoch(&events).await, office.reads()), (Epoch(2), 0), "young again");
}

#[tokio::test]
async fn a_clock_that_was_set_back_makes_nothing_young() {
    let office = Office::on_sale().await;
    let (events, clock) = office.events();
    clock.store(60_000, Ordering::SeqCst);
    epoch(&events).await;
    clock.store(0, Ordering::SeqCst);
    let _ = office.reads();
    epoch(&events).await;
    assert_eq!(office.reads(), 1);
}

#[tokio::test]
async fn an_event_that_is_too_old_is_not_told_when_it_can_not_be_read() {
    let office = Office::on_sale().await;
    let (events, clock) = office.events();
    epoch(&events).await;
    clock.store(5_000, Ordering::SeqCst);
    office.wire.next("GetItem", Fault::error(400, "ValidationException", "not as it must be"));
    assert!(events.event_cached(&event_id()).await.is_err());
    assert_eq!(epoch(&events).await, Epoch(1));
}

#[tokio::test]
async fn whoever_doubts_an_event_reads_it_for_all_who_ask_later() {
    let office = Office::on_sale().await;
    let (events, _) = office.events();
    epoch(&events).await;
    office.raise_epoch().await;
    let renewed = events.event_renewed(&event_id()).await.unwrap().unwrap();
    assert_eq!(renewed.epoch, Epoch(2));
    let _ = office.reads();
    assert_eq!((epoch(&events).await, office.reads()), (Epoch(2), 0));
}

#[tokio::test]
async fn an_event_is_not_remembered_before_it_is_on_sale() {
    let office = Office::open().await;
    let (events, _) = office.events();
    assert_eq!(events.event_cached(&event_id()).await.unwrap(), None);
    office.stores.catalog.event_create(&event()).await.unwrap();
    assert!(!events.event_cached(&event_id()).await.unwrap().unwrap().activated);
    office.stores.catalog.event_activate(&event_id(), Epoch(0)).await.unwrap();
    assert!(events.event_cached(&event_id()).await.unwrap().unwrap().activated);
    let _ = office.reads();
    assert!(events.event_cached(&event_id()).await.unwrap().unwrap().activated);
    assert_eq!(office.reads(), 0);
}

#[tokio::test]
async fn the_partitions_of_a_type_are_read_once() {
    let office = Office::on_sale().await;
    let floor = ticket_type("floor", 1, TicketKind::GeneralAdmission, 3_000);
    let catalog = &office.stores.catalog;
    catalog.ticket_type_create(&event_id(), &floor).await.unwrap();
    let partitions = PartitionCache::new(catalog.clone());
    let lines: Vec<OrderLine> = ["floor", "later"].map(|id| line(id, serials([0]))).to_vec();
    let counted = async || partitions.partitions_cached(&event_id(), &lines).await.unwrap();
    assert_eq!(counted().await.get(&floor.id), Some(floor.partitions));
    assert_eq!((counted().await.get(&type_id("later")), office.reads()), (None, 6));

    // What was not there is asked for again; what was never changes.
    let later = ticket_type("later", 2, floor.kind, 600);
    catalog.ticket_type_create(&event_id(), &later).await.unwrap();
    assert_eq!(counted().await.get(&later.id), Some(later.partitions));
    let _ = office.reads();
    assert_eq!(counted().await.get(&floor.id), Some(floor.partitions));
    assert_eq!(office.reads(), 0);
}

#[tokio::test]
async fn the_partitions_of_a_type_are_not_remembered_before_an_inventory_is_begun() {
    let office = Office::open().await;
    let floor = ticket_type("floor", 1, TicketKind::GeneralAdmission, 1);
    let catalog = &office.stores.catalog;
    catalog.event_create(&event()).await.unwrap();
    catalog.ticket_type_create(&event_id(), &floor).await.unwrap();
    let partitions = PartitionCache::new(catalog.clone());
    let lines = [line("floor", serials([0]))];
    let counted = async || partitions.partitions_cached(&event_id(), &lines).await.unwrap();
    assert_eq!(counted().await.get(&floor.id), None);
    let larger = TicketType { ceiling: 3_000, capacity: 3_000, partitions: 3, version: 2, ..floor };
    let resized = catalog.ticket_type_resize(&event_id(), &larger).await.unwrap();
    assert_eq!(resized, TicketTypeResized::Resized);
    catalog.epoch_raise(&event()).await.unwrap();
    assert_eq!(counted().await.get(&larger.id), Some(3));
}
