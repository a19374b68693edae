//! Each step killed, and run again: a request whose calls to DynamoDB break off
//! after the first, the second, the third, … is sent again, to another
//! environment, until it gets through; then everything must be as if nothing had
//! happened.

use domain::{CustomerId, Epoch, SeatLabel, TicketTypeId, WithdrawalId};
use dynamo_store::WithdrawalState;
use lambda_kit::testing::{TestRequest, TestResponse, logged, metrics};
use redis_store::{Released, Reservation, Written};
use serde_json::{Value, json};

use crate::given::{Office, floor, id, places, stalls};

/// More calls than any request here makes.
const MOST_CALLS: usize = 60;

/// Sends a request with its wire broken after so many calls; then again, healed.
/// Whether the break was felt.
async fn broken_then_again(office: &Office, calls: usize, request: &TestRequest) -> bool {
    office.wire.break_after(calls);
    let first = request.clone().send(&office.router).await;
    office.wire.heal();
    let again = request.clone().send(&office.another_environment()).await;
    assert!(is_success(&again), "after {calls} calls: {} {}", again.status, again.raw.body);
    !is_success(&first)
}

fn is_success(answer: &TestResponse) -> bool {
    (200..300).contains(&answer.status)
}

fn put(path: &str, body: &Value) -> TestRequest {
    TestRequest::put(path).operator("op").json(body)
}

/// Breaks a request off at each of its calls in turn, in an office of its own.
async fn at_every_call<O, C>(
    open: impl Fn() -> O,
    request: &TestRequest,
    check: impl Fn(Office) -> C,
) where
    O: Future<Output = Office>,
    C: Future<Output = ()>,
{
    for calls in 0..MOST_CALLS {
        let office = open().await;
        let was_felt = broken_then_again(&office, calls, request).await;
        check(office).await;
        if !was_felt {
            assert!(calls > 1, "the request made no calls");
            return;
        }
    }
    panic!("the request never got through");
}

#[tokio::test]
async fn an_opening_that_dies_anywhere_is_finished_by_its_repeat() {
    let request =
        put("/events/show/sale", &json!({"state": "open"})).header("idempotency-key", "k");
    at_every_call(Office::with_show, &request, async |office| {
        assert_eq!(office.get("/events/show").await.json()["state"], "open");
        assert_eq!((office.remaining("floor").await, office.remaining("stalls").await), (64, 6));
        assert!(matches!(office.hold("fan", stalls(&["A-1-1"])).await, Reservation::Held(_)));
        assert!(matches!(office.hold("fan-2", floor(20)).await, Reservation::Held(_)));
    })
    .await;
}

#[tokio::test]
async fn a_withdrawal_that_dies_anywhere_is_finished_by_its_repeat() {
    let request =
        put("/events/show/withdrawals/house", &json!({"ticket_type": "floor", "quantity": 60}));
    at_every_call(Office::with_show, &request, async |office| {
        assert_eq!((office.remaining("floor").await, office.owned("floor").await), (4, 60));
        assert_eq!(office.delete("/events/show/withdrawals/house").await.status, 204);
        assert_eq!((office.remaining("floor").await, office.owned("floor").await), (64, 0));
    })
    .await;
}

#[tokio::test]
async fn a_withdrawal_that_dies_anywhere_can_be_returned_instead() {
    for calls in 0..MOST_CALLS {
        let office = Office::with_sale().await;
        let request =
            put("/events/show/withdrawals/house", &json!({"ticket_type": "floor", "quantity": 60}));
        office.wire.break_after(calls);
        let first = request.send(&office.router).await;
        office.wire.heal();
        let returned = office.delete("/events/show/withdrawals/house").await;
        assert!([204, 404].contains(&returned.status), "after {calls}: {}", returned.raw.body);
        assert_eq!(office.owned("floor").await, 0, "after {calls}");
        let held = office.hold("fan", floor(20)).await;
        assert!(matches!(held, Reservation::Held(_)), "after {calls}: {held:?}");
        if is_success(&first) {
            return;
        }
    }
    panic!("the request never got through");
}

