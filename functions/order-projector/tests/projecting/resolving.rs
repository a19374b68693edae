//! What Redis answers other than agreement.

use domain::{Epoch, Order, UnitId};
use dynamo_store::Persisted;
use order_projector::settling::{Settlement, Why};
use redis_store::SeatStatus;
use test_sale::{LONG, PATIENT, now, partitions, places, seat, seats};

use crate::desk::{Desk, retry_of};

#[tokio::test]
async fn two_orders_that_contradict_are_both_read_and_settled() {
    let desk = Desk::of(0, 4).await;
    // X was sold seat 1 and has ended; Redis has not heard of the end.
    let x = desk.sale.hold("x", "k", vec![seats([1])]).await;
    let x = desk.sale.persist(&x, LONG).await;
    desk.end(&x).await;
    // Y owns seat 1 now; Redis holds seat 2 for it.
    let y = desk.sale.hold("y", "k", vec![seats([2])]).await;
    let mut y = y.into_order(&domain::HoldTime::default(), now());
    y.lines[0].units = vec![UnitId::Seat(seat(1))];
    let persisted = desk.sale.orders.order_persist(&y, &partitions(), PATIENT).await;
    assert_eq!(persisted.unwrap(), Persisted::New);
    for _ in 0..2 {
        assert!(desk.project(&y).await.is_empty());
        assert_eq!(desk.sale.seat_status(1).await, SeatStatus::Sold);
        assert_eq!(desk.sale.seat_status(2).await, SeatStatus::Free);
        assert_eq!(desk.counts("stalls").await, (0, 1, 3));
    }
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn of_two_orders_that_contradict_the_record_itself_may_be_the_stale_one() {
    let desk = Desk::of(0, 4).await;
    // X owned seat 1 and has ended; Redis still holds seat 2 for it.
    let x = desk.sale.hold("x", "k", vec![seats([2])]).await;
    let mut x = x.into_order(&domain::HoldTime::default(), now());
    x.lines[0].units = vec![UnitId::Seat(seat(1))];
    desk.sale.orders.order_persist(&x, &partitions(), PATIENT).await.unwrap();
    let old = desk.image(&x).await;
    desk.end(&x).await;
    // Y was sold seat 1 since.
    let y = desk.sale.hold("y", "k", vec![seats([1])]).await;
    desk.sale.persist(&y, LONG).await;
    for _ in 0..2 {
        assert!(desk.stream(std::slice::from_ref(&old)).await.is_empty());
        assert_eq!(desk.sale.seat_status(1).await, SeatStatus::Sold);
        assert_eq!(desk.sale.seat_status(2).await, SeatStatus::Free);
        assert!(desk.retries_sent().is_empty());
    }
}

#[tokio::test]
async fn two_orders_that_both_are_live_are_told_loudly_and_looked_at_again() {
    let desk = Desk::of(0, 4).await;
    let x = desk.sale.hold("x", "k", vec![seats([1])]).await;
    desk.sale.persist(&x, LONG).await;
    // Its unit is lost, and sold once more.
    desk.lose_units().await;
    let y = desk.sale.hold("y", "k", vec![seats([2])]).await;
    let mut y = y.into_order(&domain::HoldTime::default(), now());
    y.lines[0].units = vec![UnitId::Seat(seat(1))];
    let persisted = desk.sale.orders.order_persist(&y, &partitions(), PATIENT).await;
    assert_eq!(persisted.unwrap(), Persisted::New);
    let settled = desk.projector.settler.settle(y.clone()).await.unwrap();
    assert_eq!(settled, Settlement::Later(Why::Contradiction));
    assert!(desk.project(&y).await.is_empty());
    assert_eq!(desk.retries_sent(), [retry_of(&y)]);
}

#[tokio::test]
async fn a_record_older_than_what_made_redis_forget_its_order_is_no_lost_write() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "other", vec![places(1)]).await;
    let forgotten = Order {
        id: test_sale::intent("ann", "forgotten", &[places(1)]).order,
        ..intent.into_order(&domain::HoldTime::default(), now())
    };
    desk.sale.orders.order_persist(&forgotten, &partitions(), PATIENT).await.unwrap();
    let old = desk.image(&forgotten).await;
    desk.end(&forgotten).await;
    let settled = desk.projector.settler.settle(forgotten).await.unwrap();
    assert_eq!(settled, Settlement::Done);
    assert!(desk.stream(&[old]).await.is_empty());
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn a_live_order_that_redis_has_lost_is_told_loudly_and_looked_at_again() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "other", vec![places(1)]).await;
    let unknown = Order {
        id: test_sale::intent("ann", "lost", &[places(1)]).order,
        ..intent.into_order(&domain::HoldTime::default(), now())
    };
    desk.sale.orders.order_persist(&unknown, &partitions(), PATIENT).await.unwrap();
    for _ in 0..2 {
        assert!(desk.project(&unknown).await.is_empty(), "the shard goes on");
        assert_eq!(desk.retries_sent(), [retry_of(&unknown)]);
    }
    assert_eq!(desk.retry(&[retry_of(&unknown)]).await, ["0"]);
    assert_eq!(desk.retries.take_postponed(), [2]);
}

#[tokio::test]
async fn an_order_of_an_older_epoch_is_read_again_and_settled() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    for _ in 0..2 {
        assert!(desk.project(&order).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
    }
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn m13_an_order_of_an_older_epoch_that_has_ended_is_not_revived_by_its_old_record() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let live = desk.sale.persist(&intent, LONG).await;
    let old = desk.image(&live).await;
    desk.end(&live).await;
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    for _ in 0..2 {
        assert!(desk.stream(std::slice::from_ref(&old)).await.is_empty());
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
    }
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn an_epoch_that_was_remembered_is_read_anew_when_redis_names_another() {
    let desk = Desk::of(10, 4).await;
    let old = desk.sale.hold("ann", "old", vec![places(1)]).await;
    let old = desk.sale.persist(&old, LONG).await;
    assert!(desk.project(&old).await.is_empty());
    desk.sale.open_epoch(Epoch(2), 10, 4).await;
    let new = desk.sale.hold("ann", "new", vec![seats([1, 2])]).await;
    let new = desk.sale.persist_unsettled(&new, LONG).await;
    assert!(desk.project(&new).await.is_empty());
    assert_eq!(desk.counts("stalls").await, (0, 2, 2));
    assert!(desk.retries_sent().is_empty());
}

#[tokio::test]
async fn an_inventory_behind_the_durable_epoch_is_noticed_and_waited_for() {
    // M14: a snapshot of epoch 1 is restored after epoch 2 was begun.
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    desk.sale.epoch_raise().await;
    assert!(desk.project(&order).await.is_empty());
    assert_eq!(desk.retries_sent(), [retry_of(&order)]);
    assert_eq!(desk.counts("floor").await, (1, 0, 9), "nothing is settled there");
}

#[tokio::test]
async fn without_an_inventory_orders_wait_for_one() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    let client = redis::Client::open(desk.sale.redis.url()).unwrap();
    let _: () = redis::cmd("FLUSHALL").query(&mut client.get_connection().unwrap()).unwrap();
    assert!(desk.project(&order).await.is_empty());
    assert_eq!(desk.retries_sent(), [retry_of(&order)]);
}
