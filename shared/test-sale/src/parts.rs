//! What every sale is made of.

use std::time::Duration;

use domain::{
    Currency, CustomerId, Epoch, Event, EventId, Fingerprint, IdempotencyKey, Intent, Line, Money,
    Operation, OrderId, OrderLines, Row, SaleSwitch, SaleWindow, SeatLabel, Section, SectionId,
    SessionId, TicketKind, TicketType, TicketTypeId, Venue,
};
use jiff::Timestamp;
use redis_store::{Inventory, LoadedCounts, Mode, Reserve, SaleControl, Session, TypeControl};

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

/// The currency of all prices.
#[must_use]
pub fn currency() -> Currency {
    Currency::parse("TWD").expect("a currency")
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

/// An event that is on sale always, and has no inventory yet.
pub(crate) fn event(id: EventId) -> Event {
    Event {
        title: id.to_string(),
        id,
        venue: Venue { name: "Hall".to_owned(), city: "Taipei".to_owned() },
        time_zone: "Asia/Taipei".to_owned(),
        starts_at: Timestamp::MAX,
        window: window(),
        currency: currency(),
        limit_per_customer: None,
        switch: SaleSwitch::Open,
        version: 1,
        epoch: Epoch(0),
        activated: false,
    }
}

/// The type `floor`, of so many places.
pub(crate) fn floor(index: u8, amount: i64, places: u32) -> TicketType {
    TicketType {
        id: kind("floor"),
        name: "Floor".to_owned(),
        kind: TicketKind::GeneralAdmission,
        price: Money { amount, currency: currency() },
        limit_per_customer: None,
        index,
        ceiling: places,
        capacity: places,
        partitions: 1,
        version: 1,
    }
}

/// The type `stalls`, whose seats come with its sections.
pub(crate) fn stalls(index: u8, amount: i64) -> TicketType {
    TicketType {
        id: kind("stalls"),
        name: "Stalls".to_owned(),
        kind: TicketKind::ReservedSeating,
        ..floor(index, amount, 0)
    }
}

/// A section of the stalls with one row, `1`.
pub(crate) fn section(id: &str, first: u32, numbers: impl Iterator<Item = u32>) -> Section {
    let seats = numbers.map(|number| number.to_string()).collect();
    let rows = vec![Row { row: "1".to_owned(), seats }];
    let id = SectionId::parse(id).expect("an id");
    Section::new(id, kind("stalls"), first, rows).expect("a section")
}

/// An inventory that is being built: nobody has anything.
pub(crate) async fn build(
    inventory: &Inventory,
    event: &EventId,
    epoch: Epoch,
    types: &[TypeControl],
) {
    assert!(inventory.build_begin(event, epoch).await.expect("a build"));
    inventory.sale_set(event, epoch, &sale_control(1)).await.expect("a sale");
    for control in types {
        inventory.type_set(event, epoch, control).await.expect("a type");
    }
}

/// Adds seats of the stalls to an inventory.
pub(crate) async fn add_seats(
    inventory: &Inventory,
    event: &EventId,
    epoch: Epoch,
    first: u32,
    labels: &[SeatLabel],
) {
    inventory.seats_add(event, epoch, &kind("stalls"), first, labels).await.expect("seats");
}

/// Lets an inventory sell that is built.
pub(crate) async fn activate(inventory: &Inventory, event: &EventId, epoch: Epoch) {
    let nothing = LoadedCounts { units: 0, orders: 0 };
    assert!(inventory.activate(event, epoch, nothing).await.expect("an inventory"));
}

/// The epoch that sells.
pub(crate) async fn active_epoch(inventory: &Inventory, event: &EventId) -> Epoch {
    match inventory.pointer(event).await.expect("an answer") {
        Some(redis_store::Pointer::Active(epoch)) => epoch,
        other => panic!("nothing is sold: {other:?}"),
    }
}

/// An event's sale as Redis has it, after the edit of this version.
pub(crate) fn sale_control(version: u64) -> SaleControl {
    SaleControl { switch: SaleSwitch::Open, window: window(), limit_per_customer: None, version }
}

/// A type as Redis has it, of which so many units may be issued.
pub(crate) fn type_control(ticket_type: &TicketType, mark: u32) -> TypeControl {
    TypeControl {
        id: ticket_type.id.clone(),
        index: ticket_type.index,
        kind: ticket_type.kind,
        amount: ticket_type.price.amount,
        version: ticket_type.version,
        limit_per_customer: ticket_type.limit_per_customer,
        ceiling: ticket_type.ceiling,
        mark,
    }
}

/// Who wants what of an event, under which order.
pub(crate) fn intent(event: EventId, fan: &str, key: &str, lines: &OrderLines) -> Intent {
    let key = IdempotencyKey::parse(key).expect("a key");
    Intent {
        order: OrderId::derive(&customer(fan), Operation::PlaceOrder, &event, &key),
        customer: customer(fan),
        event,
        fingerprint: Fingerprint::v1(lines),
    }
}

/// A fan's wish under a key, in a session that lives long.
pub(crate) fn wish(
    event: EventId,
    fan: &str,
    key: &str,
    lines: Vec<Line>,
    epoch: Epoch,
    hold: Duration,
) -> Reserve {
    let lines = OrderLines::new(lines).expect("lines");
    let intent = intent(event, fan, key, &lines);
    Reserve {
        event: intent.event,
        epoch,
        order: intent.order,
        customer: intent.customer.key(),
        fingerprint: intent.fingerprint,
        lines,
        hold,
        mode: Mode::Buy,
        session: Some(Session {
            id: SessionId::parse("1-1").expect("a session"),
            expires_at: Timestamp::MAX,
        }),
    }
}

fn window() -> SaleWindow {
    SaleWindow { opens_at: Timestamp::UNIX_EPOCH, closes_at: Timestamp::MAX }
}