#[tokio::test]
async fn a_return_that_dies_anywhere_is_finished_by_its_repeat() {
    let request = TestRequest::delete("/events/show/withdrawals/house").operator("op");
    let open = async || {
        let office = Office::with_sale().await;
        let body = json!({"ticket_type": "floor", "quantity": 60});
        assert_eq!(office.withdraw("house", &body).await.status, 201);
        office
    };
    at_every_call(open, &request, async |office| {
        assert_eq!((office.remaining("floor").await, office.owned("floor").await), (64, 0));
    })
    .await;
}

#[tokio::test]
async fn a_lowered_capacity_that_dies_anywhere_is_finished_by_its_repeat() {
    let request = put("/events/show/ticket-types/floor", &places(4)).header("if-match", "\"v1\"");
    at_every_call(Office::with_sale, &request, async |office| {
        let floor = office.ticket_type("floor").await;
        assert_eq!((&floor["capacity"], &floor["remaining"]), (&4.into(), &4.into()));
        assert_eq!(office.owned("floor").await, 60);
    })
    .await;
}

#[tokio::test]
async fn a_lowered_capacity_that_died_and_was_given_up_is_put_right_by_the_next_edit() {
    for calls in 0..MOST_CALLS {
        let office = Office::with_sale().await;
        let lower = put("/events/show/ticket-types/floor", &places(4)).header("if-match", "\"v1\"");
        office.wire.break_after(calls);
        let first = lower.send(&office.router).await;
        office.wire.heal();
        let version = office.ticket_type("floor").await["version"].as_u64().unwrap();
        let other = office.edit("/events/show/ticket-types/floor", version, &places(65)).await;
        assert_eq!(other.status, 200, "after {calls}: {}", other.raw.body);
        let floor = office.ticket_type("floor").await;
        assert_eq!((&floor["capacity"], &floor["remaining"]), (&65.into(), &65.into()));
        assert_eq!(office.owned("floor").await, 0, "after {calls}");
        if is_success(&first) {
            return;
        }
    }
    panic!("the request never got through");
}

#[tokio::test]
async fn a_raised_capacity_that_dies_anywhere_is_finished_by_its_repeat() {
    let open = async || {
        let office = Office::with_sale().await;
        let lowered = office.edit("/events/show/ticket-types/floor", 1, &places(10)).await;
        assert_eq!(lowered.status, 200);
        office
    };
    let request = put("/events/show/ticket-types/floor", &places(70)).header("if-match", "\"v2\"");
    at_every_call(open, &request, async |office| {
        let floor = office.ticket_type("floor").await;
        assert_eq!((&floor["capacity"], &floor["remaining"]), (&70.into(), &70.into()));
        assert_eq!(office.owned("floor").await, 0);
    })
    .await;
}

#[tokio::test]
async fn an_edit_that_died_before_redis_knew_of_it_is_finished_by_its_repeat() {
    let mut body = crate::given::event_body();
    body["limit_per_customer"] = json!(2);
    let request = put("/events/show", &body).header("if-match", "\"v2\"");
    at_every_call(Office::with_sale, &request, async |office| {
        let refused = office.hold("fan", floor(3)).await;
        assert_eq!(refused, Reservation::OverLimit { ticket_type: None, limit: 2 });
    })
    .await;
}

#[tokio::test]
async fn a_section_that_died_before_redis_knew_of_it_is_finished_by_its_repeat() {
    let body = json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": 2}]});
    let request = put("/events/show/seat-map/sections/B", &body);
    at_every_call(Office::with_sale, &request, async |office| {
        assert_eq!(office.remaining("stalls").await, 8);
        assert!(matches!(office.hold("fan", stalls(&["B-1-2"])).await, Reservation::Held(_)));
    })
    .await;
}

