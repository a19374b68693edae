//! Withdrawals.

use std::time::Duration;

use domain::OrderState;
use futures::future::{Either, select};
use lambda_kit::testing::TestRequest;
use redis_store::Reservation;
use serde_json::{Value, json};

use crate::given::{Office, floor, id, places, pointers, stalls};

fn of_floor(quantity: u32) -> Value {
    json!({"ticket_type": "floor", "quantity": quantity})
}

fn of_stalls(seats: &[&str]) -> Value {
    json!({"ticket_type": "stalls", "seats": seats})
}

#[tokio::test]
async fn seats_are_taken_out_of_sale_and_returned() {
    let office = Office::with_sale().await;
    let body = of_stalls(&["A-1-2", "A-1-1"]);
    let taken = office.withdraw("house", &body).await;
    assert_eq!(taken.status, 201);
    assert_eq!(
        taken.json(),
        json!({"id": "house", "ticket_type": "stalls", "quantity": 2,
               "seats": ["A-1-1", "A-1-2"], "state": "taken"})
    );
    assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (4, 2));
    let status = office.get("/events/show/seats/A-1-1/lock-status").await.json();
    assert_eq!(status, json!({"seat": "A-1-1", "status": "withdrawn"}));
    let refused = office.hold("fan", stalls(&["A-1-1"])).await;
    assert!(matches!(refused, Reservation::SeatTaken { .. }));

    assert_eq!(office.withdraw("house", &body).await.status, 200, "again is fine");
    assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (4, 2));

    for _ in 0..2 {
        assert_eq!(office.delete("/events/show/withdrawals/house").await.status, 204);
        assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (6, 0));
    }
    assert!(matches!(office.hold("fan", stalls(&["A-1-1"])).await, Reservation::Held(_)));
}

#[tokio::test]
async fn a_withdrawal_that_was_returned_can_be_taken_again() {
    let office = Office::with_sale().await;
    for round in 1..=3 {
        let taken = office.withdraw("house", &of_floor(round)).await;
        assert_eq!(taken.status, 201, "round {round}: {}", taken.raw.body);
        assert_eq!(office.owned("floor").await, round as usize);
        assert_eq!(office.remaining("floor").await, u64::from(64 - round));
        assert_eq!(office.delete("/events/show/withdrawals/house").await.status, 204);
    }
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (64, 0));
}

#[tokio::test]
async fn places_are_withdrawn_before_the_first_opening_too() {
    let office = Office::with_show().await;
    assert_eq!(office.withdraw("crew", &of_floor(50)).await.status, 201);
    assert_eq!(office.withdraw("house", &of_stalls(&["A-1-1"])).await.status, 201);
    assert_eq!((office.remaining("floor").await, office.remaining("stalls").await), (14, 5));
    assert_eq!(office.get("/events/show").await.json()["state"], "scheduled");
    let early = office.hold("fan", floor(1)).await;
    assert!(matches!(early, Reservation::NotOpen { .. }), "{early:?}");
    office.switch("open").await;
    assert_eq!((office.remaining("floor").await, office.remaining("stalls").await), (14, 5));
    office.buy("fan", floor(14)).await;
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (0, 64));
}

#[tokio::test]
async fn more_than_is_free_is_refused_and_nothing_is_taken() {
    let office = Office::with_sale().await;
    office.buy("fan-1", floor(10)).await;
    office.hold("fan-2", floor(4)).await;
    let refused = office.withdraw("crew", &of_floor(51)).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "sold_out"));
    let numbers = refused.json();
    assert_eq!(
        ["remaining", "sold", "held", "withdrawn"].map(|name| numbers[name].as_u64().unwrap()),
        [50, 10, 4, 0]
    );
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (50, 10));
    assert_eq!(office.withdraw("crew", &of_floor(50)).await.status, 201, "the same id, less");
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (0, 60));
}

#[tokio::test]
async fn seats_that_others_have_are_named_and_nothing_is_taken() {
    let office = Office::with_sale().await;
    office.buy("fan-1", stalls(&["A-1-3"])).await;
    office.hold("fan-2", stalls(&["A-2-1"])).await;
    let body = of_stalls(&["A-2-3", "A-2-1", "A-1-3", "A-1-1"]);
    let refused = office.withdraw("house", &body).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "seat_taken"));
    let mut named = pointers(&refused);
    named.sort();
    assert_eq!(named, ["/seats/1", "/seats/2"]);
    assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (4, 1));
}

