//! What AWS can answer and no local engine gives: injected at the wire, in the
//! words of the service.

use aws_config::retry::RetryConfig;
use domain::Order;
use dynamo_store::{
    Ended, EventCreated, EventUpdated, OrderStore, Persisted, QueuePut, Refused, SaleCommanded,
    StoreError, TicketTypeCreated,
};
use test_support::dynamo::Dynamo;
use test_support::wire::{Fault, Wire};

use crate::given::{self, PATIENT, Stores, line, order, partitions, seats, serials};

/// Stores over a wire, that try once only.
async fn once() -> (Dynamo, Wire, Stores) {
    let (dynamo, wire) = (Dynamo::start().await, Wire::new());
    let config = wire.over(&dynamo.sdk_config());
    let config = config.into_builder().retry_config(RetryConfig::disabled()).build();
    let stores = Stores::new(&config, &dynamo.tables);
    (dynamo, wire, stores)
}

/// Stores over a wire, with the SDK's own retries.
fn retrying(dynamo: &Dynamo) -> (Wire, Stores) {
    let wire = Wire::new();
    let config = wire.over(&dynamo.sdk_config());
    let config = config.into_builder().retry_config(RetryConfig::standard()).build();
    let stores = Stores::new(&config, &dynamo.tables);
    (wire, stores)
}

fn two_units() -> Order {
    order("fan-1", vec![line("floor", serials([0])), line("stalls", seats(&["A-1-1"]))])
}

async fn is_stored(orders: &OrderStore, order: &Order) -> bool {
    orders.order_fetch(&order.customer, &order.id).await.unwrap().is_some()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unavailable,
    Throttled,
    Contended,
    Invalid,
    Denied,
}