/// An edit that died anywhere, and a withdrawal instead of its repeat.
async fn withdrawn_after(edit: &TestRequest, is_kept: impl AsyncFn(&Office) -> bool, body: &Value) {
    for calls in 0..MOST_CALLS {
        let office = Office::with_sale().await;
        office.wire.break_after(calls);
        let edited = edit.clone().send(&office.router).await;
        office.wire.heal();
        if is_kept(&office).await {
            let taken = office.withdraw("house", body).await;
            assert_eq!(taken.status, 201, "after {calls}: {}", taken.raw.body);
        }
        if is_success(&edited) {
            return;
        }
    }
    panic!("the edit never got through");
}

#[tokio::test]
async fn places_of_a_raise_that_died_can_be_withdrawn() {
    let raise = put("/events/show/ticket-types/floor", &places(100)).header("if-match", "\"v1\"");
    let is_kept = async |office: &Office| office.ticket_type("floor").await["capacity"] == 100;
    withdrawn_after(&raise, is_kept, &json!({"ticket_type": "floor", "quantity": 100})).await;
}

#[tokio::test]
async fn places_of_a_type_that_died_before_redis_knew_of_it_can_be_withdrawn() {
    let create = put("/events/show/ticket-types/more", &places(50)).header("if-none-match", "*");
    let is_kept = async |office: &Office| {
        let list = office.get("/events/show/ticket-types").await.json();
        list["ticket_types"].as_array().unwrap().len() == 3
    };
    withdrawn_after(&create, is_kept, &json!({"ticket_type": "more", "quantity": 50})).await;
}

#[tokio::test]
async fn seats_of_a_section_that_died_before_redis_knew_of_it_can_be_withdrawn() {
    let body = json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": 2}]});
    let section = put("/events/show/seat-map/sections/B", &body);
    let is_kept = async |office: &Office| {
        let map = office.get("/events/show/seat-map").await.json();
        map["sections"].as_array().unwrap().len() == 2
    };
    let seats = json!({"ticket_type": "stalls", "seats": ["A-1-1", "B-1-1", "B-1-2"]});
    withdrawn_after(&section, is_kept, &seats).await;
}

/// A section is brought in parts, and its bringing may die between two of them.
#[tokio::test]
async fn a_section_of_which_redis_has_a_part_is_brought_before_its_seats_are_withdrawn() {
    let body = json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": 2}]});
    let section = put("/events/show/seat-map/sections/B", &body);
    let is_kept = async |office: &Office| {
        let is_kept = office.get("/events/show/seat-map").await.json()["sections"][1].is_object();
        if is_kept {
            let (kind, part) =
                (TicketTypeId::parse("stalls"), [SeatLabel::parse("B-1-1").unwrap()]);
            let added =
                office.inventory.seats_add(&id("show"), Epoch(1), &kind.unwrap(), 6, &part).await;
            assert_ne!(added.unwrap(), Written::StaleEpoch);
        }
        is_kept
    };
    let seats = json!({"ticket_type": "stalls", "seats": ["B-1-1", "B-1-2"]});
    withdrawn_after(&section, is_kept, &seats).await;
}

/// It dies when its order is stored, and Redis has given the units to a fan by then.
#[tokio::test]
async fn a_withdrawal_that_goes_on_is_not_refused_by_its_own_units() {
    let office = Office::with_sale().await;
    let house = WithdrawalId::parse("house").unwrap();
    let seats = json!({"ticket_type": "stalls", "seats": ["A-1-1", "A-1-2"]});
    let storing = office.wire.stop("TransactWriteItems", "Put");
    let (died, ()) = futures::join!(office.withdraw("house", &seats), async {
        storing.arrived().await;
        let begun = office.store.withdrawal_fetch(&id("show"), &house).await.unwrap().unwrap();
        let order = begun.orders[0];
        let owner = CustomerId::of_withdrawal(order.to_string()).unwrap().key();
        let released = office.inventory.release(&id("show"), Epoch(1), &order, &owner).await;
        assert_eq!(released.unwrap(), Released::GivenBack);
        let hold = office.hold("fan", stalls(&["A-1-2"])).await;
        assert!(matches!(hold, Reservation::Held(_)), "{hold:?}");
        office.wire.break_after(1);
        storing.open();
    });
    office.wire.heal();
    assert_eq!((died.status, office.owned("stalls").await), (503, 2));
    assert_eq!(office.remaining("stalls").await, 5, "Redis knows of the fan alone");

    let again = office.withdraw("house", &seats).await;
    assert!(is_success(&again), "{}", again.raw.body);
    assert_eq!((office.owned("stalls").await, office.remaining("stalls").await), (2, 4));
}

