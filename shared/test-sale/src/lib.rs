//! A sale on real engines, for the tests of placing, persisting and settling
//! orders: the event `show` with places (type `floor`) and the seats `A-1-0`,
//! `A-1-1`, … (type `stalls`), open, in epoch 1.
//!
//! The tables are reached over a [`Wire`], which counts and loses what it is told to.

#![expect(clippy::expect_used, clippy::panic, reason = "only tests come here")]

use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{
    Currency, CustomerId, Epoch, Event, EventId, Fingerprint, IdempotencyKey, Intent, Line, Money,
    Operation, Order, OrderId, OrderLines, Row, SaleSwitch, SaleWindow, SeatLabel, Section,
    SectionId, TicketKind, TicketType, TicketTypeId, Venue, Wanted,
};
use dynamo_store::{CatalogStore, EventCache, OrderStore, PartitionCache, PartitionCounts};
use jiff::{SignedDuration, Timestamp};
use redis_store::{
    Inventory, LoadedCounts, Mode, Redis, RedisMode, Reservation, Reserve, SaleControl, SeatStatus,
    Session, Settle, Settled, TypeControl, TypeCounts,
};
use test_support::dynamo::Dynamo;
use test_support::redis::{Engine, RedisServer};
use test_support::wire::Wire;

/// The epoch the sale opens in.
pub const EPOCH: Epoch = Epoch(1);
/// The price of a place and of a seat.
pub const PRICES: (i64, i64) = (8_800, 12_000);
/// Longer than any test.
pub const LONG: Duration = Duration::from_secs(600);

/// The sale.
#[derive(Debug)]
pub struct Sale {
    /// The Redis it stands on.
    pub redis: RedisServer,
    /// The DynamoDB it stands on.
    pub dynamo: Dynamo,
    /// The way to it.
    pub wire: Wire,
    /// Its catalogue.
    pub catalog: CatalogStore,
    /// Its orders.
    pub orders: OrderStore,
    /// What is held.
    pub inventory: Inventory,
}

impl Sale {
    /// A sale of so many places and seats. The mark of the places is not raised:
    /// whoever sells them has to.
    ///
    /// # Panics
    /// When an engine can't be had.
    pub async fn of(places: u32, seats: u32) -> Self {
        let sale = Self::announced(places, seats).await;
        sale.open_epoch(EPOCH, places, seats).await;
        sale
    }

    /// The same in the catalogue, but never opened.
    ///
    /// # Panics
    /// When an engine can't be had.
    pub async fn announced(places: u32, seats: u32) -> Self {
        let redis = RedisServer::start(Engine::Redis);
        let dynamo = Dynamo::start().await;
        let wire = Wire::new();
        let client = dynamo_store::client(&wire.over(&dynamo.sdk_config()));
        let tables = &dynamo.tables;
        let sale = Self {
            catalog: CatalogStore::new(client.clone(), &tables.catalog),
            orders: OrderStore::new(client, &tables.orders, &tables.units),
            inventory: Inventory::new(Redis::connect(&redis.url(), RedisMode::Single)),
            redis,
            dynamo,
            wire,
        };
        sale.catalog.event_create(&event()).await.expect("an event");
        let (floor, stalls) = (floor(places), stalls());
        for ticket_type in [&floor, &stalls] {
            sale.catalog.ticket_type_create(&show(), ticket_type).await.expect("a type");
        }
        if seats > 0 {
            let grown = TicketType { version: 2, ceiling: seats, capacity: seats, ..stalls };
            let put = sale.catalog.section_put(&show(), &section(seats), &grown).await;
            put.expect("a section");
        }
        sale
    }

