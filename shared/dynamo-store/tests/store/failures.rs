//! What AWS can answer and no local engine gives: injected at the wire, in the
//! words of the service.

use aws_config::retry::RetryConfig;
use domain::{ItemFailure, Order, PersistVerdict, classify_persist};
use dynamo_store::{
    Ended, EventCreated, EventUpdated, OrderStore, Persisted, Refused, StoreError,
    TicketTypeCreated,
};
use test_support::dynamo::Dynamo;
use test_support::wire::{Fault, Wire};

use crate::given::{self, Stores, line, order, partitions, seats, serials};

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

fn answers() -> Vec<(Fault, Kind)> {
    let aws = |kind, message| Fault::error(400, kind, message);
    vec![
        (
            aws(
                "ProvisionedThroughputExceededException",
                "The level of configured provisioned throughput for the table was exceeded.",
            ),
            Kind::Throttled,
        ),
        (
            aws("ThrottlingException", "Throughput exceeds the current capacity of your table."),
            Kind::Throttled,
        ),
        (
            aws(
                "RequestLimitExceeded",
                "Throughput exceeds the current throughput limit for your account.",
            ),
            Kind::Throttled,
        ),
        (
            aws("TransactionConflictException", "Transaction is ongoing for the item"),
            Kind::Contended,
        ),
        (
            aws(
                "ReplicatedWriteConflictException",
                "One or more items are being modified by a request in another Region.",
            ),
            Kind::Contended,
        ),
        (aws("ValidationException", "One or more parameter values were invalid"), Kind::Invalid),
        (
            aws("ItemCollectionSizeLimitExceededException", "Collection size exceeded"),
            Kind::Invalid,
        ),
        (aws("AccessDeniedException", "User is not authorized"), Kind::Denied),
        (aws("ResourceNotFoundException", "Requested resource not found"), Kind::Denied),
        (
            aws(
                "UnrecognizedClientException",
                "The security token included in the request is invalid.",
            ),
            Kind::Denied,
        ),
        (
            aws("ExpiredTokenException", "The security token included in the request is expired"),
            Kind::Denied,
        ),
        (aws("TransactionInProgressException", "Transaction is in progress"), Kind::Unavailable),
        (aws("NeverHeardOfException", "?"), Kind::Unavailable),
        (
            Fault::error(
                500,
                "InternalServerError",
                "The request processing has failed because of an unknown error",
            ),
            Kind::Unavailable,
        ),
        (
            Fault::error(503, "ServiceUnavailable", "The service is temporarily unavailable"),
            Kind::Unavailable,
        ),
        (Fault::Answer(502, "<html>bad gateway</html>".to_owned()), Kind::Unavailable),
        (Fault::Answer(400, String::new()), Kind::Unavailable),
        (Fault::RequestLost, Kind::Unavailable),
    ]
}

#[tokio::test]
async fn every_answer_of_the_service_is_read_as_what_it_means() {
    let (_dynamo, wire, stores) = once().await;
    let refusal = given::refusal(given::intent("fan-1", "k"));
    let order = two_units();
    for (fault, kind) in answers() {
        wire.next("PutItem", fault.clone());
        let error = stores.orders.order_refuse(&refusal).await.unwrap_err();
        assert_eq!(kind_of(&error), kind, "{fault:?}");
        assert_eq!(error.is_outcome_unknown(), kind == Kind::Unavailable);
        assert_eq!(error.is_retryable(), kind != Kind::Invalid);

        wire.next("TransactWriteItems", fault.clone());
        let error = stores.orders.order_persist(&order, &partitions()).await.unwrap_err();
        assert_eq!(kind_of(&error), kind, "{fault:?}");

        wire.next("GetItem", fault.clone());
        let read = stores.orders.order_fetch(&order.customer, &order.id).await;
        assert_eq!(kind_of(&read.unwrap_err()), kind, "{fault:?}");
        assert!(wire.is_spent());
    }
    assert!(!is_stored(&stores.orders, &order).await);
}

#[tokio::test]
async fn every_cancellation_reason_stands_at_its_items_position() {
    let (_dynamo, wire, stores) = once().await;
    use ItemFailure::{ConditionFailed, Conflict, Invalid, None as Fine, Throttled, Unknown};
    let cases: [(&[&str], [ItemFailure; 3], PersistVerdict); 9] = [
        (
            &["TransactionConflict", "None", "None"],
            [Conflict, Fine, Fine],
            PersistVerdict::Contention,
        ),
        (
            &["None", "ConditionalCheckFailed", "TransactionConflict"],
            [Fine, ConditionFailed, Conflict],
            PersistVerdict::Contention,
        ),
        (
            &["TransactionConflict", "ThrottlingError", "None"],
            [Conflict, Throttled, Fine],
            PersistVerdict::Unclear,
        ),
        (
            &["None", "None", "ProvisionedThroughputExceeded"],
            [Fine, Fine, Throttled],
            PersistVerdict::Unclear,
        ),
        (&["None", "ValidationError", "None"], [Fine, Invalid, Fine], PersistVerdict::Poison),
        (
            &["ItemCollectionSizeLimitExceeded", "None", "None"],
            [Invalid, Fine, Fine],
            PersistVerdict::Poison,
        ),
        (&["None", "NeverHeardOf", "None"], [Fine, Unknown, Fine], PersistVerdict::Unclear),
        // Reasons that don't stand beside the items say nothing about any.
        (&["ConditionalCheckFailed"], [Unknown; 3], PersistVerdict::Unclear),
        (&[], [Unknown; 3], PersistVerdict::Unclear),
    ];
    for (codes, expected, verdict) in cases {
        wire.next("TransactWriteItems", Fault::cancelled(codes));
        let outcome = stores.orders.order_persist(&two_units(), &partitions()).await.unwrap();
        let Persisted::Cancelled { reasons, present, unit_owner } = outcome else {
            panic!("{codes:?}")
        };
        assert_eq!(reasons, expected, "{codes:?}");
        assert_eq!(classify_persist(&reasons), verdict, "{codes:?}");
        assert_eq!((present, unit_owner), (None, None));
    }
}

