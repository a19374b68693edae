//! What an intent loses: to another order, or to time.

use std::time::Duration;

use domain::{OrderState, Rejection};
use redis_store::SeatStatus;
use test_sale::{LONG, places, seat, seats};
use test_support::wire::Fault;

use crate::desk::Desk;

/// X owns seat 1 in DynamoDB; Redis gave it back, and holds it for Y.
async fn contested(
    desk: &Desk,
) -> (contracts::messages::OrderIntent, contracts::messages::OrderIntent) {
    let x = desk.sale.hold("x", "k", vec![seats([1])]).await;
    desk.sale.persist_unsettled(&x, LONG).await;
    desk.sale.release(&x).await;
    let y = desk.sale.hold("y", "k", vec![seats([1, 2]), places(1)]).await;
    (x, y)
}

#[tokio::test]
async fn m5_a_seat_of_another_order_is_no_duplicate_and_its_owner_is_put_right() {
    let desk = Desk::of(10, 4).await;
    let (x, y) = contested(&desk).await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&y)).await.is_empty());
        assert_eq!(desk.refusal(&y).await, Rejection::SeatTaken { seats: vec![seat(1)] });
        assert_eq!(desk.order(&x).await.state, OrderState::Pending);
        assert_eq!((desk.sale.owned("stalls").await, desk.sale.owned("floor").await), (1, 0));
        // M10: the seat is X's in Redis too, and what Y held besides is free.
        assert_eq!(desk.sale.seat_status(1).await, SeatStatus::Sold);
        assert_eq!(desk.counts("stalls").await, (0, 1, 3));
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
    }
}

#[tokio::test]
async fn a_place_of_another_order_is_a_loss_of_redis_and_told_so() {
    let desk = Desk::of(1, 0).await;
    let x = desk.sale.hold("x", "k", vec![places(1)]).await;
    desk.sale.persist_unsettled(&x, LONG).await;
    desk.sale.release(&x).await;
    let y = desk.sale.hold("y", "k", vec![places(1)]).await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&y)).await.is_empty());
        assert_eq!(desk.refusal(&y).await, Rejection::Recovery);
        assert_eq!(desk.counts("floor").await, (0, 1, 0));
        assert_eq!(desk.sale.owned("floor").await, 1);
    }
}

#[tokio::test]
async fn of_several_owners_each_is_put_right() {
    let desk = Desk::of(10, 4).await;
    let owners = [("x", 1), ("z", 2)];
    for (fan, number) in owners {
        let owner = desk.sale.hold(fan, "k", vec![seats([number])]).await;
        desk.sale.persist_unsettled(&owner, LONG).await;
        desk.sale.release(&owner).await;
    }
    let y = desk.sale.hold("y", "k", vec![seats([0, 1, 2])]).await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&y)).await.is_empty());
        assert_eq!(desk.refusal(&y).await, Rejection::SeatTaken { seats: vec![seat(1), seat(2)] });
        for (fan, number) in owners {
            assert_eq!(desk.sale.seat_status(number).await, SeatStatus::Sold, "{fan}");
        }
        assert_eq!(desk.counts("stalls").await, (0, 2, 2));
    }
}

#[tokio::test]
async fn nothing_is_given_back_before_its_refusal_is_stored() {
    let desk = Desk::of(10, 0).await;
    let late = Duration::from_secs(35);
    let intent = desk.sale.hold_for("ann", "k", vec![places(2)], late).await;
    desk.sale.wire.next("PutItem", Fault::error(400, "AccessDeniedException", "no"));
    assert_eq!(desk.batch(std::slice::from_ref(&intent)).await, ["0"]);
    assert_eq!(desk.sale.stored("ann", &intent.order).await, None);
    assert_eq!(desk.counts("floor").await, (2, 0, 8));
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.refusal(&intent).await, Rejection::HoldExpired);
    assert_eq!(desk.counts("floor").await, (0, 0, 10));
}

#[tokio::test]
async fn while_redis_can_not_be_put_right_the_loser_waits() {
    let mut desk = Desk::of(10, 4).await;
    let (_, y) = contested(&desk).await;
    desk.lose_redis();
    assert_eq!(desk.batch(std::slice::from_ref(&y)).await, ["0"]);
    assert_eq!(desk.sale.stored("y", &y.order).await, None);
    desk.find_redis();
    assert!(desk.batch(std::slice::from_ref(&y)).await.is_empty());
    assert!(matches!(desk.refusal(&y).await, Rejection::SeatTaken { .. }));
}

#[tokio::test]
async fn an_intent_that_comes_too_late_is_refused_and_owns_nothing() {
    let desk = Desk::of(10, 0).await;
    // The margin is 35 seconds.
    let late = Duration::from_secs(35);
    let intent = desk.sale.hold_for("ann", "k", vec![places(2)], late).await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.refusal(&intent).await, Rejection::HoldExpired);
        assert_eq!(desk.counts("floor").await, (0, 0, 10), "given back at once");
        assert_eq!(desk.sale.owned("floor").await, 0);
    }
    let just_in_time = Duration::from_secs(60);
    let intent = desk.sale.hold_for("ann", "other", vec![places(2)], just_in_time).await;
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.order(&intent).await.state, OrderState::Pending);
}

#[tokio::test]
async fn an_order_that_was_persisted_in_time_is_not_refused_by_a_late_copy() {
    let desk = Desk::of(10, 0).await;
    let late = Duration::from_secs(35);
    let intent = desk.sale.hold_for("ann", "k", vec![places(2)], late).await;
    let stored = desk.sale.persist_unsettled(&intent, LONG).await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.order(&intent).await, stored);
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
    }
}