/// Seats of a section of two rows, as a section's edit and as labels.
fn section_of(seats_in_row: u32) -> (Value, Vec<String>) {
    let rows: Vec<Value> =
        [1, 2].iter().map(|row| json!({"row": row, "seats": seats_in_row})).collect();
    let labels = [1, 2]
        .iter()
        .flat_map(|row| (1..=seats_in_row).map(move |number| format!("B-{row}-{number}")));
    (json!({"ticket_type": "stalls", "rows": rows}), labels.collect())
}

#[tokio::test]
async fn while_a_withdrawal_ends_refused_no_unit_changes_hands() {
    let office = Office::with_show().await;
    let (section, labels) = section_of(50);
    office.create("/events/show/seat-map/sections/B", &section).await;
    office.switch("open").await;
    office.buy("fan-1", stalls(&["B-1-1", "B-2-50"])).await;
    office.buy("fan-2", floor(4)).await;
    let before = office.position().await;
    let seats: Vec<&str> = labels.iter().map(String::as_str).collect();
    let refused = office.withdraw("house", &of_stalls(&seats)).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "seat_taken"));
    assert_eq!(refused.json()["seats"], json!(["B-1-1", "B-2-50"]));
    let refused = office.withdraw("crew", &of_floor(61)).await;
    assert_eq!((refused.status, refused.json()["remaining"].as_u64()), (409, Some(60)));
    assert_eq!(office.position().await, before);
    assert_eq!(office.withdraw("crew", &of_floor(60)).await.status, 201);
    assert_eq!(office.withdraw("house", &of_stalls(&seats[1..99])).await.status, 201);
}

#[tokio::test]
async fn an_order_that_was_not_paid_in_time_makes_room_for_a_withdrawal() {
    let office = Office::with_sale().await;
    let unpaid = [
        office.owe("fan-1", stalls(&["A-1-1"])).await,
        office.owe("fan-2", floor(4)).await,
        office.owe("fan-3", floor(4)).await,
    ];
    assert_eq!(office.withdraw("house", &of_stalls(&["A-1-1", "A-1-2"])).await.status, 201);
    assert_eq!(office.withdraw("crew", &of_floor(64)).await.status, 201);
    for order in &unpaid {
        assert_eq!(office.order(order).await.state, OrderState::Expired);
    }
    assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (4, 2));
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (0, 64));
}

#[tokio::test]
async fn beside_an_order_that_was_not_paid_in_time_only_what_is_not_free_is_named() {
    let office = Office::with_sale().await;
    office.owe("fan-1", stalls(&["A-1-1"])).await;
    office.buy("fan-2", stalls(&["A-1-3"])).await;
    let refused = office.withdraw("house", &of_stalls(&["A-1-1", "A-1-2", "A-1-3"])).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "seat_taken"));
    assert_eq!(pointers(&refused), ["/seats/2"]);
    assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (5, 1));
}

#[tokio::test]
async fn a_hold_that_is_about_to_lapse_is_not_kept_and_another_is_taken() {
    let office = Office::with_sale().await;
    let persisting = office.wire.stop("TransactWriteItems", "Put");
    let short = office.environment_with_holds_of(Duration::from_secs(10));
    let put = TestRequest::put("/events/show/withdrawals/house").operator("op");
    let put = put.json(&of_floor(40));
    // It dies when it has its hold, and is not there when the gate would open.
    match select(Box::pin(put.send(&short)), Box::pin(persisting.arrived())).await {
        Either::Left((answer, _)) => panic!("it did not die: {}", answer.status),
        Either::Right(((), dead)) => drop(dead),
    }
    let begun = office.withdrawal("house").await;
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (24, 0));
    assert_eq!(office.withdraw("house", &of_floor(40)).await.status, 201);
    assert_ne!(office.withdrawal("house").await.orders, begun.orders);
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (24, 40));
}

#[tokio::test]
async fn every_owner_that_redis_forgot_is_put_right_by_the_withdrawal_that_meets_it() {
    let office = Office::with_sale().await;
    for (fan, seat) in [("fan-1", "A-1-1"), ("fan-2", "A-1-2")] {
        office.buy_unknown_to_redis(fan, stalls(&[seat])).await;
    }
    assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (6, 2));

    let refused = office.withdraw("house", &of_stalls(&["A-1-1", "A-1-2", "A-1-3"])).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "seat_taken"));
    assert_eq!(pointers(&refused), ["/seats/0", "/seats/1"]);
    assert_eq!((office.remaining("stalls").await, office.owned("stalls").await), (4, 2));
}

