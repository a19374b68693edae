//! What stands in the way of a free unit is put right on the way.

use std::time::Duration;

use domain::Epoch;
use redis_store::Reservation;
use test_sale::{EPOCH, LONG};
use test_support::wire::Fault;

use crate::shop::{Shop, places, seats};

#[tokio::test]
async fn the_mark_is_raised_durably_by_blocks_as_places_are_sold() {
    let shop = Shop::of(100, 0).await;
    let (show, floor) = (test_sale::show(), test_sale::kind("floor"));
    let mark = || shop.sale.catalog.mark_fetch(&show, &floor);
    assert_eq!(mark().await.unwrap(), 0);
    shop.accepted("ann", "a", &places(1)).await;
    assert_eq!(mark().await.unwrap(), 20);
    shop.accepted("ann", "b", &places(40)).await;
    assert!(mark().await.unwrap() >= 41);
    shop.accepted("ann", "c", &places(40)).await;
    shop.accepted("ann", "d", &places(19)).await;
    assert_eq!(mark().await.unwrap(), 100, "never beyond the ceiling");
    assert_eq!(shop.order("ann", "e", &places(1)).await.reason(), "sold_out");
}

#[tokio::test]
async fn without_a_durable_mark_redis_issues_nothing() {
    let shop = Shop::of(100, 0).await;
    // Reads go on; the mark is all that is updated.
    for _ in 0..4 {
        shop.sale.wire.next("UpdateItem", Fault::RequestLost);
    }
    let answer = shop.order("ann", "a", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    let wish = test_sale::wish("ben", "b", vec![test_sale::places(1)], EPOCH, LONG);
    let reply = shop.sale.reserve(&wish).await;
    assert!(matches!(reply, Reservation::GrantNeeded { mark: 0, .. }), "{reply:?}");
}

#[tokio::test]
async fn an_epoch_that_is_not_the_active_one_is_read_again() {
    let shop = Shop::of(10, 0).await;
    shop.accepted("ann", "a", &places(1)).await;
    shop.sale.open_epoch(Epoch(2), 10, 0).await;
    shop.accepted("ann", "b", &places(1)).await;
    assert_eq!(shop.sent().last().unwrap().epoch, Epoch(2));
}

#[tokio::test]
async fn an_inventory_of_an_older_epoch_than_the_event_decides_nothing() {
    // M14: a snapshot of epoch 1 is restored after epoch 2 was begun.
    let shop = Shop::of(10, 0).await;
    shop.sale.epoch_raise().await;
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    assert_eq!(shop.sale.counts("floor").await.held, 0);
}

#[tokio::test]
async fn a_restored_inventory_is_not_trusted_by_one_who_slept_since_its_epoch() {
    // M14: this environment knows epoch 1. Another began epoch 2 while it slept, and
    // then a snapshot of epoch 1 was restored.
    let shop = Shop::of(10, 0).await;
    shop.accepted("ann", "a", &places(1)).await;
    shop.sale.epoch_raise().await;
    shop.sleep(5);
    let answer = shop.order("ben", "b", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    assert_eq!(shop.sale.counts("floor").await.held, 1, "what was held before");
}

#[tokio::test]
async fn b25_five_hundred_lapsed_holds_of_one_type_do_not_hide_one_of_another() {
    let shop = Shop::of(500, 1).await;
    // Long enough that none lapses before the last is held: a reservation gives
    // back some of what has lapsed.
    let hold = Duration::from_secs(4);
    for number in 0..500 {
        let fan = format!("fan-{number}");
        shop.sale.hold_for(&fan, "k", vec![test_sale::places(1)], hold).await;
    }
    let last = shop.sale.hold_for("last", "k", vec![test_sale::seats([0])], hold).await;
    while let Ok(left) = Duration::try_from(last.expires_at.duration_since(test_sale::now())) {
        tokio::time::sleep(left + Duration::from_millis(1)).await;
    }
    shop.accepted("ann", "k", &seats(&[0])).await;
    // B4: and no more than was lapsed is waited for.
    shop.accepted("ben", "k", &places(2)).await;
}
