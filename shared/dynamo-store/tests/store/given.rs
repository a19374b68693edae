//! What the tests begin with.

use std::time::Duration;

use aws_config::SdkConfig;
use domain::{
    Currency, CustomerId, Epoch, Event, EventId, Fingerprint, IdempotencyKey, Intent, Money,
    Operation, Order, OrderId, OrderLine, OrderState, Rejection, SaleCommand, SaleSwitch,
    SaleWindow, SeatLabel, TicketKind, TicketType, TicketTypeId, UnitId, Venue,
};
use dynamo_store::{CatalogStore, ConnectionStore, OrderStore, PartitionCounts, Patience, client};
use jiff::Timestamp;
use test_support::dynamo::{Dynamo, Tables};

/// The stores of one engine.
pub(crate) struct Stores {
    pub(crate) catalog: CatalogStore,
    pub(crate) orders: OrderStore,
    pub(crate) connections: ConnectionStore,
}

impl Stores {
    pub(crate) fn new(config: &SdkConfig, tables: &Tables) -> Self {
        let client = client(config);
        Self {
            catalog: CatalogStore::new(client.clone(), &tables.catalog),
            orders: OrderStore::new(client.clone(), &tables.orders, &tables.units),
            connections: ConnectionStore::new(client, &tables.connections),
        }
    }

    pub(crate) fn on(dynamo: &Dynamo) -> Self {
        Self::new(&dynamo.sdk_config(), &dynamo.tables)
    }
}

/// Runs a test on every engine there is.
pub(crate) async fn on_every_engine<F: AsyncFn(Stores)>(test: F) {
    for dynamo in Dynamo::engines().await {
        println!("on {}", dynamo.endpoint);
        test(Stores::on(&dynamo)).await;
    }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_796_000_000 + seconds).unwrap()
}

pub(crate) fn event_id() -> EventId {
    EventId::parse("gala").unwrap()
}

pub(crate) fn type_id(id: &str) -> TicketTypeId {
    TicketTypeId::parse(id).unwrap()
}

pub(crate) fn customer(id: &str) -> CustomerId {
    CustomerId::parse(id).unwrap()
}

pub(crate) fn seat(label: &str) -> UnitId {
    UnitId::Seat(SeatLabel::parse(label).unwrap())
}

pub(crate) fn seats(labels: &[&str]) -> Vec<UnitId> {
    labels.iter().map(|label| seat(label)).collect()
}

pub(crate) fn serials(serials: impl IntoIterator<Item = u32>) -> Vec<UnitId> {
    serials.into_iter().map(UnitId::Serial).collect()
}

fn currency() -> Currency {
    Currency::parse("TWD").unwrap()
}

pub(crate) fn event() -> Event {
    Event {
        id: event_id(),
        title: "Gala – 秋".to_owned(),
        venue: Venue { name: "Hall".to_owned(), city: "Taipei".to_owned() },
        time_zone: "Asia/Taipei".to_owned(),
        starts_at: at(86_400),
        window: SaleWindow { opens_at: at(0), closes_at: at(3_600) },
        currency: currency(),
        limit_per_customer: None,
        switch: SaleSwitch::Scheduled,
        version: 1,
        epoch: Epoch(0),
        activated: false,
    }
}

/// The event as it is when a command has opened its sale.
pub(crate) fn opened(version: u64) -> Event {
    Event { switch: SaleSwitch::Open, version, ..event() }
}

/// An operator's "open" under this key.
pub(crate) fn command(key: &str) -> SaleCommand {
    let key = IdempotencyKey::parse(key).unwrap();
    SaleCommand::new(&customer("operator"), &key, SaleSwitch::Open)
}

pub(crate) fn ticket_type(id: &str, index: u8, kind: TicketKind, ceiling: u32) -> TicketType {
    TicketType {
        id: type_id(id),
        name: format!("The {id}"),
        kind,
        price: Money { amount: 8_800, currency: currency() },
        limit_per_customer: Some(4),
        index,
        ceiling,
        capacity: ceiling,
        partitions: TicketType::partitions_for(kind, ceiling),
        version: 1,
    }
}

/// For engines that answer.
pub(crate) const PATIENT: Patience = Patience { tries: 3, time_left: Duration::from_secs(10) };

pub(crate) fn partitions() -> PartitionCounts {
    [(type_id("floor"), 3), (type_id("stalls"), 16)].into_iter().collect()
}

pub(crate) fn line(ticket_type: &str, units: Vec<UnitId>) -> OrderLine {
    OrderLine { ticket_type: type_id(ticket_type), unit_amount: 8_800, price_version: 1, units }
}

pub(crate) fn intent(customer_id: &str, key: &str) -> Intent {
    let customer = customer(customer_id);
    let key = IdempotencyKey::parse(key).unwrap();
    Intent {
        order: OrderId::derive(&customer, Operation::PlaceOrder, &event_id(), &key),
        customer,
        event: event_id(),
        fingerprint: Fingerprint([7; 32]),
    }
}

/// A pending order of the customer's under the key `k`.
pub(crate) fn order(customer_id: &str, lines: Vec<OrderLine>) -> Order {
    order_under(intent(customer_id, "k"), lines)
}

pub(crate) fn order_under(intent: Intent, lines: Vec<OrderLine>) -> Order {
    Order {
        id: intent.order,
        customer: intent.customer,
        event: intent.event,
        epoch: Epoch(1),
        state: OrderState::Pending,
        rejection: None,
        version: 1,
        fingerprint: intent.fingerprint,
        total: Money { amount: Order::sum(&lines), currency: currency() },
        lines,
        created_at: at(1),
        updated_at: at(2),
        pay_by: Some(at(602)),
    }
}

pub(crate) fn refusal(intent: Intent) -> Order {
    let rejection = Rejection::SoldOut { ticket_type: type_id("floor") };
    Order::refusal(intent, Epoch(1), rejection, currency(), at(1))
}