#[tokio::test]
async fn a_withdrawal_that_was_half_returned_can_be_taken_again_with_other_units() {
    for calls in 0..40 {
        let office = Office::with_sale().await;
        assert_eq!(office.withdraw("house", &of_floor(60)).await.status, 201);
        office.wire.break_after(calls);
        let returned = office.delete("/events/show/withdrawals/house").await;
        office.wire.heal();
        let taken = office.withdraw("house", &of_stalls(&["A-1-1"])).await;
        let owned = (office.owned("floor").await, office.owned("stalls").await);
        match taken.status {
            201 => assert_eq!(owned, (0, 1), "after {calls}"),
            409 => assert_eq!(owned, (60, 0), "its return had not begun after {calls}"),
            other => panic!("{other} after {calls}: {}", taken.raw.body),
        }
        if returned.status == 204 {
            return;
        }
    }
    panic!("the return never got through");
}

#[tokio::test]
async fn what_an_edit_withdrew_is_no_withdrawal_of_an_operator() {
    let office = Office::with_sale().await;
    let lower = office.edit("/events/show/ticket-types/floor", 1, &places(4)).await;
    assert_eq!(lower.status, 200);
    let cut = "/events/show/withdrawals/capacity-1-1-4";
    assert_eq!(office.delete(cut).await.status, 400);
    assert_eq!(office.put(cut, &of_floor(60)).await.status, 400);
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (4, 60));
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let office = Office::with_sale().await;
    let refused = |answer: lambda_kit::testing::TestResponse| {
        (answer.status, answer.reason(), pointers(&answer))
    };
    let named =
        |status, reason: &str, pointer: &str| (status, reason.to_owned(), vec![pointer.to_owned()]);
    let none = json!({"ticket_type": "none", "quantity": 1});
    assert_eq!(
        refused(office.withdraw("w", &none).await),
        named(404, "unknown_ticket_type", "/ticket_type")
    );
    for seat in ["A-9-9", "Z-1-1", "A-1-999"] {
        let body = of_stalls(&["A-1-1", seat]);
        assert_eq!(
            refused(office.withdraw("w", &body).await),
            named(404, "unknown_seat", "/seats/1"),
            "{seat}"
        );
    }
    for (body, pointer) in [
        (json!({"ticket_type": "floor", "seats": ["A-1-1"]}), "/seats"),
        (json!({"ticket_type": "stalls", "quantity": 1}), "/quantity"),
        (json!({"ticket_type": "floor", "quantity": 0}), "/quantity"),
        (json!({"ticket_type": "floor", "quantity": 2_001}), "/quantity"),
        (json!({"ticket_type": "floor", "quantity": -3}), "/quantity"),
        (json!({"ticket_type": "stalls", "seats": ["A-1-1"], "quantity": 2}), "/quantity"),
        (json!({"ticket_type": "stalls", "seats": ["A-1-1", "A-1-1"]}), "/seats/1"),
        (json!({"ticket_type": "stalls", "seats": ["A-12"]}), "/seats/0"),
        (json!({"ticket_type": "floor"}), ""),
    ] {
        let answer = refused(office.withdraw("w", &body).await);
        assert_eq!(answer, named(400, "invalid_request", pointer), "{body}");
    }
    let cut = office.withdraw("capacity-1-1-5", &of_floor(1)).await;
    assert_eq!(refused(cut), named(400, "invalid_request", "path:withdrawal"));
    assert_eq!(office.delete("/events/show/withdrawals/w").await.status, 404);
    assert_eq!((office.remaining("floor").await, office.remaining("stalls").await), (64, 6));
}

#[tokio::test]
async fn an_id_stands_for_its_units() {
    let office = Office::with_sale().await;
    office.withdraw("house", &of_floor(3)).await;
    let other = office.withdraw("house", &of_floor(4)).await;
    assert_eq!((other.status, other.reason().as_str()), (409, "conflict"));
    assert_eq!(office.remaining("floor").await, 61);
    let seats = of_stalls(&["A-1-1", "A-1-2"]);
    office.withdraw("seats", &seats).await;
    let turned = office.withdraw("seats", &of_stalls(&["A-1-2", "A-1-1"])).await;
    assert_eq!(turned.status, 200, "the same seats in another order");
}

