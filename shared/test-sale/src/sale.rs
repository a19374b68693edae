//! A sale with its orders.

use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{
    Epoch, EventId, Intent, Line, Order, OrderId, OrderLines, SeatLabel, Standing, TicketType,
    Wanted,
};
use dynamo_store::{
    CatalogStore, Consistency, EpochRaised, EventCache, OrderStore, PartitionCache,
    PartitionCounts, Patience,
};
use jiff::SignedDuration;
use redis_store::{
    Inventory, LoadedCounts, LoadedOrder, RecordState, Recorded, Redis, RedisMode, Released,
    Reservation, Reserve, SaleControl, SeatStatus, Settle, Settled, TypeControl, TypeCounts,
};
use test_support::dynamo::Dynamo;
use test_support::redis::{Engine, RedisServer};
use test_support::wire::Wire;

use crate::parts::{self, currency, customer, kind, now, sale_control};

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
        sale.catalog.event_create(&parts::event(show())).await.expect("an event");
        let (floor, stalls) = (floor(places), stalls());
        for ticket_type in [&floor, &stalls] {
            sale.catalog.ticket_type_create(&show(), ticket_type).await.expect("a type");
        }
        if seats > 0 {
            let grown = TicketType { version: 2, ceiling: seats, capacity: seats, ..stalls };
            let section = parts::section("A", 0, 0..seats);
            let put = sale.catalog.section_put(&show(), &section, &grown).await;
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
        assert_eq!(self.epoch_raise().await, epoch, "the next");
        let controls = [control(&floor(places)), control(&stalls())];
        parts::build(inventory, &event, epoch, &controls).await;
        let labels: Vec<SeatLabel> = (0..seats).map(seat).collect();
        parts::add_seats(inventory, &event, epoch, 0, &labels).await;
        parts::activate(inventory, &event, epoch).await;
        self.catalog.event_activate(&event, epoch).await.expect("an event on sale");
    }

    /// Raises the event's epoch, as whoever builds an inventory does.
    ///
    /// # Panics
    /// When somebody else does.
    pub async fn epoch_raise(&self) -> Epoch {
        let event = self.catalog.event_fetch(&show(), Consistency::Strong).await;
        let event = event.expect("the table").expect("the event");
        match self.catalog.epoch_raise(&event).await.expect("the table") {
            EpochRaised::Raised(epoch) => epoch,
            other @ (EpochRaised::Lost(_) | EpochRaised::Missing) => panic!("{other:?}"),
        }
    }

    /// Begins to build the inventory again, as whoever recovers it does: under an
    /// epoch of its own. Until that is finished nothing is sold.
    ///
    /// # Panics
    /// When the stores fail.
    pub async fn build_begin(&self) -> Epoch {
        let epoch = self.epoch_raise().await;
        assert!(self.inventory.build_begin(&show(), epoch).await.expect("a build"));
        epoch
    }

    /// Builds that epoch from the catalogue and the units that are owned, and lets
    /// it sell.
    ///
    /// # Panics
    /// When the stores fail, or something could not be loaded.
    pub async fn build_finish(&self, epoch: Epoch) {
        let event = show();
        let types = self.catalog.ticket_types_list(&event, Consistency::Strong).await;
        let types = types.expect("the table");
        // Seats come with their sections.
        let without_seats = |ticket_type: &TicketType| TypeControl {
            ceiling: if ticket_type.id == kind("stalls") { 0 } else { ticket_type.ceiling },
            ..control(ticket_type)
        };
        let controls: Vec<TypeControl> = types.iter().map(without_seats).collect();
        parts::build(&self.inventory, &event, epoch, &controls).await;
        let sections = self.catalog.sections_list(&event, Consistency::Strong).await;
        for section in sections.expect("the table") {
            let labels: Vec<SeatLabel> = section.labels().collect();
            parts::add_seats(&self.inventory, &event, epoch, section.first, &labels).await;
        }
        let orders = self.live_orders(&types).await;
        let loaded: Vec<LoadedOrder> = orders.iter().map(loaded_order).collect();
        self.inventory.orders_load(&event, epoch, &loaded).await.expect("orders");
        let units = orders.iter().map(|order| order.units().count() as u64).sum();
        let counts = LoadedCounts { units, orders: orders.len() as u64 };
        assert!(self.inventory.activate(&event, epoch, counts).await.expect("an inventory"));
    }

    async fn live_orders(&self, types: &[TicketType]) -> Vec<Order> {
        let mut owners = Vec::new();
        for ticket_type in types {
            let units = self.orders.units_list(&show(), &ticket_type.id, &partitions()).await;
            owners.extend(units.expect("the table").into_iter().map(|unit| unit.owner));
        }
        let mut orders = self.orders.orders_fetch(&owners).await.expect("the table");
        orders.retain(|order| order.state.standing() == Standing::Live);
        orders
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

    /// Lets Redis give back a hold: its units are free there, and it remembers that
    /// the order had them once.
    ///
    /// # Panics
    /// When it has no such hold.
    pub async fn release(&self, intent: &OrderIntent) {
        let (event, key) = (show(), intent.customer.key());
        let released = self.inventory.release(&event, self.epoch().await, &intent.order, &key);
        assert_eq!(released.await.expect("an answer"), Released::GivenBack);
    }

    /// What Redis says of an order, in the epoch it was held in.
    ///
    /// # Panics
    /// When Redis fails.
    pub async fn recorded(&self, intent: &OrderIntent) -> Recorded {
        let OrderIntent { event, epoch, order, customer, .. } = intent;
        let key = customer.key();
        let recorded = self.inventory.record(event, *epoch, order, &key);
        recorded.await.expect("an answer")
    }

    /// Waits until a hold has lapsed by Redis' own clock.
    ///
    /// # Panics
    /// When Redis fails, or knows no such hold.
    pub async fn until_lapsed(&self, intent: &OrderIntent) {
        loop {
            match self.recorded(intent).await {
                Recorded::Known(record) if record.state == RecordState::Lapsed => return,
                Recorded::Known(_) => {}
                Recorded::Unknown | Recorded::StaleEpoch { .. } | Recorded::Unavailable => {
                    panic!("no hold of {}", intent.order)
                }
            }
        }
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
        let persisted =
            self.orders.order_persist(&order, &partitions(), PATIENT).await.expect("an answer");
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
        parts::active_epoch(&self.inventory, &show()).await
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
    parts::wish(show(), fan, key, lines, epoch, hold)
}

/// Who wants what, under which order.
///
/// # Panics
/// When the lines are none.
#[must_use]
pub fn intent(fan: &str, key: &str, lines: &[Line]) -> Intent {
    parts::intent(show(), fan, key, &OrderLines::new(lines.to_vec()).expect("lines"))
}

/// The event's id.
#[must_use]
pub fn show() -> EventId {
    EventId::parse("show").expect("an id")
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

/// For engines that answer.
pub const PATIENT: Patience = Patience { tries: 3, time_left: Duration::from_secs(10) };

/// Where the sale's units are put.
#[must_use]
pub fn partitions() -> PartitionCounts {
    [(kind("floor"), 1), (kind("stalls"), 1)].into_iter().collect()
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).expect("a duration")
}

fn floor(places: u32) -> TicketType {
    parts::floor(1, PRICES.0, places)
}

fn stalls() -> TicketType {
    parts::stalls(2, PRICES.1)
}

/// No unit may be issued yet.
fn control(ticket_type: &TicketType) -> TypeControl {
    parts::type_control(ticket_type, 0)
}

fn loaded_order(order: &Order) -> LoadedOrder {
    LoadedOrder {
        order: order.id,
        customer: order.customer.key(),
        fingerprint: order.fingerprint,
        version: order.version,
        standing: Settle::of(order, order.epoch, true).standing,
        lines: order.lines.clone(),
    }
}
