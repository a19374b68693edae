//! Unknown outcomes are called unknown, and a repeat tells.

use std::time::Duration;

use lambda_kit::testing::TestResponse;
use redis_store::{Inventory, Redis, RedisMode};
use test_sale::Sale;
use test_support::redis::Proxy;
use test_support::wire::Fault;

use crate::shop::{Shop, bare, order_of, places, refused_order};

#[tokio::test]
async fn an_intent_that_may_not_have_been_sent_is_no_failure_and_a_repeat_sends_it() {
    let shop = Shop::of(10, 0).await;
    shop.queue.set_refusing(true);
    let answer = shop.order("ann", "k", &places(2)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "outcome_unknown"));
    assert!(!answer.header("retry-after").is_empty());
    let order = refused_order(&answer);
    assert_eq!(answer.header("location"), format!("/events/show/orders/{order}"));
    assert_eq!(shop.sale.counts("floor").await.held, 2);

    shop.queue.set_refusing(false);
    let _ = shop.queue.take_sent();
    for _ in 0..2 {
        assert_eq!(shop.accepted("ann", "k", &places(2)).await.id, order);
    }
    assert_eq!(shop.sent().len(), 2);
    assert_eq!(shop.sale.counts("floor").await.held, 2);
}

/// The script may have run: that nothing was decided would be a lie.
#[tokio::test]
async fn a_hold_whose_reply_is_lost_is_an_unknown_outcome_and_a_repeat_finds_it() {
    let mut sale = Sale::of(10, 0).await;
    let proxy = Proxy::to(sale.redis.port());
    sale.inventory = Inventory::new(Redis::connect(&proxy.url(), RedisMode::Single));
    let shop = Shop::over(sale).await;
    // The connection stands, and the script is known.
    shop.accepted("ben", "k", &places(1)).await;
    proxy.lose_replies(1_000);
    let answer = shop.order("ann", "k", &places(2)).await;
    proxy.lose_replies(0);
    assert_eq!((answer.status, answer.reason().as_str()), (503, "outcome_unknown"));
    let order = refused_order(&answer);
    assert_eq!(answer.header("location"), format!("/events/show/orders/{order}"));
    assert_eq!(shop.sale.counts("floor").await.held, 1 + 2, "it was carried out");
    assert_eq!(shop.accepted("ann", "k", &places(2)).await.id, order);
    assert_eq!(shop.sale.counts("floor").await.held, 1 + 2);
}

/// Without an admission nothing is taken, whether the script ran or not.
#[tokio::test]
async fn a_look_for_a_hold_whose_reply_is_lost_leaves_nothing_unknown() {
    let mut sale = Sale::of(10, 0).await;
    let proxy = Proxy::to(sale.redis.port());
    sale.inventory = Inventory::new(Redis::connect(&proxy.url(), RedisMode::Single));
    let shop = Shop::over(sale).await;
    shop.accepted("ben", "k", &places(1)).await;
    proxy.lose_replies(1_000);
    let answer = shop.send(bare("ann", "k", &places(2))).await;
    proxy.lose_replies(0);
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    assert_eq!(shop.sale.counts("floor").await.held, 1);
}

#[tokio::test]
async fn whoever_is_out_of_time_is_told_where_the_outcome_can_be_read() {
    let shop = Shop::patient(Sale::of(10, 0).await, Duration::from_millis(200)).await;
    shop.sale.wire.slow_down(Duration::from_secs(60));
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "outcome_unknown"));
    let order = refused_order(&answer);
    assert_eq!(answer.header("location"), format!("/events/show/orders/{order}"));
}

/// Whatever keeps this request from its answer, an earlier one may have been accepted.
#[tokio::test]
async fn a_repeat_that_can_not_be_answered_is_told_where_the_order_can_be_read() {
    let shop = Shop::of(10, 0).await;
    let order = shop.accepted("ann", "k", &places(1)).await.id;
    let is_located = |answer: &TestResponse| {
        assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
        assert_eq!(refused_order(answer), order);
        assert_eq!(answer.header("location"), format!("/events/show/orders/{order}"));
    };
    shop.sale.wire.break_after(0);
    is_located(&shop.order("ann", "k", &places(1)).await);
    shop.sale.wire.heal();
    let client = redis::Client::open(shop.sale.redis.url()).unwrap();
    let _: () = redis::cmd("FLUSHALL").query(&mut client.get_connection().unwrap()).unwrap();
    is_located(&shop.order("ann", "k", &places(1)).await);
}