    /// Builds an epoch in which nobody has anything, and lets it sell.
    ///
    /// # Panics
    /// When that epoch is not the next.
    pub async fn open_epoch(&self, epoch: Epoch, places: u32, seats: u32) {
        let (inventory, event) = (&self.inventory, show());
        let from = Epoch(epoch.0 - 1);
        self.catalog.epoch_raise(&event, from).await.expect("an epoch of its own");
        assert!(inventory.build_begin(&event, epoch).await.expect("a build"));
        inventory.sale_set(&event, epoch, &sale_control(1)).await.expect("a sale");
        let (floor, stalls) = (floor(places), stalls());
        for ticket_type in [&floor, &stalls] {
            inventory.type_set(&event, epoch, &control(ticket_type)).await.expect("a type");
        }
        let labels: Vec<SeatLabel> = (0..seats).map(seat).collect();
        inventory.seats_add(&event, epoch, &stalls.id, 0, &labels).await.expect("seats");
        let nothing = LoadedCounts { units: 0, orders: 0 };
        assert!(inventory.activate(&event, epoch, nothing).await.expect("an inventory"));
        self.catalog.event_activate(&event, epoch).await.expect("an event on sale");
    }

    /// Lets all places be issued.
    ///
    /// # Panics
    /// When the stores fail.
    pub async fn raise_mark(&self, epoch: Epoch, to: u32) {
        let floor = kind("floor");
        let mark = self.catalog.mark_raise(&show(), &floor, to).await.expect("a durable mark");
        self.inventory.mark_raise(&show(), epoch, &floor, mark).await.expect("a mark");
    }

    /// Changes the sale, as an operator's edit of this version does.
    ///
    /// # Panics
    /// When Redis fails.
    pub async fn set_sale(&self, version: u64, change: impl FnOnce(&mut SaleControl)) {
        let mut control = sale_control(version);
        change(&mut control);
        self.inventory.sale_set(&show(), EPOCH, &control).await.expect("a sale");
    }

    /// Changes a type, as an operator's edit of this version does.
    ///
    /// # Panics
    /// When Redis fails.
    pub async fn set_type(&self, name: &str, version: u64, change: impl FnOnce(&mut TypeControl)) {
        let stored = self.catalog.ticket_type_fetch(&show(), &kind(name)).await;
        let mut control = control(&stored.expect("the table").expect("a type"));
        control.version = version;
        change(&mut control);
        self.inventory.type_set(&show(), EPOCH, &control).await.expect("a type");
    }

    /// Reserves for a fan under a key.
    ///
    /// # Panics
    /// When Redis fails.
    pub async fn reserve(&self, wish: &Reserve) -> Reservation {
        self.inventory.reserve(wish).await.expect("an answer")
    }

    /// Holds for a fan under a key; the intent that is to be persisted. Marks are
    /// raised where they have to be.
    ///
    /// # Panics
    /// When it can't be held.
    pub async fn hold(&self, fan: &str, key: &str, lines: Vec<Line>) -> OrderIntent {
        self.hold_for(fan, key, lines, LONG).await
    }

    /// The same, for so long.
    ///
    /// # Panics
    /// When it can't be held.
    pub async fn hold_for(
        &self,
        fan: &str,
        key: &str,
        lines: Vec<Line>,
        hold: Duration,
    ) -> OrderIntent {
        let epoch = self.epoch().await;
        let wish = wish(fan, key, lines, epoch, hold);
        let mut reply = self.reserve(&wish).await;
        if let Reservation::GrantNeeded { ceiling, .. } = reply {
            self.raise_mark(epoch, ceiling).await;
            reply = self.reserve(&wish).await;
        }
        let (Reservation::Held(held) | Reservation::Replayed(held)) = reply else {
            panic!("not held: {reply:?}");
        };
        OrderIntent {
            order: wish.order,
            customer: customer(fan),
            event: show(),
            epoch,
            fingerprint: wish.fingerprint,
            held_at: held.expires_at - signed(hold),
            expires_at: held.expires_at,
            lines: held.lines,
            currency: currency(),
        }
    }

    /// Lets Redis forget a hold: its units are free there.
    ///
    /// # Panics
    /// When it has no such hold.
    pub async fn forget(&self, intent: &OrderIntent) {
        let (event, key) = (show(), intent.customer.key());
        let forgotten = self.inventory.release(&event, self.epoch().await, &intent.order, &key);
        assert!(forgotten.await.expect("an answer"));
    }

