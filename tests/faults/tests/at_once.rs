//! Two requests with one key at the same instant, in an order that is told.

#![cfg(test)]

use std::time::Duration;

use domain::{Epoch, OrderState, Rejection};
use dynamo_store::Ended;
use fault_points::{
    Faults, Gate, PERSISTENCE_COMMITTED, Point, RESERVATION_DECIDED, RESERVATION_HELD,
    RESERVATION_MARK_RAISED, RESERVATION_READ, RESERVATION_SENT,
};
use faults::House;
use faults::scenario::{CAPACITY, FAN, KEY, Kind, lapsed};
use lambda_kit::testing::TestResponse;
use serde_json::json;
use test_sale::{Sale, now, partitions};
use test_support::redis::Proxy;
use test_support::wire::Fault;

/// Runs one order up to a point, lets another task run to its end, then goes on.
async fn meanwhile<T>(
    house: &House,
    kind: Kind,
    point: Point,
    other: impl AsyncFnOnce() -> T,
) -> (TestResponse, T) {
    let (faults, gate) = Faults::new().stop(point);
    let body = kind.body();
    let first = faults.run(house.order(FAN, KEY, &body));
    let (first, second) = tokio::join!(first, through(&gate, other));
    (first.expect("it is stopped, not killed"), second)
}

async fn through<T>(gate: &Gate, other: impl AsyncFnOnce() -> T) -> T {
    gate.arrived().await;
    let outcome = other().await;
    gate.open();
    outcome
}

async fn again(house: &House, kind: Kind) -> TestResponse {
    house.order(FAN, KEY, &kind.body()).await
}

/// Both were answered with one and the same order.
fn same(first: &TestResponse, second: &TestResponse) {
    assert_eq!((first.status, second.status), (202, 202), "{} {}", first.raw.body, second.raw.body);
    let told = |answer: &TestResponse| {
        let body = answer.json();
        (body["id"].clone(), body["lines"].clone(), body["total"].clone())
    };
    assert_eq!(told(first), told(second));
}

/// It is persisted, however often it was sent, and is all there is.
async fn sold_once(house: &House) {
    house.rest().await;
    assert_eq!(house.fans_order().await.state, OrderState::Pending);
    house.audit(CAPACITY, CAPACITY).await;
}

/// Where a request can be between its first look and its answer.
fn before_the_answer(kind: Kind) -> Vec<Point> {
    let mut points = vec![RESERVATION_READ, RESERVATION_HELD, RESERVATION_SENT];
    if kind == Kind::Places {
        // The first write, where the first place of all is sold.
        points.push(RESERVATION_MARK_RAISED);
    }
    points
}

/// B14, at each place where one can be between its first look and its answer.
#[tokio::test]
async fn b14_a_second_request_enters_while_the_first_stands_anywhere() {
    for kind in Kind::ALL {
        for point in before_the_answer(kind) {
            let house = House::of(CAPACITY, CAPACITY).await;
            let (first, second) = meanwhile(&house, kind, point, async || {
                let second = again(&house, kind).await;
                // Of the two, the one that goes on finds the units its own.
                assert_eq!(
                    house.intents_sent().len(),
                    if point == RESERVATION_SENT { 2 } else { 1 }
                );
                second
            })
            .await;
            same(&first, &second);
            sold_once(&house).await;
        }
    }
}

#[tokio::test]
async fn the_first_goes_on_after_the_second_was_persisted_and_tells_the_same() {
    for kind in Kind::ALL {
        for point in before_the_answer(kind) {
            let house = House::of(CAPACITY, CAPACITY).await;
            let (first, second) = meanwhile(&house, kind, point, async || {
                let second = again(&house, kind).await;
                house.deliver().await;
                house.stream().await;
                second
            })
            .await;
            same(&first, &second);
            if [RESERVATION_READ, RESERVATION_MARK_RAISED].contains(&point) {
                // It had held nothing yet, and finds an order.
                assert_eq!(first.json()["state"], "pending");
                assert_eq!(house.intents_sent().len(), 1);
            }
            sold_once(&house).await;
        }
    }
}