fn kind_of(error: &StoreError) -> Kind {
    match error {
        StoreError::Unavailable(_) => Kind::Unavailable,
        StoreError::Throttled(_) => Kind::Throttled,
        StoreError::Contended(_) => Kind::Contended,
        StoreError::Invalid(_) => Kind::Invalid,
        StoreError::Denied(_) => Kind::Denied,
        StoreError::Corrupt { .. } => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn a_cancellation_that_says_nothing_of_the_caller_is_an_error_of_its_kind() {
    let (_dynamo, wire, stores) = once().await;
    let order = two_units();
    stores.orders.order_persist(&order, &partitions(), PATIENT).await.unwrap();
    let end = async || {
        let (to, now) = (domain::OrderState::Expired, given::at(700));
        stores.orders.order_end(&order, to, now, &partitions()).await
    };
    let cases = [
        ("ThrottlingError", Kind::Throttled),
        ("ValidationError", Kind::Invalid),
        ("NeverHeardOf", Kind::Unavailable),
    ];
    for (code, kind) in cases {
        wire.next("TransactWriteItems", Fault::cancelled(&["None", code, "None"]));
        assert_eq!(kind_of(&end().await.unwrap_err()), kind, "{code}");
    }
    // Others are in the way for a while; or a condition failed on a unit which is the
    // order's own after all: the reading contradicts it, and nobody's unit is given up for it.
    let contended =
        [["TransactionConflict", "None", "None"], ["None", "ConditionalCheckFailed", "None"]];
    for reasons in contended {
        for _ in 0..PATIENT.tries {
            wire.next("TransactWriteItems", Fault::cancelled(&reasons));
        }
        assert_eq!(kind_of(&end().await.unwrap_err()), Kind::Contended);
        assert!(wire.is_spent());
    }
    contended.iter().for_each(|of| wire.next("TransactWriteItems", Fault::cancelled(of)));
    assert!(matches!(end().await.unwrap(), Ended::Ended { foreign, .. } if foreign.is_empty()));
}

#[tokio::test]
async fn a_type_that_somebody_is_changing_is_not_read_settled() {
    let (_dynamo, wire, stores) = once().await;
    let (event, types) = (given::event_id(), [given::type_id("floor")]);
    let settled = || stores.catalog.ticket_types_settled(&event, &types);
    for (code, times, kind) in [
        ("TransactionConflict", 5, Kind::Contended),
        ("ThrottlingError", 1, Kind::Throttled),
        ("ValidationError", 1, Kind::Invalid),
        ("NeverHeardOf", 1, Kind::Unavailable),
    ] {
        (0..times).for_each(|_| wire.next("TransactGetItems", Fault::cancelled(&[code])));
        assert_eq!(kind_of(&settled().await.unwrap_err()), kind, "{code}");
        assert!(wire.is_spent());
    }
    (0..4).for_each(|_| wire.next("TransactGetItems", Fault::cancelled(&["TransactionConflict"])));
    assert_eq!(settled().await.unwrap(), []);
}

#[tokio::test]
async fn a_lost_reply_leaves_the_outcome_unknown_and_the_order_readable() {
    let (_dynamo, wire, stores) = once().await;
    let order = two_units();
    wire.next("TransactWriteItems", Fault::ReplyLost);
    wire.next("GetItem", Fault::RequestLost);
    let error = stores.orders.order_persist(&order, &partitions(), PATIENT).await.unwrap_err();
    assert!(error.is_outcome_unknown() && error.is_retryable(), "{error:?}");
    assert!(is_stored(&stores.orders, &order).await);
    let again = stores.orders.order_persist(&order, &partitions(), PATIENT).await.unwrap();
    assert_eq!(again, Persisted::Present(order.clone()));

    wire.next("TransactWriteItems", Fault::ReplyLost);
    let (to, now) = (domain::OrderState::Expired, given::at(700));
    let error = stores.orders.order_end(&order, to, now, &partitions()).await.unwrap_err();
    assert!(error.is_outcome_unknown());
    let again = stores.orders.order_end(&order, to, now, &partitions()).await.unwrap();
    assert!(matches!(again, Ended::Lost(read) if read.state == to));
}

#[tokio::test]
async fn a_lost_reply_is_no_other_ones_write() {
    for dynamo in Dynamo::engines().await {
        assert_own_writes_are_known(&dynamo).await;
    }
}

async fn assert_own_writes_are_known(dynamo: &Dynamo) {
    let (wire, stores) = retrying(dynamo);
    let order = two_units();
    wire.next("TransactWriteItems", Fault::ReplyLost);
    let outcome = stores.orders.order_persist(&order, &partitions(), PATIENT).await.unwrap();
    assert_eq!(outcome, Persisted::Present(order), "it is read before it is sent again");

    let refusal = given::refusal(given::intent("fan-2", "k"));
    wire.next("PutItem", Fault::ReplyLost);
    assert_eq!(stores.orders.order_refuse(&refusal).await.unwrap(), Refused::Stored);

    let event = given::event();
    wire.next("PutItem", Fault::ReplyLost);
    assert_eq!(stores.catalog.event_create(&event).await.unwrap(), EventCreated::Created);
    let edit = domain::Event { title: "New".to_owned(), version: 2, ..event };
    wire.next("UpdateItem", Fault::ReplyLost);
    assert_eq!(stores.catalog.event_update(&edit).await.unwrap(), EventUpdated::Updated);
    wire.next("TransactWriteItems", Fault::ReplyLost);
    let open = given::command("k");
    let commanded = stores.catalog.sale_command_put(&given::opened(3), &open).await.unwrap();
    assert_eq!(commanded, SaleCommanded::Before(open.switch));
    let floor = given::ticket_type("floor", 1, domain::TicketKind::GeneralAdmission, 600);
    wire.next("TransactWriteItems", Fault::ReplyLost);
    let created = stores.catalog.ticket_type_create(&edit.id, &floor).await.unwrap();
    assert_eq!(created, TicketTypeCreated::Created);
    wire.next("UpdateItem", Fault::ReplyLost);
    let mark = stores.catalog.mark_raise(&edit.id, &floor.id, 30).await.unwrap();
    assert_eq!(mark, 30);
    let settings = domain::QueueSettings::default();
    for version in [1, 2] {
        wire.next("UpdateItem", Fault::ReplyLost);
        let put = stores.catalog.queue_put(&edit.id, &settings, version).await.unwrap();
        assert!(matches!(put, QueuePut::Stored(record) if record.version == version));
    }
    assert!(wire.is_spent());
}

#[tokio::test]
async fn the_sdk_retries_throttling_by_itself() {
    let dynamo = Dynamo::start().await;
    let (wire, stores) = retrying(&dynamo);
    let busy = Fault::error(400, "ThrottlingException", "Throughput exceeds the capacity");
    wire.next("PutItem", busy);
    let created = stores.catalog.event_create(&given::event()).await.unwrap();
    assert_eq!(created, EventCreated::Created);
}

#[tokio::test]
async fn a_batch_that_makes_no_headway_is_throttled() {
    let (dynamo, wire, stores) = once().await;
    let owner =
        dynamo_store::UnitOwner { order: two_units().id, customer: given::customer("fan-1") };
    let table = &dynamo.tables.orders;
    let key = r#"{"pk":{"S":"p"},"sk":{"S":"s"}}"#;
    let nothing = format!(
        r#"{{"Responses":{{"{table}":[]}},"UnprocessedKeys":{{"{table}":{{"Keys":[{key}]}}}}}}"#
    );
    wire.next("BatchGetItem", Fault::Answer(200, nothing));
    let error = stores.orders.orders_fetch(&[owner]).await.unwrap_err();
    assert_eq!(kind_of(&error), Kind::Throttled);
}