    /// A seat, as Redis has it.
    ///
    /// # Panics
    /// When Redis fails.
    pub async fn seat_status(&self, number: u32) -> SeatStatus {
        let (event, stalls, seat) = (show(), kind("stalls"), seat(number));
        let epoch = self.epoch().await;
        let status = self.inventory.seat_status(&event, epoch, &stalls, &seat);
        status.await.expect("an answer")
    }

    /// Persists what an intent wants, behind Redis' back.
    ///
    /// # Panics
    /// When it can't be.
    pub async fn persist_unsettled(&self, intent: &OrderIntent, pay_within: Duration) -> Order {
        let now = now();
        let mut order = intent.clone().into_order(&domain::HoldTime::default(), now);
        order.pay_by = Some(now + signed(pay_within));
        let persisted = self.orders.order_persist(&order, &partitions()).await.expect("an answer");
        assert_eq!(persisted, dynamo_store::Persisted::New);
        order
    }

    /// Persists what an intent wants, and settles it.
    ///
    /// # Panics
    /// When it can't be.
    pub async fn persist(&self, intent: &OrderIntent, pay_within: Duration) -> Order {
        let order = self.persist_unsettled(intent, pay_within).await;
        let settle = Settle::of(&order, intent.epoch, false);
        assert_eq!(self.inventory.settle(&settle).await.expect("an answer"), Settled::Applied);
        order
    }

    /// An order as it is stored.
    ///
    /// # Panics
    /// When the tables fail.
    pub async fn stored(&self, fan: &str, order: &OrderId) -> Option<Order> {
        self.orders.order_fetch(&customer(fan), order).await.expect("the table")
    }

    /// The owners of a type's units, as DynamoDB has them.
    ///
    /// # Panics
    /// When the tables fail.
    pub async fn owned(&self, name: &str) -> usize {
        let units = self.orders.units_list(&show(), &kind(name), &partitions()).await;
        units.expect("the table").len()
    }

    /// The counts of a type, as Redis has them.
    ///
    /// # Panics
    /// When Redis fails or sells nothing.
    pub async fn counts(&self, name: &str) -> TypeCounts {
        let epoch = self.epoch().await;
        let counts = self.inventory.counts(&show(), epoch).await.expect("an answer");
        let counts = counts.expect("an inventory");
        counts.into_iter().find(|one| one.ticket_type == kind(name)).expect("a type")
    }

    /// The epoch that sells.
    ///
    /// # Panics
    /// When none does.
    pub async fn epoch(&self) -> Epoch {
        match self.inventory.pointer(&show()).await.expect("an answer") {
            Some(redis_store::Pointer::Active(epoch)) => epoch,
            other => panic!("nothing is sold: {other:?}"),
        }
    }

    /// A function's memory of events, still empty.
    #[must_use]
    pub fn event_cache(&self) -> EventCache {
        EventCache::new(self.catalog.clone(), now)
    }

    /// A function's memory of partitions, still empty.
    #[must_use]
    pub fn partition_cache(&self) -> PartitionCache {
        PartitionCache::new(self.catalog.clone())
    }
}

/// A fan's wish under a key, in a session that lives long.
///
/// # Panics
/// When the lines are none.
#[must_use]
pub fn wish(fan: &str, key: &str, lines: Vec<Line>, epoch: Epoch, hold: Duration) -> Reserve {
    let intent = intent(fan, key, &lines);
    Reserve {
        event: show(),
        epoch,
        order: intent.order,
        customer: intent.customer.key(),
        fingerprint: intent.fingerprint,
        lines: OrderLines::new(lines).expect("lines"),
        hold,
        mode: Mode::Buy,
        session: Some(Session {
            id: domain::SessionId::parse("1-1").expect("a session"),
            expires_at: Timestamp::MAX,
        }),
    }
}

