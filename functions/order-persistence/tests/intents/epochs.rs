//! Intents of an epoch that is over.

use std::time::Duration;

use domain::{Epoch, OrderState, Rejection};
use test_sale::places;

use crate::desk::Desk;

#[tokio::test]
async fn an_intent_of_an_older_epoch_is_persisted_and_known_to_the_newer() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.order(&intent).await.epoch, Epoch(1));
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
    }
}

#[tokio::test]
async fn an_intent_of_an_older_epoch_loses_its_place_to_a_newer_order() {
    let desk = Desk::of(1, 0).await;
    let old = desk.sale.hold("ann", "k", vec![places(1)]).await;
    desk.sale.open_epoch(Epoch(2), 1, 0).await;
    let new = desk.sale.hold("ben", "k", vec![places(1)]).await;
    assert!(desk.batch(std::slice::from_ref(&new)).await.is_empty());
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&old)).await.is_empty());
        assert_eq!(desk.refusal(&old).await, Rejection::Recovery);
        assert_eq!(desk.order(&new).await.state, OrderState::Pending);
        assert_eq!(desk.counts("floor").await, (0, 1, 0));
    }
}

#[tokio::test]
async fn m15_an_order_that_ended_stays_so_when_a_newer_epoch_held_for_it_again() {
    let desk = Desk::of(10, 0).await;
    let first = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.batch(std::slice::from_ref(&first)).await;
    let order = desk.order(&first).await;
    let ended = desk
        .sale
        .orders
        .order_end(&order, OrderState::Refunded, test_sale::now(), &test_sale::partitions())
        .await;
    ended.unwrap();
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    let again = desk.sale.hold("ann", "k", vec![places(2)]).await;
    assert_eq!((again.order, again.epoch), (first.order, Epoch(2)));
    for intent in [&again, &first, &again] {
        assert!(desk.batch(std::slice::from_ref(intent)).await.is_empty());
        assert_eq!(desk.order(&first).await.state, OrderState::Refunded);
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
        assert_eq!(desk.sale.owned("floor").await, 0);
    }
}

#[tokio::test]
async fn intents_of_two_epochs_are_two() {
    let desk = Desk::of(10, 0).await;
    let first = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    let again = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let _ = desk.transactions();
    assert!(desk.batch(&[first.clone(), again]).await.is_empty());
    assert!(desk.transactions() > 1, "both were tried");
    assert_eq!(desk.order(&first).await.state, OrderState::Pending);
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
    assert_eq!(desk.sale.owned("floor").await, 2);
}

#[tokio::test]
async fn an_inventory_behind_the_durable_epoch_keeps_no_order_from_being_persisted() {
    // M14: a snapshot of epoch 1 is restored after epoch 2 was begun.
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    desk.sale.epoch_raise().await;
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.order(&intent).await.state, OrderState::Pending);
}

#[tokio::test]
async fn an_inventory_behind_the_durable_epoch_keeps_no_order_from_being_refused() {
    let desk = Desk::of(10, 0).await;
    let late = Duration::from_secs(35);
    let intent = desk.sale.hold_for("ann", "k", vec![places(2)], late).await;
    desk.sale.epoch_raise().await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        assert_eq!(desk.refusal(&intent).await, Rejection::HoldExpired);
        // Nothing is changed in an old inventory: its hold lapses.
        assert_eq!(desk.counts("floor").await, (2, 0, 8));
    }
}
