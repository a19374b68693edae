//! Who is told.

use contracts::messages::LiveUpdate;
use domain::{Order, OrderState, Rejection};
use redis_store::SeatStatus;
use test_sale::{LONG, currency, customer, now, places, seat, seats, show};

use crate::desk::Desk;

#[tokio::test]
async fn a_batch_nudges_an_event_once_and_tells_each_owner_the_last_state() {
    let desk = Desk::of(10, 0).await;
    let mut images = Vec::new();
    for fan in ["ann", "ben", "cat"] {
        let intent = desk.sale.hold(fan, "k", vec![places(1)]).await;
        let order = desk.sale.persist_unsettled(&intent, LONG).await;
        images.push(desk.image(&order).await);
        if fan == "ann" {
            let ended = desk.end(&order).await;
            images.push(desk.image(&ended).await);
        }
    }
    assert!(desk.stream(&images).await.is_empty());
    let sent = desk.live.take_sent();
    assert!(sent.iter().all(|message| message.group == "show"));
    let nudges: Vec<LiveUpdate> =
        sent.into_iter().map(|message| serde_json::from_value(message.body).unwrap()).collect();
    let tick = LiveUpdate::Tick { event: show(), ticker: None };
    assert_eq!(nudges.iter().filter(|nudge| **nudge == tick).count(), 1);
    let mut told: Vec<_> = nudges
        .iter()
        .filter_map(|nudge| match nudge {
            LiveUpdate::Order { customer, state, version, .. } => {
                Some((customer.clone(), *state, *version))
            }
            LiveUpdate::Tick { .. } => None,
        })
        .collect();
    told.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        told,
        [
            (customer("ann"), OrderState::Expired, 2),
            (customer("ben"), OrderState::Pending, 1),
            (customer("cat"), OrderState::Pending, 1),
        ]
    );
}

#[tokio::test]
async fn a_fan_refused_at_once_is_not_told_again() {
    let desk = Desk::of(0, 0).await;
    let intent = test_sale::intent("ann", "k", &[places(1)]);
    let rejection = Rejection::SoldOut { ticket_type: test_sale::kind("floor") };
    let refusal = Order::refusal(intent, test_sale::EPOCH, rejection, currency(), now());
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    assert!(desk.project(&refusal).await.is_empty());
    assert_eq!(desk.nudges(), []);
}

/// Who was told that a seat is held learns that it is not: another request with the key
/// had found it taken, and its refusal was stored first.
#[tokio::test]
async fn b23_a_fan_whose_hold_is_given_back_for_a_refusal_is_told_whoever_gave_it_back() {
    for persistence_is_first in [false, true] {
        let desk = Desk::of(0, 4).await;
        let held = desk.sale.hold("ann", "k", vec![seats([0])]).await;
        let rejection = Rejection::SeatTaken { seats: vec![seat(0)] };
        let refusal = Order::refusal(held.intent(), held.epoch, rejection, currency(), now());
        desk.sale.orders.order_refuse(&refusal).await.unwrap();
        if persistence_is_first {
            desk.sale.release(&held).await;
        }
        // Also where a death hid the first time.
        for _ in 0..2 {
            assert!(desk.project(&refusal).await.is_empty());
            assert_eq!(desk.sale.seat_status(0).await, SeatStatus::Free);
            assert_eq!(desk.nudges(), [LiveUpdate::order(&refusal), LiveUpdate::tick(&show())]);
        }
    }
}

#[tokio::test]
async fn b23_what_redis_can_not_say_now_is_told() {
    let mut desk = Desk::of(0, 4).await;
    let held = desk.sale.hold("ann", "k", vec![seats([0])]).await;
    let rejection = Rejection::SeatTaken { seats: vec![seat(0)] };
    let refusal = Order::refusal(held.intent(), held.epoch, rejection, currency(), now());
    desk.sale.orders.order_refuse(&refusal).await.unwrap();
    desk.lose_redis();
    assert!(desk.project(&refusal).await.is_empty());
    assert_eq!(desk.nudges(), [LiveUpdate::order(&refusal), LiveUpdate::tick(&show())]);
}

#[tokio::test]
async fn nudges_that_can_not_be_sent_hold_up_nothing() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let order = desk.sale.persist_unsettled(&intent, LONG).await;
    desk.live.set_refusing(true);
    assert!(desk.project(&order).await.is_empty());
    assert_eq!(desk.counts("floor").await, (0, 1, 9));
}