/// After the commit, before the acknowledgement.
#[tokio::test]
async fn a_repeat_comes_between_the_commit_and_the_acknowledgement() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        let first = again(&house, kind).await;
        let (faults, gate) = Faults::new().stop(PERSISTENCE_COMMITTED);
        let (failed, second) = tokio::join!(
            faults.run(house.deliver()),
            through(&gate, async || again(&house, kind).await)
        );
        assert_eq!(failed, Some(vec![]));
        same(&first, &second);
        assert_eq!(second.json()["state"], "pending");
        sold_once(&house).await;
    }
}

/// Three on one key: the first fails after it took units.
#[tokio::test]
async fn three_on_one_key_the_first_of_which_dies_make_one_order() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        let body = kind.body();
        let dead = Faults::new().kill(RESERVATION_HELD).run(house.order(FAN, KEY, &body)).await;
        assert!(dead.is_none());
        let (second, third) =
            meanwhile(&house, kind, RESERVATION_HELD, async || again(&house, kind).await).await;
        same(&second, &third);
        sold_once(&house).await;
    }
}

/// B23: one sees it sold out; then it comes back, and the other holds it. The one
/// decision that is stored is that of both.
#[tokio::test]
async fn b23_one_sees_it_sold_out_and_the_other_holds_it() {
    for kind in Kind::ALL {
        for persisted_first in [false, true] {
            let house = House::of(CAPACITY, CAPACITY).await;
            let rival = house.sale.hold("rival", "key", vec![kind.line()]).await;
            let (first, second) = meanwhile(&house, kind, RESERVATION_DECIDED, async || {
                house.sale.release(&rival).await;
                let second = again(&house, kind).await;
                if persisted_first {
                    house.deliver().await;
                }
                second
            })
            .await;
            assert_eq!(second.status, 202, "it holds what came back");
            house.deliver().await;
            house.stream().await;
            let order = house.fans_order().await;
            if persisted_first {
                assert_eq!((first.status, order.state), (202, OrderState::Pending));
            } else {
                assert_eq!((first.status, order.state), (409, OrderState::Rejected));
                assert_eq!(again(&house, kind).await.status, 409, "P2: and so is every repeat");
            }
            house.audit(CAPACITY, CAPACITY).await;
        }
    }
}

/// P3: both are refused, and the decision is that of the content that came first.
#[tokio::test]
async fn a_refusal_is_not_told_to_other_content_that_was_refused_at_the_same_instant() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        house.sale.hold("rival", "key", vec![kind.line()]).await;
        let (first, second) = meanwhile(&house, kind, RESERVATION_DECIDED, async || {
            house.order(FAN, KEY, &kind.other_body()).await
        })
        .await;
        assert_eq!((second.status, house.orders().await.len()), (409, 1));
        assert_eq!((first.status, first.reason().as_str()), (422, "key_reused"));
    }
}

/// Whatever breaks in a request, its order may be on its way.
#[tokio::test]
async fn a_request_that_panics_says_where_its_outcome_can_be_read() {
    for kind in Kind::ALL {
        for point in before_the_answer(kind) {
            let house = House::of(CAPACITY, CAPACITY).await;
            let body = kind.body();
            let broken = Faults::new().panic(point).run(house.order(FAN, KEY, &body)).await;
            let broken = broken.expect("an answer");
            assert_eq!((broken.status, broken.reason().as_str()), (503, "outcome_unknown"));
            let again = again(&house, kind).await;
            assert_eq!(again.header("location"), broken.header("location"));
            assert_eq!(again.json()["id"], broken.json()["order"]);
            sold_once(&house).await;
        }
    }
}

/// B24: the hold lapses while its intent waits.
#[tokio::test]
async fn b24_a_hold_that_lapsed_while_its_intent_waited_is_never_held_again() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        let moment = Duration::from_millis(50);
        let intent = house.sale.hold_for(FAN, KEY, vec![kind.line()], moment).await;
        house.resend(&intent);
        lapsed(&intent).await;
        let second = again(&house, kind).await;
        assert_eq!((second.status, second.reason().as_str()), (409, "hold_expired"));
        assert_eq!(house.deliver().await, Vec::<String>::new());
        let order = house.fans_order().await;
        assert_eq!(order.rejection, Some(Rejection::HoldExpired));
        assert_eq!(again(&house, kind).await.json()["order"], second.json()["order"]);
        house.audit(CAPACITY, CAPACITY).await;
    }
}