/// Who wants what, under which order.
///
/// # Panics
/// When the lines are none.
#[must_use]
pub fn intent(fan: &str, key: &str, lines: &[Line]) -> Intent {
    let key = IdempotencyKey::parse(key).expect("a key");
    let lines = OrderLines::new(lines.to_vec()).expect("lines");
    Intent {
        order: OrderId::derive(&customer(fan), Operation::PlaceOrder, &show(), &key),
        customer: customer(fan),
        event: show(),
        fingerprint: Fingerprint::v1(&lines),
    }
}

/// The event's id.
#[must_use]
pub fn show() -> EventId {
    EventId::parse("show").expect("an id")
}

/// A fan's id.
#[must_use]
pub fn customer(fan: &str) -> CustomerId {
    CustomerId::parse(fan).expect("an id")
}

/// A type's id.
#[must_use]
pub fn kind(name: &str) -> TicketTypeId {
    TicketTypeId::parse(name).expect("an id")
}

/// A seat.
#[must_use]
pub fn seat(number: u32) -> SeatLabel {
    SeatLabel::parse(&format!("A-1-{number}")).expect("a seat")
}

/// A line of places.
#[must_use]
pub fn places(quantity: u32) -> Line {
    Line { ticket_type: kind("floor"), wanted: Wanted::Quantity(quantity) }
}

/// A line of seats.
#[must_use]
pub fn seats(numbers: impl IntoIterator<Item = u32>) -> Line {
    let wanted = Wanted::Seats(numbers.into_iter().map(seat).collect());
    Line { ticket_type: kind("stalls"), wanted }
}

/// This instant.
///
/// # Panics
/// When the machine's clock is no clock.
#[must_use]
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let since = since.expect("a clock").as_millis();
    let millisecond = i64::try_from(since).expect("a clock");
    Timestamp::from_millisecond(millisecond).expect("a clock")
}

/// Where the sale's units are put.
#[must_use]
pub fn partitions() -> PartitionCounts {
    [(kind("floor"), 1), (kind("stalls"), 1)].into_iter().collect()
}

/// The sale's currency.
#[must_use]
pub fn currency() -> Currency {
    Currency::parse("TWD").expect("a currency")
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).expect("a duration")
}

fn sale_control(version: u64) -> SaleControl {
    SaleControl { switch: SaleSwitch::Open, window: window(), limit_per_customer: None, version }
}

fn window() -> SaleWindow {
    SaleWindow { opens_at: Timestamp::UNIX_EPOCH, closes_at: Timestamp::MAX }
}

fn event() -> Event {
    Event {
        id: show(),
        title: "Show".to_owned(),
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

fn floor(places: u32) -> TicketType {
    TicketType {
        id: kind("floor"),
        name: "Floor".to_owned(),
        kind: TicketKind::GeneralAdmission,
        price: Money { amount: PRICES.0, currency: currency() },
        limit_per_customer: None,
        index: 1,
        ceiling: places,
        capacity: places,
        partitions: 1,
        version: 1,
    }
}

fn stalls() -> TicketType {
    TicketType {
        id: kind("stalls"),
        name: "Stalls".to_owned(),
        kind: TicketKind::ReservedSeating,
        price: Money { amount: PRICES.1, currency: currency() },
        index: 2,
        ..floor(0)
    }
}

fn section(seats: u32) -> Section {
    let numbers = (0..seats).map(|number| number.to_string()).collect();
    let rows = vec![Row { row: "1".to_owned(), seats: numbers }];
    Section::new(SectionId::parse("A").expect("an id"), kind("stalls"), 0, rows).expect("a section")
}

fn control(ticket_type: &TicketType) -> TypeControl {
    TypeControl {
        id: ticket_type.id.clone(),
        index: ticket_type.index,
        kind: ticket_type.kind,
        amount: ticket_type.price.amount,
        version: ticket_type.version,
        limit_per_customer: ticket_type.limit_per_customer,
        ceiling: ticket_type.ceiling,
        mark: 0,
    }
}