/// A failover loses that Redis ever knew its order.
#[tokio::test]
async fn a_withdrawal_that_redis_forgot_is_taken_and_its_loss_is_told() {
    let office = Office::with_sale().await;
    let then = office.in_redis();
    let seats = json!({"ticket_type": "stalls", "seats": ["A-1-1", "A-1-2"]});
    let storing = office.wire.stop("TransactWriteItems", "Put");
    let (died, ()) = futures::join!(office.withdraw("house", &seats), async {
        storing.arrived().await;
        office.lose_writes_since(&then);
        let hold = office.hold("fan", stalls(&["A-1-2"])).await;
        assert!(matches!(hold, Reservation::Held(_)), "{hold:?}");
        office.wire.break_after(1);
        storing.open();
    });
    office.wire.heal();
    assert_eq!((died.status, office.owned("stalls").await), (503, 2));

    let (again, lines) = logged(office.withdraw("house", &seats)).await;
    assert!(is_success(&again), "{}", again.raw.body);
    assert_eq!(office.owned("stalls").await, 2);
    assert_eq!(metrics(&lines).collect::<Vec<_>>(), ["redis_lost_writes"]);
}

/// It dies before it has taken anything, and what it wants can't be had.
#[tokio::test]
async fn a_withdrawal_that_owns_nothing_looks_before_it_goes_on() {
    let office = Office::with_sale().await;
    office.buy("fan", floor(4)).await;
    let house = WithdrawalId::parse("house").unwrap();
    let too_many = json!({"ticket_type": "floor", "quantity": 61});
    for calls in 0..MOST_CALLS {
        office.wire.break_after(calls);
        office.withdraw("house", &too_many).await;
        office.wire.heal();
        let begun = office.store.withdrawal_fetch(&id("show"), &house).await.unwrap();
        if begun.is_none_or(|record| record.state != WithdrawalState::Taking) {
            continue;
        }
        let before = office.position().await;
        let refused = office.withdraw("house", &too_many).await;
        assert_eq!((refused.status, refused.json()["remaining"].as_u64()), (409, Some(60)));
        assert_eq!(office.position().await, before);
        return;
    }
    panic!("no break came between the record and its first order");
}

#[tokio::test]
async fn a_cut_that_is_about_to_count_is_left_alone() {
    let path = "/events/show/ticket-types/floor";
    for calls in 0..MOST_CALLS {
        let office = Office::with_sale().await;
        let lower = put(path, &places(4)).header("if-match", "\"v1\"");
        office.wire.break_after(calls);
        lower.clone().send(&office.router).await;
        office.wire.heal();
        let is_cut = office.owned("floor").await == 60;
        if !is_cut || office.ticket_type("floor").await["version"] != 1 {
            continue;
        }
        let same = office.edit(path, 1, &places(64)).await;
        assert_eq!((same.status, same.json()["version"].as_u64()), (200, Some(1)));
        assert_eq!(office.owned("floor").await, 60);
        assert_eq!(lower.send(&office.router).await.status, 200);
        assert_eq!(office.remaining("floor").await, 4);
        return;
    }
    panic!("no break came between the cut and its type");
}
