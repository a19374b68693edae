//! A small hall on sale: the type `stalls` with section `A` (seats `A-1-1` to
//! `A-1-4`) and section `B` (`B-1-1` to `B-1-3`), and ten places of the type
//! `floor`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{Epoch, EventId, Line, OrderId, SeatLabel, Section, TicketType, Wanted};
use dynamo_store::{CatalogStore, ConnectionStore, SectionPut};
use redis_store::{Inventory, Redis, RedisMode, Released, Reservation};
use test_support::dynamo::Dynamo;
use test_support::redis::{Engine, RedisServer};

use crate::parts::{self, customer, kind};
use crate::sale::LONG;

const PLACES: u32 = 10;
const PRICE: i64 = 100;

/// The hall.
#[derive(Debug)]
pub struct Hall {
    /// The Redis it stands on.
    pub redis: RedisServer,
    /// The DynamoDB it stands on.
    pub dynamo: Dynamo,
    /// Its catalogue.
    pub catalog: CatalogStore,
    /// Who is connected.
    pub connections: ConnectionStore,
    /// What is held.
    pub inventory: Inventory,
    orders: AtomicU64,
}

/// The event's id.
#[must_use]
pub fn gala() -> EventId {
    EventId::parse("gala").expect("an id")
}

impl Hall {
    /// The event in the catalogue, its sale never opened: no inventory.
    pub async fn announced() -> Self {
        let redis = RedisServer::start(Engine::Redis);
        let dynamo = Dynamo::start().await;
        let client = dynamo_store::client(&dynamo.sdk_config());
        let hall = Self {
            catalog: CatalogStore::new(client.clone(), &dynamo.tables.catalog),
            connections: ConnectionStore::new(client, &dynamo.tables.connections),
            inventory: Inventory::new(Redis::connect(&redis.url(), RedisMode::Single)),
            redis,
            dynamo,
            orders: AtomicU64::new(0),
        };
        hall.catalog.event_create(&parts::event(gala())).await.expect("an event");
        for ticket_type in types() {
            hall.catalog.ticket_type_create(&gala(), &ticket_type).await.expect("a type");
        }
        hall.add_section("A", 0, 4, 2).await;
        hall.add_section("B", 4, 3, 3).await;
        hall
    }

    /// The event on sale, in epoch 1.
    pub async fn on_sale() -> Self {
        let hall = Self::announced().await;
        hall.open_epoch(1).await;
        hall
    }

    /// Adds a section to the catalogue's seat map; `version` is the type's with it.
    pub async fn add_section(&self, id: &str, first: u32, seats: u32, version: u64) {
        let section = section(id, first, seats);
        let [stalls, _] = types();
        let ceiling = first + seats;
        let grown = TicketType { version, ceiling, capacity: ceiling, ..stalls };
        let put = self.catalog.section_put(&gala(), &section, &grown).await.expect("a section");
        assert_eq!(put, SectionPut::Stored);
    }

    /// Adds a section's seats to the inventory.
    pub async fn add_seats(&self, epoch: u64, id: &str, first: u32, seats: u32) {
        let labels: Vec<SeatLabel> = section(id, first, seats).labels().collect();
        parts::add_seats(&self.inventory, &gala(), Epoch(epoch), first, &labels).await;
    }

    /// Builds a new inventory in which nobody has anything, and lets it sell.
    pub async fn open_epoch(&self, epoch: u64) {
        let (event, number) = (gala(), Epoch(epoch));
        let controls = types().map(|of| parts::type_control(&of, of.ceiling));
        parts::build(&self.inventory, &event, number, &controls).await;
        self.add_seats(epoch, "A", 0, 4).await;
        self.add_seats(epoch, "B", 4, 3).await;
        parts::activate(&self.inventory, &event, number).await;
    }

    /// Holds seats for ten minutes.
    pub async fn hold(&self, fan: &str, seats: &[&str]) -> OrderId {
        self.hold_for(fan, seats, LONG).await
    }

    /// Holds seats for so long.
    pub async fn hold_for(&self, fan: &str, seats: &[&str], hold: Duration) -> OrderId {
        let seats = seats.iter().map(|seat| SeatLabel::parse(seat).expect("a seat")).collect();
        self.reserve(fan, "stalls", Wanted::Seats(seats), hold).await
    }

    /// Holds places for ten minutes.
    pub async fn hold_places(&self, fan: &str, places: u32) -> OrderId {
        self.reserve(fan, "floor", Wanted::Quantity(places), LONG).await
    }

    /// Gives back a hold.
    pub async fn release(&self, fan: &str, order: &OrderId) {
        let (event, epoch, key) = (gala(), self.active_epoch().await, customer(fan).key());
        let released = self.inventory.release(&event, epoch, order, &key);
        assert_eq!(released.await.expect("a release"), Released::GivenBack);
    }

    async fn reserve(&self, fan: &str, name: &str, wanted: Wanted, hold: Duration) -> OrderId {
        let key = self.orders.fetch_add(1, Ordering::SeqCst).to_string();
        let lines = vec![Line { ticket_type: kind(name), wanted }];
        let wish = parts::wish(gala(), fan, &key, lines, self.active_epoch().await, hold);
        let reserved = self.inventory.reserve(&wish).await.expect("a reservation");
        assert!(matches!(reserved, Reservation::Held(_)), "{reserved:?}");
        wish.order
    }

    async fn active_epoch(&self) -> Epoch {
        parts::active_epoch(&self.inventory, &gala()).await
    }
}

fn types() -> [TicketType; 2] {
    [parts::stalls(1, PRICE), parts::floor(2, PRICE, PLACES)]
}

fn section(id: &str, first: u32, seats: u32) -> Section {
    parts::section(id, first, 1..=seats)
}
