//! A till on an engine of its own: an event with places (`floor`) and seats
//! (`stalls`), and short ways to buy.

use std::time::{Duration, Instant};

use domain::{
    CustomerId, CustomerKey, Epoch, EventId, Fingerprint, IdempotencyKey, Line, Operation, OrderId,
    OrderLine, OrderLines, SaleSwitch, SaleWindow, SeatLabel, SessionId, TicketKind, TicketTypeId,
    UnitId, Wanted,
};
use jiff::Timestamp;
use redis_server::{Engine, RedisServer};
use redis_store::{
    Hold, Inventory, LoadedCounts, Mode, OrderRecord, Recorded, Redis, RedisMode, Released,
    Reservation, Reserve, SaleControl, Session, Settle, SettleStanding, Settled, TypeControl,
    TypeCounts, Written,
};

/// Runs a test on Redis and on Valkey; each with a sale in which nobody holds
/// anything and with one in which somebody does: only then do reservations go
/// the fast way.
pub(crate) async fn each_engine(test: impl AsyncFn(Till)) {
    for engine in Engine::ALL {
        for busy in [false, true] {
            println!("on {engine:?}, busy: {busy}");
            test(Till { busy, ..Till::open(engine).await }).await;
        }
    }
}

pub(crate) const EPOCH: Epoch = Epoch(1);
/// Longer than any test.
pub(crate) const LONG: Duration = Duration::from_secs(600);
/// Long enough for a call, short enough to wait for.
pub(crate) const SHORT: Duration = Duration::from_millis(100);
/// What was asked for does not matter to these tests, only whether it is the same.
pub(crate) const PRINT: Fingerprint = Fingerprint([7; 32]);

pub(crate) fn event() -> EventId {
    EventId::parse("show").unwrap()
}

pub(crate) fn kind(name: &str) -> TicketTypeId {
    TicketTypeId::parse(name).unwrap()
}

pub(crate) fn seat(number: u32) -> SeatLabel {
    SeatLabel::parse(&format!("A-1-{number}")).unwrap()
}

pub(crate) fn fan(number: u32) -> CustomerKey {
    CustomerId::parse(&format!("fan-{number}")).unwrap().key()
}

/// The order of a fan under a key.
pub(crate) fn order(number: u32, key: &str) -> OrderId {
    let customer = CustomerId::parse(&format!("fan-{number}")).unwrap();
    let key = IdempotencyKey::parse(key).unwrap();
    OrderId::derive(&customer, Operation::PlaceOrder, &event(), &key)
}

pub(crate) fn places(name: &str, quantity: u32) -> Line {
    Line { ticket_type: kind(name), wanted: Wanted::Quantity(quantity) }
}

pub(crate) fn seats(numbers: impl IntoIterator<Item = u32>) -> Line {
    let wanted = Wanted::Seats(numbers.into_iter().map(seat).collect());
    Line { ticket_type: kind("stalls"), wanted }
}

/// An instant that far from now; negative: before.
pub(crate) fn in_ms(milliseconds: i64) -> Timestamp {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_millisecond(i64::try_from(now.as_millis()).unwrap() + milliseconds).unwrap()
}

pub(crate) fn floor(ceiling: u32, mark: u32) -> TypeControl {
    TypeControl {
        id: kind("floor"),
        index: 1,
        kind: TicketKind::GeneralAdmission,
        amount: 8_800,
        version: 1,
        limit_per_customer: None,
        ceiling,
        mark,
    }
}

pub(crate) fn stalls() -> TypeControl {
    TypeControl {
        id: kind("stalls"),
        index: 2,
        kind: TicketKind::ReservedSeating,
        amount: 12_000,
        version: 3,
        ..floor(0, 0)
    }
}

pub(crate) fn sale(version: u64) -> SaleControl {
    let window = SaleWindow { opens_at: in_ms(-3_600_000), closes_at: in_ms(3_600_000) };
    SaleControl { switch: SaleSwitch::Open, window, limit_per_customer: None, version }
}

/// A session whose token lives so long.
pub(crate) fn session(id: &str, milliseconds: i64) -> Session {
    Session { id: SessionId::parse(id).unwrap(), expires_at: in_ms(milliseconds) }
}

/// A wish of a fan under a key: held for long, in a session.
pub(crate) fn wish(number: u32, key: &str, lines: Vec<Line>) -> Reserve {
    Reserve {
        event: event(),
        epoch: EPOCH,
        order: order(number, key),
        customer: fan(number),
        fingerprint: PRINT,
        lines: OrderLines::new(lines).unwrap(),
        hold: LONG,
        mode: Mode::Buy,
        session: Some(session("1-1", 300_000)),
    }
}

/// A held order as persistence commits it: to be paid long after.
pub(crate) fn persisted(wish: &Reserve, hold: &Hold) -> Settle {
    Settle {
        event: wish.event.clone(),
        epoch: wish.epoch,
        order: wish.order,
        order_epoch: wish.epoch,
        customer: wish.customer,
        fingerprint: wish.fingerprint,
        version: 1,
        standing: SettleStanding::Live { pay_by: Some(in_ms(3_600_000)) },
        lines: hold.lines.clone(),
        reread: false,
    }
}

