//! The stream as the backstop of whoever committed.

use contracts::messages::OrderIntent;
use domain::{Epoch, EventId, Order, Rejection};
use fault_points::{Faults, PROJECTOR_BEGUN};
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use order_projector::handler::ONE_RETRY;
use order_projector::trigger::{Change, Trigger};
use redis_store::Recorded;
use test_sale::{LONG, currency, now, places, seats};

use crate::desk::{Desk, retry_of};

#[tokio::test]
async fn a_live_order_whose_settling_was_lost_is_settled() {
    let desk = Desk::of(10, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2), seats([1])]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    for _ in 0..2 {
        assert!(desk.project(&order).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
        assert_eq!(desk.counts("stalls").await, (0, 1, 3));
    }
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn the_shard_comes_back_to_what_there_is_no_time_for() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    let change = Change { sequence: "7".to_owned(), image: Some(desk.image(&order).await) };
    let deadline = Deadline::at(now() + SignedDuration::from_secs(1), ONE_RETRY);
    let response = desk.projector.handle(Trigger::Stream(vec![change]), deadline).await;
    let stuck = response.batch_item_failures.into_iter().map(|failure| failure.item_identifier);
    assert_eq!(stuck.collect::<Vec<_>>(), ["7"]);
    assert_eq!(desk.counts("floor").await, (2, 0, 8), "nothing was begun");
}

#[tokio::test]
async fn a_record_that_breaks_its_handling_does_not_hold_up_its_shard() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    let stuck = Faults::new().panic(PROJECTOR_BEGUN).run(desk.project(&order)).await;
    assert_eq!(stuck, Some(vec![]));
    assert_eq!(desk.retries_sent(), [retry_of(&order)]);
}

#[tokio::test]
async fn an_ended_order_frees_its_units_once_and_an_older_record_revives_nothing() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let live = desk.sale.persist(&intent, LONG).await;
    let old = desk.image(&live).await;
    let ended = desk.end(&live).await;
    let new = desk.image(&ended).await;
    for images in [[new.clone(), old.clone()], [old.clone(), new.clone()], [new, old.clone()]] {
        assert!(desk.stream(&images).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
    }
    // Alone, and late.
    assert!(desk.stream(&[old]).await.is_empty());
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
}

#[tokio::test]
async fn m11_who_bought_the_unit_after_an_order_ended_keeps_it_whatever_comes_late() {
    let desk = Desk::of(0, 1).await;
    let x = desk.sale.hold("x", "k", vec![seats([0])]).await;
    let x = desk.sale.persist(&x, LONG).await;
    let x_live = desk.image(&x).await;
    let x = desk.end(&x).await;
    assert!(desk.project(&x).await.is_empty());
    let y = desk.sale.hold("y", "k", vec![seats([0])]).await;
    desk.sale.persist(&y, LONG).await;
    let x_ended = desk.image(&x).await;
    for image in [x_live, x_ended] {
        assert!(desk.stream(&[image]).await.is_empty());
        assert_eq!(desk.sale.seat_status(0).await, redis_store::SeatStatus::Sold);
        assert_eq!(desk.counts("stalls").await, (0, 1, 0));
    }
}

fn refusal(intent: &OrderIntent) -> Order {
    let rejection = Rejection::SoldOut { ticket_type: test_sale::kind("floor") };
    Order::refusal(intent.intent(), intent.epoch, rejection, currency(), now())
}

#[tokio::test]
async fn a_refusal_gives_back_the_hold_there_may_be() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let refusal = refusal(&intent);
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    for _ in 0..2 {
        assert!(desk.project(&refusal).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
    }
}

#[tokio::test]
async fn a_refusal_that_never_held_leaves_nothing_in_redis() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "held", vec![places(1)]).await;
    let never_held = OrderIntent {
        order: test_sale::intent("ben", "k", &[places(1)]).order,
        customer: test_sale::customer("ben"),
        ..intent
    };
    let refusal = refusal(&never_held);
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    assert!(desk.project(&refusal).await.is_empty());
    assert_eq!(desk.sale.recorded(&never_held).await, Recorded::Unknown);
}

#[tokio::test]
async fn a_hold_of_a_newer_epoch_than_the_remembered_one_is_given_back() {
    let desk = Desk::of(10, 0).await;
    let warm = desk.sale.hold("warm", "k", vec![places(1)]).await;
    let warm = desk.sale.persist(&warm, LONG).await;
    assert!(desk.project(&warm).await.is_empty());
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let refusal = refusal(&intent);
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    for _ in 0..2 {
        assert!(desk.project(&refusal).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
        assert!(desk.retries_sent().is_empty());
    }
}

#[tokio::test]
async fn a_hold_in_an_inventory_behind_the_durable_epoch_is_given_back_later() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let refusal = refusal(&intent);
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    desk.sale.epoch_raise().await;
    assert!(desk.project(&refusal).await.is_empty());
    assert_eq!(desk.retries_sent(), [retry_of(&refusal)]);
}

#[tokio::test]
async fn without_an_inventory_a_refusal_has_nothing_to_give_back() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let refusal = refusal(&intent);
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    desk.sale.build_begin().await;
    assert!(desk.project(&refusal).await.is_empty());
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn a_refusal_of_an_event_that_is_not_there_waits_for_none() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let nowhere = OrderIntent { event: EventId::parse("nowhere").unwrap(), ..intent };
    let refusal = refusal(&nowhere);
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    assert!(desk.project(&refusal).await.is_empty());
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn what_can_not_be_read_or_is_removed_holds_up_nothing() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    let images = [Some(serde_dynamo::Item::default()), None, Some(desk.image(&order).await)];
    let change = |image| Change { sequence: "1".to_owned(), image };
    let trigger = Trigger::Stream(images.into_iter().map(change).collect());
    assert!(desk.handle(trigger).await.is_empty());
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
    assert!(desk.retries_sent().is_empty());
}
