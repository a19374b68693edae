//! M8: the stream is late, and what it would have told must not be missed.

#![cfg(test)]

use std::time::Duration;

use domain::{OrderState, Rejection};
use dynamo_store::Ended;
use faults::House;
use faults::scenario::{CAPACITY, FAN, KEY, Kind, lapsed};
use lambda_kit::testing::TestResponse;
use redis_store::{Settle, Settled};
use serde_json::json;
use test_sale::{EPOCH, now, partitions, places, seat, seats};

async fn ask(house: &House, fan: &str, kind: Kind) -> TestResponse {
    house.order(fan, KEY, &kind.body()).await
}

fn is_refused(answer: &TestResponse, kind: Kind) {
    let reason = match kind {
        Kind::Places => "sold_out",
        Kind::Seats => "seat_taken",
    };
    assert_eq!((answer.status, answer.reason().as_str()), (409, reason));
}

#[tokio::test]
async fn m8_without_the_stream_what_persistence_settled_refuses_everybody_else() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        assert_eq!(ask(&house, FAN, kind).await.status, 202);
        assert_eq!(house.deliver().await, Vec::<String>::new());
        for other in ["ben", "cat"] {
            is_refused(&ask(&house, other, kind).await, kind);
        }
        house.stream().await;
        house.audit(CAPACITY, CAPACITY).await;
    }
}

#[tokio::test]
async fn m8_what_dynamodb_says_is_taken_is_offered_once_at_most() {
    for kind in Kind::ALL {
        let house = House::of(CAPACITY, CAPACITY).await;
        // Persisted; the settle is lost, the stream is late, the hold times out.
        let moment = Duration::from_millis(50);
        let sold = house.sale.hold_for("ann", KEY, vec![kind.line()], moment).await;
        house.sale.persist_unsettled(&sold, faults::LONG).await;
        lapsed(&sold).await;
        assert_eq!(ask(&house, FAN, kind).await.status, 202, "Redis can't know better");
        // That intent finds the owner, and Redis is told before the order is refused.
        assert_eq!(house.deliver().await, Vec::<String>::new());
        let order = house.fans_order().await;
        assert_eq!(order.state, OrderState::Rejected);
        let told =
            matches!(order.rejection, Some(Rejection::SeatTaken { .. } | Rejection::Recovery));
        assert!(told, "{order:?}");
        for other in ["ben", "cat"] {
            is_refused(&ask(&house, other, kind).await, kind);
        }
        house.stream().await;
        house.audit(CAPACITY, CAPACITY).await;
    }
}

#[tokio::test]
async fn m8_so_it_is_where_an_order_loses_its_units_to_two_others() {
    for (kind, of_ann, of_ben) in
        [(Kind::Places, places(1), places(1)), (Kind::Seats, seats([0]), seats([1]))]
    {
        let house = House::of(CAPACITY, CAPACITY).await;
        let ann = house.sale.hold("ann", KEY, vec![of_ann]).await;
        let ben = house.sale.hold("ben", KEY, vec![of_ben]).await;
        for sold in [&ann, &ben] {
            house.sale.persist_unsettled(sold, faults::LONG).await;
            house.sale.release(sold).await;
        }
        assert_eq!(ask(&house, FAN, kind).await.status, 202, "Redis can't know better");
        assert_eq!(house.deliver().await, Vec::<String>::new());
        assert_eq!(house.fans_order().await.state, OrderState::Rejected);
        let single = |number: u32| match kind {
            Kind::Places => json!({"lines": [{"ticket_type": "floor", "quantity": 1}]}),
            Kind::Seats => {
                json!({"lines": [{"ticket_type": "stalls", "seats": [seat(number).as_str()]}]})
            }
        };
        for number in 0..CAPACITY {
            let answer = house.order("cat", &number.to_string(), &single(number)).await;
            is_refused(&answer, kind);
        }
        house.stream().await;
        house.audit(CAPACITY, CAPACITY).await;
    }
}

#[tokio::test]
async fn m8_a_record_older_than_its_orders_end_takes_no_other_fans_hold() {
    for (kind, is_redelivered) in
        Kind::ALL.into_iter().flat_map(|kind| [(kind, true), (kind, false)])
    {
        let house = House::of(CAPACITY, CAPACITY).await;
        // Persisted and ended, and Redis has heard of neither; its hold is given back since.
        let moment = if is_redelivered { faults::LONG } else { Duration::from_millis(50) };
        let ended = house.sale.hold_for("ann", KEY, vec![kind.line()], moment).await;
        let live = house.sale.persist_unsettled(&ended, faults::LONG).await;
        let expired = OrderState::Expired;
        let end = house.sale.orders.order_end(&live, expired, now(), &partitions()).await;
        assert!(matches!(end.unwrap(), Ended::Ended { .. }));
        if is_redelivered {
            house.resend(&ended);
            assert_eq!(house.deliver().await, Vec::<String>::new());
        } else {
            lapsed(&ended).await;
        }
        assert_eq!(ask(&house, FAN, kind).await.status, 202);
        let late = house.sale.inventory.settle(&Settle::of(&live, EPOCH, false)).await.unwrap();
        assert!(matches!(late, Settled::Ignored | Settled::Reread), "{late:?}");
        house.stream().await;
        assert_eq!(ask(&house, FAN, kind).await.status, 202, "as before");
        assert_eq!(house.deliver().await, Vec::<String>::new());
        assert_eq!(house.fans_order().await.state, OrderState::Pending);
        house.audit(CAPACITY, CAPACITY).await;
    }
}