#[tokio::test]
async fn a_large_withdrawal_is_all_or_nothing_over_its_orders() {
    let office = Office::with_show().await;
    office.create("/events/show/ticket-types/big", &places(500)).await;
    office.switch("open").await;
    let of_big = |quantity: u32| json!({"ticket_type": "big", "quantity": quantity});
    assert_eq!(office.withdraw("w", &of_big(450)).await.status, 201);
    assert_eq!((office.remaining("big").await, office.owned("big").await), (50, 450));
    let refused = office.withdraw("more", &of_big(90)).await;
    assert_eq!((refused.status, refused.json()["remaining"].as_u64()), (409, Some(50)));
    assert_eq!((office.remaining("big").await, office.owned("big").await), (50, 450));
    assert_eq!(office.delete("/events/show/withdrawals/w").await.status, 204);
    assert_eq!((office.remaining("big").await, office.owned("big").await), (500, 0));
}

#[tokio::test]
async fn the_same_withdrawal_many_times_at_once_is_taken_once() {
    let office = Office::with_sale().await;
    let puts = (0..16).map(|_| {
        let (office, router) = (&office, office.another_environment());
        let put = TestRequest::put("/events/show/withdrawals/house").operator("op");
        async move {
            let answer = put.json(&of_floor(60)).send(&router).await;
            let _ = office;
            answer.status
        }
    });
    let statuses = futures::future::join_all(puts).await;
    assert!(statuses.iter().all(|status| [200, 201, 503].contains(status)), "{statuses:?}");
    assert_eq!(office.withdraw("house", &of_floor(60)).await.status, 200);
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (4, 60));
}

#[tokio::test]
async fn taking_and_returning_at_once_leave_no_order_behind() {
    for _ in 0..5 {
        let office = Office::with_sale().await;
        let calls = (0..12).map(|n| {
            let router = office.another_environment();
            async move {
                let path = "/events/show/withdrawals/house";
                if n % 2 == 0 {
                    let put = TestRequest::put(path).operator("op").json(&of_floor(60));
                    put.send(&router).await.status
                } else {
                    TestRequest::delete(path).operator("op").send(&router).await.status
                }
            }
        });
        let statuses = futures::future::join_all(calls).await;
        let known = [200, 201, 204, 404, 409, 503];
        assert!(statuses.iter().all(|status| known.contains(status)), "{statuses:?}");
        assert_eq!(office.delete("/events/show/withdrawals/house").await.status, 204);
        assert_eq!((office.remaining("floor").await, office.owned("floor").await), (64, 0));
    }
}

#[tokio::test]
async fn many_fans_and_an_operator_never_share_a_place() {
    let office = Office::with_sale().await;
    let fans = (0..30).map(|n| {
        let office = &office;
        async move { office.hold(&format!("fan-{n}"), stalls(&["A-1-1"])).await }
    });
    let body = of_stalls(&["A-1-1", "A-1-2"]);
    let (withdrawn, holds) =
        futures::join!(office.withdraw("house", &body), futures::future::join_all(fans));
    let held = holds.iter().filter(|hold| matches!(hold, Reservation::Held(_))).count();
    let taken = usize::from(withdrawn.status == 201);
    assert_eq!(held + taken, 1, "{} {held}", withdrawn.status);
}

#[tokio::test]
async fn a_withdrawal_is_an_order_of_its_own_owner() {
    let office = Office::with_sale().await;
    office.withdraw("house", &of_floor(1)).await;
    let types = office
        .store
        .ticket_types_list(&id("show"), dynamo_store::Consistency::Strong)
        .await
        .unwrap();
    let partitions = dynamo_store::PartitionCounts::of(&types);
    let units = office.orders.units_list(&id("show"), &types[0].id, &partitions).await.unwrap();
    let owner = &units[0].owner;
    assert!(owner.customer.as_str().starts_with("withdrawn:"));
    let order = office.orders.order_fetch(&owner.customer, &owner.order).await.unwrap().unwrap();
    assert_eq!((order.state, order.total.amount), (OrderState::Withdrawn, 0));
    assert_eq!(order.lines[0].unit_amount, 0, "nobody pays for it");
}