#[tokio::test]
async fn a_cancellation_that_says_nothing_of_the_caller_is_an_error_of_its_kind() {
    let (_dynamo, wire, stores) = once().await;
    let order = two_units();
    stores.orders.order_persist(&order, &partitions()).await.unwrap();
    let end = async || {
        let (to, now) = (domain::OrderState::Expired, given::at(700));
        stores.orders.order_end(&order, to, now, &partitions()).await
    };
    let cases = [
        ("TransactionConflict", Kind::Contended),
        ("ThrottlingError", Kind::Throttled),
        ("ValidationError", Kind::Invalid),
        ("NeverHeardOf", Kind::Unavailable),
    ];
    for (code, kind) in cases {
        wire.next("TransactWriteItems", Fault::cancelled(&["None", code, "None"]));
        assert_eq!(kind_of(&end().await.unwrap_err()), kind, "{code}");
    }
    // A condition that failed on a unit which is the order's own after all: the
    // reading contradicts it, and nobody's unit is given up for it.
    wire.next("TransactWriteItems", Fault::cancelled(&["None", "ConditionalCheckFailed", "None"]));
    assert_eq!(kind_of(&end().await.unwrap_err()), Kind::Contended);
    assert!(matches!(end().await.unwrap(), Ended::Ended { foreign, .. } if foreign.is_empty()));
}

#[tokio::test]
async fn a_lost_reply_leaves_the_outcome_unknown_and_the_order_readable() {
    let (_dynamo, wire, stores) = once().await;
    let order = two_units();
    wire.next("TransactWriteItems", Fault::ReplyLost);
    let error = stores.orders.order_persist(&order, &partitions()).await.unwrap_err();
    assert!(error.is_outcome_unknown() && error.is_retryable(), "{error:?}");
    assert!(is_stored(&stores.orders, &order).await);
    let again = stores.orders.order_persist(&order, &partitions()).await.unwrap();
    let Persisted::Cancelled { reasons, present, .. } = again else { panic!("{again:?}") };
    assert_eq!(classify_persist(&reasons), PersistVerdict::OrderPresent);
    assert_eq!(present, Some(order.clone()));

    wire.next("TransactWriteItems", Fault::ReplyLost);
    let (to, now) = (domain::OrderState::Expired, given::at(700));
    let error = stores.orders.order_end(&order, to, now, &partitions()).await.unwrap_err();
    assert!(error.is_outcome_unknown());
    let again = stores.orders.order_end(&order, to, now, &partitions()).await.unwrap();
    assert!(matches!(again, Ended::Lost(read) if read.state == to));
}

#[tokio::test]
async fn a_reply_lost_to_the_sdks_own_retry_is_no_other_ones_write() {
    for dynamo in Dynamo::engines().await {
        assert_own_writes_are_known(&dynamo).await;
    }
}

async fn assert_own_writes_are_known(dynamo: &Dynamo) {
    let (wire, stores) = retrying(dynamo);
    let order = two_units();
    wire.next("TransactWriteItems", Fault::ReplyLost);
    let outcome = stores.orders.order_persist(&order, &partitions()).await.unwrap();
    assert_eq!(outcome, Persisted::New, "the two sends share their token");

    let refusal = given::refusal(given::intent("fan-2", "k"));
    wire.next("PutItem", Fault::ReplyLost);
    assert_eq!(stores.orders.order_refuse(&refusal).await.unwrap(), Refused::Stored);

    let event = given::event();
    wire.next("PutItem", Fault::ReplyLost);
    assert_eq!(stores.catalog.event_create(&event).await.unwrap(), EventCreated::Created);
    let edit = domain::Event { title: "New".to_owned(), version: 2, ..event };
    wire.next("UpdateItem", Fault::ReplyLost);
    assert_eq!(stores.catalog.event_update(&edit).await.unwrap(), EventUpdated::Updated);
    let floor = given::ticket_type("floor", 1, domain::TicketKind::GeneralAdmission, 600);
    wire.next("TransactWriteItems", Fault::ReplyLost);
    let created = stores.catalog.ticket_type_create(&edit.id, &floor).await.unwrap();
    assert_eq!(created, TicketTypeCreated::Created);
    wire.next("UpdateItem", Fault::ReplyLost);
    let mark = stores.catalog.mark_raise(&edit.id, &floor.id, 30).await.unwrap();
    assert_eq!(mark, 30);
    assert!(wire.is_spent());
}

#[tokio::test]
async fn the_sdk_retries_throttling_by_itself() {
    let dynamo = Dynamo::start().await;
    let (wire, stores) = retrying(&dynamo);
    let busy = Fault::error(400, "ThrottlingException", "Throughput exceeds the capacity");
    wire.next("PutItem", busy);
    let refusal = given::refusal(given::intent("fan-1", "k"));
    assert_eq!(stores.orders.order_refuse(&refusal).await.unwrap(), Refused::Stored);
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
