//! A small hall on sale, on real engines, for the tests of live updates.
//!
//! Event `gala`: the type `stalls` with section `A` (seats `A-1-1` to `A-1-4`)
//! and section `B` (`B-1-1` to `B-1-3`), and ten places of the type `floor`.

#![expect(clippy::expect_used, reason = "only tests come here")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{
    Currency, CustomerId, Epoch, Event, EventId, Fingerprint, IdempotencyKey, Line, Money,
    Operation, OrderId, OrderLines, Row, SaleSwitch, SaleWindow, SeatLabel, Section, SectionId,
    SessionId, TicketKind, TicketType, TicketTypeId, Venue, Wanted,
};
use dynamo_store::{CatalogStore, ConnectionStore, SectionPut};
use jiff::Timestamp;
use redis_store::{
    Inventory, LoadedCounts, Mode, Redis, RedisMode, Reservation, Reserve, SaleControl, Session,
    TypeControl,
};
use test_support::dynamo::Dynamo;
use test_support::redis::{Engine, RedisServer};

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
        hall.catalog.event_create(&event()).await.expect("an event");
        let floor = ticket_type("floor", 2, TicketKind::GeneralAdmission, 10);
        let stalls = ticket_type("stalls", 1, TicketKind::ReservedSeating, 0);
        for ticket_type in [&stalls, &floor] {
            hall.catalog.ticket_type_create(&gala(), ticket_type).await.expect("a type");
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
        let grown = TicketType {
            version,
            ..ticket_type("stalls", 1, TicketKind::ReservedSeating, first + seats)
        };
        let put = self.catalog.section_put(&gala(), &section, &grown).await.expect("a section");
        assert_eq!(put, SectionPut::Stored);
    }

    /// Adds a section's seats to the inventory.
    pub async fn add_seats(&self, epoch: u64, id: &str, first: u32, seats: u32) {
        let labels: Vec<SeatLabel> = section(id, first, seats).labels().collect();
        let (event, stalls) = (gala(), type_id("stalls"));
        let added = self.inventory.seats_add(&event, Epoch(epoch), &stalls, first, &labels);
        added.await.expect("seats");
    }

    /// Builds a new inventory in which nobody has anything, and lets it sell.
    pub async fn open_epoch(&self, epoch: u64) {
        let (event, number) = (gala(), Epoch(epoch));
        assert!(self.inventory.build_begin(&event, number).await.expect("a build"));
        let sale = SaleControl {
            switch: SaleSwitch::Open,
            window: window(),
            limit_per_customer: None,
            version: 1,
        };
        self.inventory.sale_set(&event, number, &sale).await.expect("a sale");
        for (id, index, kind, ceiling) in [
            ("stalls", 1, TicketKind::ReservedSeating, 0),
            ("floor", 2, TicketKind::GeneralAdmission, 10),
        ] {
            let control = TypeControl {
                id: type_id(id),
                index,
                kind,
                amount: 100,
                version: 1,
                limit_per_customer: None,
                ceiling,
                mark: ceiling,
            };
            self.inventory.type_set(&event, number, &control).await.expect("a type");
        }
        self.add_seats(epoch, "A", 0, 4).await;
        self.add_seats(epoch, "B", 4, 3).await;
        let nothing = LoadedCounts { units: 0, orders: 0 };
        assert!(self.inventory.activate(&event, number, nothing).await.expect("an inventory"));
    }

    /// Holds seats for ten minutes.
    pub async fn hold(&self, fan: &str, seats: &[&str]) -> OrderId {
        self.hold_for(fan, seats, Duration::from_secs(600)).await
    }

    /// Holds seats for so long.
    pub async fn hold_for(&self, fan: &str, seats: &[&str], hold: Duration) -> OrderId {
        let seats = seats.iter().map(|seat| SeatLabel::parse(seat).expect("a seat")).collect();
        self.reserve(fan, "stalls", Wanted::Seats(seats), hold).await
    }

    /// Holds places for ten minutes.
    pub async fn hold_places(&self, fan: &str, places: u32) -> OrderId {
        let wanted = Wanted::Quantity(places);
        self.reserve(fan, "floor", wanted, Duration::from_secs(600)).await
    }

    /// Gives back a hold.
    pub async fn release(&self, fan: &str, order: &OrderId) {
        let (event, epoch, key) = (gala(), self.active_epoch().await, customer(fan).key());
        let released = self.inventory.release(&event, epoch, order, &key);
        assert!(released.await.expect("a release"));
    }

    async fn reserve(&self, fan: &str, kind: &str, wanted: Wanted, hold: Duration) -> OrderId {
        let number = self.orders.fetch_add(1, Ordering::SeqCst);
        let key = IdempotencyKey::parse(&number.to_string()).expect("a key");
        let order = OrderId::derive(&customer(fan), Operation::PlaceOrder, &gala(), &key);
        let line = Line { ticket_type: type_id(kind), wanted };
        let lines = OrderLines::new(vec![line]).expect("lines");
        let reserve = Reserve {
            event: gala(),
            epoch: self.active_epoch().await,
            order,
            customer: customer(fan).key(),
            fingerprint: Fingerprint::v1(&lines),
            lines,
            hold,
            mode: Mode::Buy,
            session: Some(Session {
                id: SessionId::parse("1-1").expect("a session"),
                expires_at: Timestamp::MAX,
            }),
        };
        let reserved = self.inventory.reserve(&reserve).await.expect("a reservation");
        assert!(matches!(reserved, Reservation::Held(_)), "{reserved:?}");
        order
    }

    async fn active_epoch(&self) -> Epoch {
        match self.inventory.pointer(&gala()).await.expect("a pointer") {
            Some(redis_store::Pointer::Active(epoch)) => epoch,
            other => unreachable!("the hall is not on sale: {other:?}"),
        }
    }
}

fn customer(fan: &str) -> CustomerId {
    CustomerId::parse(fan).expect("a customer")
}

fn type_id(id: &str) -> TicketTypeId {
    TicketTypeId::parse(id).expect("a type")
}

fn currency() -> Currency {
    Currency::parse("TWD").expect("a currency")
}

fn window() -> SaleWindow {
    SaleWindow { opens_at: Timestamp::UNIX_EPOCH, closes_at: Timestamp::MAX }
}

fn event() -> Event {
    Event {
        id: gala(),
        title: "Gala".to_owned(),
        venue: Venue { name: "Hall".to_owned(), city: "Taipei".to_owned() },
        time_zone: "Asia/Taipei".to_owned(),
        starts_at: Timestamp::MAX,
        window: window(),
        currency: currency(),
        limit_per_customer: None,
        switch: SaleSwitch::Open,
        commands: Vec::new(),
        version: 1,
        epoch: Epoch(0),
        activated: false,
    }
}

fn ticket_type(id: &str, index: u8, kind: TicketKind, ceiling: u32) -> TicketType {
    TicketType {
        id: type_id(id),
        name: id.to_owned(),
        kind,
        price: Money { amount: 100, currency: currency() },
        limit_per_customer: None,
        index,
        ceiling,
        capacity: ceiling,
        partitions: 1,
        version: 1,
    }
}

fn section(id: &str, first: u32, seats: u32) -> Section {
    let seats = (1..=seats).map(|seat| seat.to_string()).collect();
    let rows = vec![Row { row: "1".to_owned(), seats }];
    let id = SectionId::parse(id).expect("a section's id");
    Section::new(id, type_id("stalls"), first, rows).expect("a section")
}