#[tokio::test]
async fn with_the_orders_out_of_reach_nothing_is_decided() {
    let shop = Shop::of(10, 0).await;
    for _ in 0..4 {
        shop.sale.wire.next("GetItem", Fault::RequestLost);
    }
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    assert_eq!(shop.sale.counts("floor").await.held, 0);
}

#[tokio::test]
async fn a_refusal_whose_storing_is_in_doubt_is_told_as_such_and_then_as_it_is() {
    let shop = Shop::of(0, 0).await;
    // Another has been refused before: what doesn't change is known.
    assert_eq!(shop.order("ben", "k", &places(1)).await.reason(), "sold_out");
    shop.sale.wire.next("PutItem", Fault::ReplyLost);
    let no_order = Fault::Answer(200, "{}".to_owned());
    shop.sale.wire.next("GetItem", no_order);
    for _ in 0..3 {
        shop.sale.wire.next("GetItem", Fault::RequestLost);
    }
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "outcome_unknown"));
    for _ in 0..2 {
        assert_eq!(shop.order("ann", "k", &places(1)).await.reason(), "sold_out");
    }
}

#[tokio::test]
async fn a_lost_reply_of_the_table_costs_nothing() {
    let shop = Shop::of(10, 0).await;
    shop.sale.wire.next("GetItem", Fault::ReplyLost);
    let first = shop.order("ann", "k", &places(1)).await;
    assert_eq!(first.status, 202);
    assert!(shop.sale.wire.is_spent());
    assert_eq!(shop.accepted("ann", "k", &places(1)).await, order_of(&first));
}

/// What DynamoDB answers to a write while a transaction is at its item.
fn conflict() -> Fault {
    Fault::error(400, "TransactionConflictException", "a transaction is ongoing for the item")
}

#[tokio::test]
async fn a_refusal_that_meets_a_transaction_of_its_order_waits_for_what_that_decides() {
    let shop = Shop::of(0, 0).await;
    for _ in 0..2 {
        shop.sale.wire.next("PutItem", conflict());
    }
    // Nothing came of the transaction.
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "sold_out"));
    assert!(shop.sale.wire.is_spent());
    let stored = shop.sale.stored("ann", &refused_order(&answer)).await;
    assert_eq!(stored.unwrap().rejection.unwrap().reason(), "sold_out");
}

#[tokio::test]
async fn where_nothing_is_decided_within_two_seconds_the_same_key_is_to_come_again() {
    let shop = Shop::of(0, 0).await;
    for _ in 0..6 {
        shop.sale.wire.next("PutItem", conflict());
    }
    let begun = std::time::Instant::now();
    let answer = shop.order("ann", "k", &places(1)).await;
    let waited = begun.elapsed();
    assert!((1_500..3_000).contains(&waited.as_millis()), "{waited:?}");
    assert_eq!((answer.status, answer.reason().as_str()), (409, "in_progress"));
    assert_eq!(answer.header("retry-after"), "1");
    assert_eq!(answer.json()["order"], serde_json::Value::Null, "it is no decision");
    while !shop.sale.wire.is_spent() {
        assert_eq!(shop.order("ann", "k", &places(1)).await.status, 409);
    }
    assert_eq!(shop.order("ann", "k", &places(1)).await.reason(), "sold_out");
}

#[tokio::test]
async fn an_order_that_can_not_be_read_is_our_fault_and_nobody_is_told_to_repeat() {
    let shop = Shop::of(10, 0).await;
    let order = shop.accepted("ann", "k", &places(1)).await.id;
    let corrupt = r#"{"Item": {"pk": {"S": "customer"}, "sk": {"S": "order"}}}"#;
    shop.sale.wire.next("GetItem", Fault::Answer(200, corrupt.to_owned()));
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (500, "internal"));
    assert_eq!(refused_order(&answer), order);
    assert!(shop.sale.wire.is_spent());
}
