//! M8: the stream is late, and what it would have told must not be missed.

#![cfg(test)]

use std::time::Duration;

use domain::{OrderState, Rejection};
use faults::House;
use faults::scenario::{CAPACITY, FAN, KEY, Kind, lapsed};
use lambda_kit::testing::TestResponse;

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