/// The next version of an order, ended.
pub(crate) fn ended(live: &Settle) -> Settle {
    Settle {
        standing: SettleStanding::Ended,
        version: live.version + 1,
        lines: Vec::new(),
        ..live.clone()
    }
}

pub(crate) fn serials(lines: &[OrderLine]) -> Vec<u32> {
    lines
        .iter()
        .flat_map(|line| &line.units)
        .filter_map(|unit| match unit {
            UnitId::Serial(serial) => Some(*serial),
            UnitId::Seat(_) => None,
        })
        .collect()
}

pub(crate) struct Till {
    /// Whether somebody holds a place of another type all the while.
    busy: bool,
    pub(crate) inventory: Inventory,
    pub(crate) server: RedisServer,
}

impl Till {
    /// On an engine; nothing is on sale yet.
    pub(crate) async fn open(engine: Engine) -> Self {
        let server = RedisServer::start(engine);
        let inventory = Inventory::new(Redis::connect(&server.url(), RedisMode::Single));
        Self { busy: false, inventory, server }
    }

    /// Builds an epoch with these places and seats, and lets it sell.
    pub(crate) async fn sell_in(&self, epoch: Epoch, places: u32, seats: u32) {
        let (inventory, event) = (&self.inventory, event());
        assert!(inventory.build_begin(&event, epoch).await.unwrap());
        inventory.sale_set(&event, epoch, &sale(1)).await.unwrap();
        inventory.type_set(&event, epoch, &floor(places, places)).await.unwrap();
        inventory.type_set(&event, epoch, &stalls()).await.unwrap();
        let labels: Vec<_> = (0..seats).map(seat).collect();
        inventory.seats_add(&event, epoch, &kind("stalls"), 0, &labels).await.unwrap();
        let nothing = LoadedCounts { units: 0, orders: 0 };
        assert!(inventory.activate(&event, epoch, nothing).await.unwrap());
        if self.busy {
            let other = TypeControl { id: kind("other"), index: 9, ..floor(1, 1) };
            inventory.type_set(&event, epoch, &other).await.unwrap();
            let wish = wish(1_000_000, "k", vec![crate::till::places("other", 1)]);
            self.hold(&Reserve { epoch, ..wish }).await;
        }
    }

    pub(crate) async fn sell(&self, places: u32, seats: u32) {
        self.sell_in(EPOCH, places, seats).await;
    }

    pub(crate) async fn reserve(&self, wish: &Reserve) -> Reservation {
        self.inventory.reserve(wish).await.unwrap()
    }

    /// Reserves what is surely to be had.
    pub(crate) async fn hold(&self, wish: &Reserve) -> Hold {
        let reply = self.reserve(wish).await;
        let Reservation::Held(hold) = reply else { panic!("not held: {reply:?}") };
        hold
    }

    pub(crate) async fn settle(&self, settle: &Settle) -> Settled {
        self.inventory.settle(settle).await.unwrap()
    }

    pub(crate) async fn release(&self, order: &OrderId, customer: &CustomerKey) -> Released {
        self.inventory.release(&event(), EPOCH, order, customer).await.unwrap()
    }

    pub(crate) async fn recorded(&self, wish: &Reserve) -> Recorded {
        self.inventory.record(&event(), EPOCH, &wish.order, &wish.customer).await.unwrap()
    }

    /// What is surely known of an order.
    pub(crate) async fn record(&self, wish: &Reserve) -> OrderRecord {
        let recorded = self.recorded(wish).await;
        let Recorded::Known(record) = recorded else { panic!("not known: {recorded:?}") };
        record
    }

    /// Holds and persists.
    pub(crate) async fn sold(&self, wish: &Reserve) -> Settle {
        let settle = persisted(wish, &self.hold(wish).await);
        assert_eq!(self.settle(&settle).await, Settled::Applied);
        settle
    }

    pub(crate) async fn counts_in(&self, epoch: Epoch) -> Vec<TypeCounts> {
        let counts = self.inventory.counts(&event(), epoch).await.unwrap().unwrap();
        for one in &counts {
            let all = one.remaining + one.held + one.sold + one.withdrawn;
            assert_eq!(all, one.ceiling, "the equation of {}", one.ticket_type);
        }
        counts
    }

    /// Remaining, held, sold, withdrawn of a type.
    pub(crate) async fn counts(&self, name: &str) -> [u32; 4] {
        let counts = self.counts_in(EPOCH).await;
        let one = counts.into_iter().find(|one| one.ticket_type == kind(name)).unwrap();
        [one.remaining, one.held, one.sold, one.withdrawn]
    }

    pub(crate) async fn sale_set(&self, sale: &SaleControl) {
        let written = self.inventory.sale_set(&event(), EPOCH, sale).await.unwrap();
        assert_eq!(written, Written::Applied);
    }

    /// Waits until an instant has passed by the engine's own clock.
    pub(crate) async fn passed(&self, instant: Timestamp) {
        let client = redis::Client::open(self.server.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let (seconds, micros): (i64, i64) =
                redis::cmd("TIME").query_async(&mut connection).await.unwrap();
            if seconds * 1_000 + micros / 1_000 >= instant.as_millisecond() {
                return;
            }
            assert!(Instant::now() < deadline, "{instant} does not come");
            tokio::task::yield_now().await;
        }
    }
}
