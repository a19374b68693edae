//! Messages that no till writes: on their way somebody has changed them. What is sold
//! stays whole, and what was not sold can be had again.

#![cfg(test)]

use contracts::messages::OrderIntent;
use domain::{Epoch, Fingerprint, Money, OrderLine, OrderState};
use faults::House;
use faults::scenario::{CAPACITY, FAN, KEY, Kind};
use jiff::Timestamp;
use serde_json::json;

/// The fan has ordered all there is, and the intent is on its way.
async fn ordered(kind: Kind) -> (House, OrderIntent) {
    let house = House::of(CAPACITY, CAPACITY).await;
    assert_eq!(house.order(FAN, KEY, &kind.body()).await.status, 202);
    let intent = house.intents_sent().remove(0);
    house.forget();
    (house, intent)
}

/// The fan is refused for good, and another buys it all.
async fn sells_again(house: &House, kind: Kind) {
    assert_eq!(house.fans_order().await.state, OrderState::Rejected);
    let repeat = house.order(FAN, KEY, &kind.body()).await;
    assert_eq!((repeat.status, repeat.reason().as_str()), (409, "unprocessable"), "P2");
    house.forget();
    assert_eq!(house.order("ben", KEY, &kind.body()).await.status, 202);
    assert_eq!(house.deliver().await, Vec::<String>::new());
    let orders = house.orders().await;
    assert!(orders.iter().any(|order| order.state == OrderState::Pending), "{orders:?}");
    house.stream().await;
    house.rest().await;
    house.audit(CAPACITY, CAPACITY).await;
}

#[tokio::test]
async fn what_the_stores_can_not_keep_owns_nothing_and_is_sold_again() {
    let spoils: [fn(&mut OrderIntent); 5] = [
        |intent| intent.lines[0].unit_amount = Money::MAX_AMOUNT + 1,
        |intent| intent.lines[0].price_version = OrderLine::LAST_PRICE_VERSION + 1,
        |intent| intent.epoch = Epoch(1 << 60),
        |intent| intent.held_at = Timestamp::MAX,
        |intent| intent.expires_at = Timestamp::MAX,
    ];
    for kind in Kind::ALL {
        for spoil in spoils {
            let (house, mut intent) = ordered(kind).await;
            spoil(&mut intent);
            house.resend(&intent);
            assert_eq!(house.deliver().await, Vec::<String>::new());
            house.see_to_letters().await;
            house.stream().await;
            sells_again(&house, kind).await;
        }
    }
}

#[tokio::test]
async fn a_letter_that_says_little_more_than_whose_order_it_is_answers_the_fans_repeat() {
    for kind in Kind::ALL {
        for field in ["currency", "epoch", "fingerprint", "held_at", "lines"] {
            let (house, intent) = ordered(kind).await;
            let mut letter = serde_json::to_value(&intent).expect("a message");
            letter[field] = json!(["damaged"]);
            house.letter(&letter.to_string());
            house.see_to_letters().await;
            house.stream().await;
            sells_again(&house, kind).await;
        }
    }
}

#[tokio::test]
async fn a_damaged_copy_beside_the_good_one_does_not_speak_for_it() {
    for kind in Kind::ALL {
        let (house, good) = ordered(kind).await;
        let damaged = OrderIntent { lines: Vec::new(), ..good.clone() };
        for intent in [&damaged, &good, &damaged] {
            house.resend(intent);
        }
        assert_eq!(house.deliver().await, Vec::<String>::new());
        house.see_to_letters().await;
        assert_eq!(house.fans_order().await.state, OrderState::Pending);
        house.stream().await;
        house.rest().await;
        house.audit(CAPACITY, CAPACITY).await;
    }
}

#[tokio::test]
async fn an_intent_of_another_content_offers_nobody_what_a_stored_order_owns() {
    for kind in Kind::ALL {
        let (house, intent) = ordered(kind).await;
        // Redis has not heard of it, and the stream is late.
        house.sale.persist_unsettled(&intent, faults::LONG).await;
        house.resend(&OrderIntent { fingerprint: Fingerprint([9; 32]), ..intent });
        assert_eq!(house.deliver().await, Vec::<String>::new());
        assert_eq!(house.order("ben", KEY, &kind.body()).await.status, 409);
        house.audit(CAPACITY, CAPACITY).await;
    }
}
