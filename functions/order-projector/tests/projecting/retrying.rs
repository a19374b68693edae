//! What can't be settled now is settled later, and the shard does not wait.

use std::time::{Duration, Instant};

use contracts::messages::{LiveUpdate, SettleRetry};
use fault_points::{Faults, PROJECTOR_BEGUN};
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event;
use order_projector::trigger::Trigger;
use test_sale::{LONG, now, places, show};

use crate::desk::{Desk, retry_of};

#[tokio::test]
async fn with_redis_out_of_reach_the_stream_goes_on_and_the_order_is_settled_later() {
    let mut desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    desk.lose_redis();
    assert!(desk.project(&order).await.is_empty());
    let retries = desk.retries.take_sent();
    assert_eq!(retries.len(), 1);
    assert_eq!(retries[0].delay, 2);
    let retry: SettleRetry = serde_json::from_value(retries[0].body.clone()).unwrap();
    assert_eq!(retry, retry_of(&order));
    // It comes back while Redis is away,
    assert_eq!(desk.retry(std::slice::from_ref(&retry)).await, ["0"]);
    assert_eq!(desk.retries.take_postponed(), [2]);
    // and is done with once it is there, however often it comes.
    desk.find_redis();
    let _ = desk.nudges();
    for _ in 0..2 {
        assert!(desk.retry(std::slice::from_ref(&retry)).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
        assert_eq!(desk.nudges(), [LiveUpdate::Tick { event: show(), ticker: None }]);
    }
}

#[tokio::test]
async fn with_the_retry_queue_out_of_reach_too_exactly_those_records_come_again() {
    let mut desk = Desk::of(10, 0).await;
    let mut images = Vec::new();
    for key in ["a", "b"] {
        let intent = desk.sale.hold("ann", key, vec![places(1)]).await;
        let order = desk.sale.persist_unsettled(&intent, LONG).await;
        images.push(desk.image(&order).await);
    }
    desk.lose_redis();
    desk.retries.set_refusing(true);
    assert_eq!(desk.stream(&images).await, ["0", "1"]);
    desk.retries.set_refusing(false);
    desk.find_redis();
    assert!(desk.stream(&images).await.is_empty());
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
}

#[tokio::test]
async fn a_retry_that_takes_too_long_or_breaks_its_handling_is_put_off() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let retry = [retry_of(&desk.sale.persist_unsettled(&intent, LONG).await)];
    let broken = Faults::new().panic(PROJECTOR_BEGUN).run(desk.retry(&retry)).await;
    assert_eq!((broken, desk.retries.take_postponed()), (Some(vec!["0".to_owned()]), vec![2]));
    desk.sale.wire.slow_down(Duration::from_secs(60));
    let deadline = Deadline::at(now() + SignedDuration::from_secs(2), Duration::ZERO);
    let slow = desk.projector.handle(Trigger::Retries(sqs_event(&retry)), deadline).await;
    assert_eq!((slow.batch_item_failures.len(), desk.retries.take_postponed()), (1, vec![2]));
}

#[tokio::test]
async fn an_order_that_takes_too_long_does_not_hold_up_its_shard_but_is_settled_later() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    let image = [desk.image(&order).await];
    desk.sale.wire.slow_down(Duration::from_secs(60));
    let begun = Instant::now();
    assert!(desk.stream(&image).await.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(desk.retries_sent(), [retry_of(&order)]);
}

#[tokio::test]
async fn an_order_that_is_not_there_needs_no_settling() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let order = intent.into_order(&domain::HoldTime::default(), test_sale::now());
    assert!(desk.retry(&[retry_of(&order)]).await.is_empty());
    assert_eq!(desk.counts("floor").await, (1, 0, 9));
}

#[tokio::test]
async fn the_triggers_own_events_are_understood() {
    let desk = Desk::of(10, 0).await;
    for text in [
        include_str!("../../events/order-stream.json"),
        include_str!("../../events/settle-retries.json"),
    ] {
        let trigger = Trigger::read(serde_json::from_str(text).unwrap()).unwrap();
        assert!(desk.handle(trigger).await.is_empty());
    }
}