/// B13: the table's reply is lost after the commit.
#[tokio::test]
async fn b13_a_commit_whose_reply_is_lost_is_found_and_counts_once() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        let first = again(&house, kind).await;
        house.sale.wire.next("TransactWriteItems", Fault::ReplyLost);
        sold_once(&house).await;
        assert!(house.sale.wire.is_spent());
        same(&first, &again(&house, kind).await);
    }
}

/// The queue took the message, its reply was lost: the fan repeats.
#[tokio::test]
async fn a_message_whose_reply_is_lost_is_sent_again_and_counts_once() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        house.intents.set_losing_replies(true);
        let unknown = again(&house, kind).await;
        house.intents.set_losing_replies(false);
        assert_eq!((unknown.status, unknown.reason().as_str()), (503, "outcome_unknown"));
        let status = unknown.header("location").to_owned();
        assert!(status.starts_with("/events/show/orders/"), "{status}");
        let known = again(&house, kind).await;
        assert_eq!((known.status, known.header("location")), (202, status.as_str()));
        sold_once(&house).await;
    }
}

/// The script ran, its reply was lost with the connection.
#[tokio::test]
async fn a_script_whose_reply_is_lost_holds_once() {
    for kind in Kind::ALL {
        let sale = Sale::of(CAPACITY, CAPACITY).await;
        let proxy = Proxy::to(sale.redis.port());
        let house = House::over(sale, &proxy.url()).await;
        // A first call opens the connection, and makes the scripts known.
        let too_many = json!({"lines": [{"ticket_type": "floor", "quantity": CAPACITY + 1}]});
        assert_eq!(house.order("other", KEY, &too_many).await.status, 409);
        proxy.lose_replies(1);
        let answer = again(&house, kind).await;
        assert_eq!((answer.status, proxy.to_lose()), (202, 0), "{}", answer.raw.body);
        house.deliver().await;
        house.stream().await;
        assert_eq!(house.fans_order().await.state, OrderState::Pending);
        house.audit(CAPACITY, CAPACITY).await;
    }
}

/// B12: a week later, at another price, and with Redis gone.
#[tokio::test]
async fn b12_a_repeat_is_told_the_first_order_at_the_first_price_also_without_redis() {
    for kind in Kind::ALL {
        let mut house = House::of(CAPACITY, CAPACITY).await;
        let first = again(&house, kind).await;
        sold_once(&house).await;
        for name in ["floor", "stalls"] {
            house.sale.set_type(name, 9, |control| control.amount = 1).await;
        }
        same(&first, &again(&house, kind).await);
        house.sale.redis.stop();
        same(&first, &again(&house, kind).await);
    }
}

/// B12: by then the order may have ended, and no inventory knows it any more.
#[tokio::test]
async fn b12_a_repeat_takes_nothing_where_redis_has_forgotten_that_the_order_ended() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        let first = again(&house, kind).await;
        sold_once(&house).await;
        let order = house.fans_order().await;
        let (orders, to) = (&house.sale.orders, OrderState::Expired);
        let ended = orders.order_end(&order, to, now(), &partitions()).await;
        assert!(matches!(ended, Ok(Ended::Ended { .. })), "{ended:?}");
        house.sale.open_epoch(Epoch(2), CAPACITY, CAPACITY).await;
        let repeat = again(&house, kind).await;
        same(&first, &repeat);
        assert_eq!(repeat.json()["state"], "expired");
        house.rest().await;
        house.audit(CAPACITY, CAPACITY).await;
    }
}

/// M9: the store was away for longer than a hold lasts.
#[tokio::test]
async fn m9_what_the_store_was_too_late_for_is_refused_with_its_reason() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        let soon = Duration::from_secs(1);
        let intent = house.sale.hold_for("late", KEY, vec![kind.line()], soon).await;
        assert!(intent.expires_at > now(), "within the margin, not after the end");
        house.resend(&intent);
        assert_eq!(house.deliver().await, Vec::<String>::new());
        let stored = house.sale.stored("late", &intent.order).await.expect("a decision");
        assert_eq!(stored.rejection, Some(Rejection::HoldExpired));
        house.audit(CAPACITY, CAPACITY).await;
    }
}
