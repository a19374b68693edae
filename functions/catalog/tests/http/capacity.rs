//! Lowering and raising a capacity (B18).

use domain::TicketType;
use lambda_kit::testing::{TestRequest, TestResponse};
use redis_store::Reservation;
use serde_json::{Value, json};
use test_support::wire::Fault;

use crate::given::{Office, event_body, floor, id, places, pointers, type_id};

const FLOOR: &str = "/events/show/ticket-types/floor";

async fn version(office: &Office) -> u64 {
    office.ticket_type("floor").await["version"].as_u64().unwrap()
}

async fn resize(office: &Office, capacity: u32) -> TestResponse {
    office.edit(FLOOR, version(office).await, &places(capacity)).await
}

async fn sell(office: &Office, sold: u32) {
    let mut left = sold;
    while left > 0 {
        let now = left.min(4);
        office.buy(&format!("buyer-{left}"), floor(now)).await;
        left -= now;
    }
}

fn numbers(answer: &TestResponse, names: &[&str]) -> Vec<Option<u64>> {
    let body = answer.json();
    names.iter().map(|name| body[*name].as_u64()).collect()
}

#[tokio::test]
async fn a_capacity_below_what_is_sold_is_refused_cleanly_and_a_higher_one_sells() {
    let office = Office::with_sale().await;
    sell(&office, 44).await;
    let refused = resize(&office, 16).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "conflict"));
    assert_eq!(pointers(&refused), ["/capacity"]);
    assert_eq!(
        numbers(&refused, &["capacity", "lowest_capacity", "sold", "held", "remaining"]),
        [Some(64), Some(44), Some(44), Some(0), Some(20)]
    );
    let unchanged = office.ticket_type("floor").await;
    assert_eq!((&unchanged["capacity"], &unchanged["remaining"]), (&64.into(), &20.into()));
    assert_eq!(office.owned("floor").await, 44);

    assert_eq!(resize(&office, 70).await.status, 200);
    assert_eq!(office.remaining("floor").await, 26);
    sell_rest(&office, 26).await;
    let refused = office.hold("one-too-many", floor(1)).await;
    assert_eq!(refused, Reservation::SoldOut { line: 0 });
    assert_eq!(office.owned("floor").await, 70);
}

#[tokio::test]
async fn while_a_lower_ends_refused_no_place_changes_hands() {
    let office = Office::with_sale().await;
    sell(&office, 20).await;
    let before = office.position().await;
    // An order of forty could be had, but not the one of eight after it.
    let refused = resize(&office, 16).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "conflict"));
    assert_eq!(numbers(&refused, &["lowest_capacity", "remaining"]), [Some(20), Some(44)]);
    assert_eq!(office.position().await, before);
}

async fn sell_rest(office: &Office, count: u32) {
    for n in 0..count {
        office.buy(&format!("late-{n}"), floor(1)).await;
    }
}

#[tokio::test]
async fn a_lowered_capacity_holds_and_a_raised_one_first_gives_back() {
    let office = Office::with_sale().await;
    sell(&office, 44).await;
    let lowered = resize(&office, 50).await;
    assert_eq!(
        (lowered.status, numbers(&lowered, &["capacity", "remaining"])),
        (200, vec![Some(50), Some(6)])
    );
    assert_eq!(office.owned("floor").await, 58, "44 sold, 14 withdrawn");
    assert_eq!(office.hold("fan", floor(7)).await, Reservation::SoldOut { line: 0 });

    let raised = resize(&office, 70).await;
    assert_eq!(numbers(&raised, &["capacity", "remaining"]), [Some(70), Some(26)]);
    assert_eq!(office.owned("floor").await, 44);
    let types = office
        .store
        .ticket_types_list(&id("show"), dynamo_store::Consistency::Strong)
        .await
        .unwrap();
    assert_eq!(types[0].ceiling, 70, "14 came back, 6 are new");
}

#[tokio::test]
async fn up_and_down_in_odd_steps_the_capacity_is_what_can_be_sold() {
    let office = Office::with_show().await;
    office.create("/events/show/ticket-types/other", &places(9)).await;
    office.switch("open").await;
    sell(&office, 10).await;
    for capacity in [63, 20, 21, 37, 300, 120, 121, 10, 11, 255, 64, 10] {
        let answer = resize(&office, capacity).await;
        assert_eq!(answer.status, 200, "{capacity}: {}", answer.raw.body);
        let floor = office.ticket_type("floor").await;
        assert_eq!(floor["capacity"], capacity);
        assert_eq!(floor["remaining"], capacity - 10, "{capacity}");
    }
    assert_eq!(office.remaining("other").await, 9, "another type is untouched");
}

#[tokio::test]
async fn house_places_stay_withdrawn_when_the_capacity_changes() {
    let office = Office::with_sale().await;
    let house = serde_json::json!({"ticket_type": "floor", "quantity": 5});
    assert_eq!(office.withdraw("house", &house).await.status, 201);
    assert_eq!(resize(&office, 60).await.status, 200);
    assert_eq!(office.remaining("floor").await, 55);
    assert_eq!(resize(&office, 80).await.status, 200);
    assert_eq!(office.remaining("floor").await, 75);
    let mut renamed = places(80);
    renamed["name"] = Value::from("Standing");
    assert_eq!(office.edit(FLOOR, version(&office).await, &renamed).await.status, 200);
    assert_eq!(office.remaining("floor").await, 75);
    assert_eq!(office.delete("/events/show/withdrawals/house").await.status, 204);
    assert_eq!(office.remaining("floor").await, 80);
}

#[tokio::test]
async fn before_the_first_opening_a_capacity_is_just_another_number() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.create(FLOOR, &places(100_000)).await;
    assert_eq!(resize(&office, 16).await.status, 200);
    office.switch("open").await;
    assert_eq!(office.remaining("floor").await, 16);
    office.buy("fan", floor(16)).await;
    assert_eq!(office.hold("fan-2", floor(1)).await, Reservation::SoldOut { line: 0 });
    assert_eq!(office.owned("floor").await, 16);
}

#[tokio::test]
async fn a_capacity_that_was_a_placeholder_spreads_its_units_like_one_that_was_not() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.create(FLOOR, &places(1)).await;
    assert_eq!(resize(&office, 20_000).await.status, 200);
    assert_eq!(stored(&office).await.partitions, 20);
    office.switch("open").await;
    office.buy("fan", floor(4)).await;
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (19_996, 4));
    assert_eq!(resize(&office, 30_000).await.status, 200);
    assert_eq!(stored(&office).await.partitions, 20, "units are found where they were put");
    assert_eq!(office.owned("floor").await, 4);
}

#[tokio::test]
async fn a_capacity_goes_down_in_bounded_steps() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.create(FLOOR, &places(10_000)).await;
    office.switch("open").await;
    let refused = resize(&office, 7_999).await;
    assert_eq!((refused.status, pointers(&refused)), (400, vec!["/capacity".to_owned()]));
    assert_eq!(resize(&office, 8_000).await.status, 200);
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (8_000, 2_000));
}

#[tokio::test]
async fn two_operators_who_lower_to_the_same_capacity_share_one_cut() {
    for _ in 0..5 {
        let office = Office::with_sale().await;
        let edits = ["One", "Another", "A third"].map(|name| {
            let mut body = places(50);
            body["name"] = Value::from(name);
            let put = TestRequest::put(FLOOR).operator("op");
            let router = office.another_environment();
            async move { put.header("if-match", "\"v1\"").json(&body).send(&router).await.status }
        });
        let mut statuses = futures::future::join_all(edits).await;
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 412, 412]);
        assert_eq!((office.remaining("floor").await, office.owned("floor").await), (50, 14));
    }
}

#[tokio::test]
async fn of_two_operators_who_resize_at_once_one_wins_and_it_adds_up() {
    for _ in 0..5 {
        let office = Office::with_sale().await;
        let (six, forty) = (places(60), places(40));
        let (one, other) =
            futures::join!(office.edit(FLOOR, 1, &six), office.edit(FLOOR, 1, &forty));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 412]);
        // Whatever was left behind, the next edit puts right.
        assert_eq!(resize(&office, 50).await.status, 200);
        assert_eq!((office.remaining("floor").await, office.owned("floor").await), (50, 14));
    }
}

/// A type of as many places as one can have, on sale.
async fn with_the_highest_ceiling() -> Office {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.create(FLOOR, &places(1_000_000)).await;
    office.switch("open").await;
    office
}

async fn stored(office: &Office) -> TicketType {
    let read = office.store.ticket_type_fetch(&id("show"), &type_id("floor")).await.unwrap();
    read.unwrap()
}

#[tokio::test]
async fn a_raise_between_orders_is_refused_where_the_ceiling_can_not_grow() {
    let office = with_the_highest_ceiling().await;
    assert_eq!(resize(&office, 999_960).await.status, 200);
    let before = stored(&office).await;
    let refused = resize(&office, 999_970).await;
    assert_eq!((refused.status, refused.reason().as_str()), (409, "conflict"));
    assert_eq!(pointers(&refused), ["/capacity"]);
    let names = ["capacity_below", "capacity_above"];
    assert_eq!(numbers(&refused, &names), [Some(999_960), Some(1_000_000)]);
    assert_eq!(stored(&office).await, before, "nothing is written");
    assert_eq!(office.remaining("floor").await, 999_960);

    let raised = resize(&office, 1_000_000).await;
    assert_eq!((raised.status, raised.json()["remaining"].as_u64()), (200, Some(1_000_000)));
    assert_eq!(office.owned("floor").await, 0);
}

#[tokio::test]
async fn a_raise_that_meets_another_edit_in_the_same_moment_is_tried_again() {
    let office = Office::with_sale().await;
    assert_eq!(resize(&office, 4).await.status, 200);
    office.wire.next("TransactWriteItems", Fault::cancelled(&["TransactionConflict", "None"]));
    assert_eq!(resize(&office, 24).await.status, 200);
    assert!(office.wire.is_spent());
    assert_eq!(office.remaining("floor").await, 24);
}

/// A raise that dies anywhere, and another edit instead of its repeat.
#[tokio::test]
async fn whatever_comes_after_a_raise_that_died_the_capacity_is_what_can_be_sold() {
    for other in [4, 10, 20, 30, 64] {
        for calls in 0..60 {
            let office = Office::with_sale().await;
            assert_eq!(resize(&office, 4).await.status, 200);
            let raise = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v2\"");
            office.wire.break_after(calls);
            let raised = raise.json(&places(24)).send(&office.router).await;
            office.wire.heal();
            let other_edit = resize(&office, other).await;
            assert_eq!(other_edit.status, 200, "{calls}, {other}: {}", other_edit.raw.body);
            let after = office.ticket_type("floor").await;
            assert_eq!((&after["capacity"], &after["remaining"]), (&json!(other), &json!(other)));
            if raised.status == 200 {
                break;
            }
            assert!(calls < 59, "the raise never got through");
        }
    }
}

#[tokio::test]
async fn a_late_edit_from_before_the_first_opening_brings_back_no_place() {
    let office = Office::with_show().await;
    let resizing = office.wire.stop("TransactWriteItems", "#epoch = :none");
    let late = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
    let router = office.another_environment();
    let sold = async {
        resizing.arrived().await;
        assert_eq!(office.edit(FLOOR, 1, &places(50)).await.status, 200);
        office.switch("open").await;
        resizing.open();
    };
    let (late, ()) = futures::join!(late.json(&places(40)).send(&router), sold);
    assert_eq!(late.status, 412, "{}", late.raw.body);
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (50, 0));
}

#[tokio::test]
async fn a_lower_after_a_raise_that_died_takes_the_places_that_redis_did_not_know_of() {
    for calls in 0..60 {
        let office = Office::with_sale().await;
        sell(&office, 64).await;
        let raise = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
        office.wire.break_after(calls);
        let raised = raise.json(&places(100)).send(&office.router).await;
        office.wire.heal();
        let lowered = resize(&office, 90).await;
        assert_eq!(lowered.status, 200, "{calls}: {}", lowered.raw.body);
        assert_eq!(office.remaining("floor").await, 26, "{calls}");
        if raised.status == 200 {
            return;
        }
    }
    panic!("the raise never got through");
}

/// A lower that dies anywhere, and another edit instead of its repeat.
#[tokio::test]
async fn whatever_comes_after_a_lower_that_died_the_capacity_is_what_can_be_sold() {
    for other in [3, 10, 30, 80] {
        for calls in 0..60 {
            let office = Office::with_sale().await;
            let lower = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
            office.wire.break_after(calls);
            let lowered = lower.json(&places(4)).send(&office.router).await;
            office.wire.heal();
            let other_edit = resize(&office, other).await;
            assert_eq!(other_edit.status, 200, "{calls}, {other}: {}", other_edit.raw.body);
            let after = office.ticket_type("floor").await;
            assert_eq!((&after["capacity"], &after["remaining"]), (&json!(other), &json!(other)));
            if lowered.status == 200 {
                break;
            }
            assert!(calls < 59, "the lower never got through");
        }
    }
}

/// The write of a capacity, not those of its cut.
const CAPACITY_WRITE: &str = "#ceiling <= :ceiling";

#[tokio::test]
async fn of_two_lowers_without_room_for_both_one_makes_room_and_the_other_is_told() {
    let office = Office::with_sale().await;
    sell(&office, 44).await;
    // The first has its 14 places and is about to say so; then the second has its 18.
    let [first, second] = [(); 2].map(|()| office.wire.stop("TransactWriteItems", CAPACITY_WRITE));
    let lower = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
    let slow = office.another_environment();
    let (told, rival, ()) = futures::join!(
        async {
            let told = lower.json(&places(50)).send(&slow).await;
            second.open();
            told
        },
        async {
            first.arrived().await;
            office.edit(FLOOR, 1, &places(46)).await
        },
        async {
            second.arrived().await;
            first.open();
        }
    );
    assert_eq!((told.status, rival.status), (412, 200), "{}", told.raw.body);
    let after = office.ticket_type("floor").await;
    assert_eq!((&after["capacity"], &after["remaining"]), (&json!(46), &json!(2)));
}

#[tokio::test]
async fn a_lower_for_which_there_never_is_room_leaves_another_alone() {
    let office = Office::with_sale().await;
    sell(&office, 44).await;
    let about_to_count = office.wire.stop("TransactWriteItems", CAPACITY_WRITE);
    let lower = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
    let slow = office.another_environment();
    let rival = async {
        about_to_count.arrived().await;
        let refused = office.edit(FLOOR, 1, &places(30)).await;
        about_to_count.open();
        refused
    };
    let (lowered, refused) = futures::join!(lower.json(&places(50)).send(&slow), rival);
    assert_eq!((lowered.status, refused.status), (200, 409), "{}", lowered.raw.body);
    assert_eq!(numbers(&refused, &["lowest_capacity", "remaining"]), [Some(44), Some(6)]);
    assert_eq!(office.remaining("floor").await, 6);
}

#[tokio::test]
async fn while_redis_is_gone_nothing_is_said_to_be_too_low() {
    let office = Office::with_sale().await;
    sell(&office, 44).await;
    // One has its 14 places and is about to say so; the other finds 6, and wants 18.
    let about_to_count = office.wire.stop("TransactWriteItems", CAPACITY_WRITE);
    let lower = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
    let slow = office.another_environment();
    let rival = async {
        about_to_count.arrived().await;
        let giving_back = office.wire.stop("PutItem", "refused");
        let body = places(46);
        let (told, ()) = futures::join!(office.edit(FLOOR, 1, &body), async {
            giving_back.arrived().await;
            office.lose_inventory();
            giving_back.open();
        });
        about_to_count.open();
        told
    };
    let (_, told) = futures::join!(lower.json(&places(50)).send(&slow), rival);
    assert_eq!((told.status, told.reason().as_str()), (503, "unavailable"), "{}", told.raw.body);
}

#[tokio::test]
async fn a_lower_that_finds_redis_gone_does_not_say_that_it_is_kept() {
    let office = Office::with_sale().await;
    let before = stored(&office).await;
    let about_to_sync = office.wire.stop("UpdateItem", "mark#floor");
    let body = places(50);
    let (told, ()) = futures::join!(office.edit(FLOOR, 1, &body), async {
        about_to_sync.arrived().await;
        office.lose_inventory();
        about_to_sync.open();
    });
    assert_eq!((told.status, told.reason().as_str()), (503, "unavailable"));
    let detail = told.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("recovered"), "{detail}");
    assert_eq!(stored(&office).await, before);
}

#[tokio::test]
async fn an_edit_that_changes_nothing_leaves_the_next_attempt_of_a_lower_alone() {
    let office = Office::with_sale().await;
    sell(&office, 44).await;
    office.hold("fan", floor(4)).await;
    // A lower to 44 finds 16 of its 20 places, and gives back.
    let giving_back = office.wire.stop("PutItem", "refused");
    let lower = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
    let same = lower.clone().json(&places(64));
    let (slow, other) = (office.another_environment(), office.another_environment());
    let meanwhile = async {
        giving_back.arrived().await;
        let listing = office.wire.stop("Query", "withdrawal#");
        let (same, counting) = futures::join!(same.send(&other), async {
            listing.arrived().await;
            // What comes next knows of a cut that is being returned.
            let about_to_act = office.wire.stop("GetItem", "");
            listing.open();
            about_to_act.arrived().await;
            office.let_go("fan", floor(4)).await;
            let counting = office.wire.stop("TransactWriteItems", CAPACITY_WRITE);
            giving_back.open();
            counting.arrived().await;
            assert_eq!(office.owned("floor").await, 64, "the lower has got its places");
            about_to_act.open();
            counting
        });
        counting.open();
        same
    };
    let (lowered, same) = futures::join!(lower.json(&places(44)).send(&slow), meanwhile);
    assert_eq!((lowered.status, same.status), (200, 200), "{}", lowered.raw.body);
    assert_eq!((office.remaining("floor").await, office.owned("floor").await), (0, 64));
}

#[tokio::test]
async fn what_a_lower_that_died_has_not_taken_is_not_counted_as_if_it_had() {
    for calls in 0..60 {
        let office = Office::with_sale().await;
        sell(&office, 20).await;
        // Two orders, of 40 and of 2.
        let lower = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
        office.wire.break_after(calls);
        let lowered = lower.json(&places(22)).send(&office.router).await;
        office.wire.heal();
        if lowered.status == 200 {
            return;
        }
        if office.ticket_type("floor").await["version"] == 1 {
            let refused = office.edit(FLOOR, 1, &places(10)).await;
            assert_eq!(refused.status, 409, "{calls}: {}", refused.raw.body);
            assert_eq!(numbers(&refused, &["lowest_capacity"]), [Some(20)], "{calls}");
        }
    }
    panic!("the lower never got through");
}

#[tokio::test]
async fn two_operators_who_send_the_same_edit_at_once_both_have_made_it() {
    for capacity in [50, 80] {
        let office = Office::with_sale().await;
        let edits = [(), ()].map(|()| {
            let edit = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v1\"");
            let router = office.another_environment();
            async move { edit.json(&places(capacity)).send(&router).await.status }
        });
        assert_eq!(futures::future::join_all(edits).await, [200, 200]);
        assert_eq!(office.remaining("floor").await, u64::from(capacity));
    }
}

#[tokio::test]
async fn a_raise_takes_back_as_many_reductions_as_a_transaction_holds() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.create(FLOOR, &places(200)).await;
    office.switch("open").await;
    for capacity in (100..200).rev() {
        assert_eq!(resize(&office, capacity).await.status, 200);
    }
    let refused = resize(&office, 200).await;
    assert_eq!((refused.status, pointers(&refused)), (400, vec!["/capacity".to_owned()]));
    for capacity in [199, 200] {
        assert_eq!(resize(&office, capacity).await.status, 200);
        assert_eq!(office.remaining("floor").await, u64::from(capacity));
    }
    assert_eq!(office.owned("floor").await, 0);
}

#[tokio::test]
async fn a_slow_raise_gives_back_no_more_than_it_said_whatever_comes_in_between() {
    for lower in [80, 100, 159] {
        let office = Office::open().await;
        office.create("/events/show", &event_body()).await;
        office.create(FLOOR, &places(200)).await;
        office.switch("open").await;
        assert_eq!(resize(&office, 80).await.status, 200);
        // Two of three orders are to be given back, and stand at their gates.
        let gates = [(); 2].map(|()| office.wire.stop("TransactWriteItems", "Delete"));
        let raise = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v2\"");
        let raise = raise.json(&places(160));
        let slow = office.another_environment();
        let lowering = async {
            for gate in &gates {
                gate.arrived().await;
            }
            assert_eq!(office.ticket_type("floor").await["capacity"], 160);
            let lowered = resize(&office, lower).await;
            for gate in &gates {
                gate.open();
            }
            lowered
        };
        let (raised, lowered) = futures::join!(raise.send(&slow), lowering);
        assert_eq!((raised.status, lowered.status), (200, 200), "{}", lowered.raw.body);
        let after = office.ticket_type("floor").await;
        assert_eq!((&after["capacity"], &after["remaining"]), (&json!(lower), &json!(lower)));
        assert_eq!(office.owned("floor").await, 200 - lower as usize);
    }
}

#[tokio::test]
async fn a_raise_that_is_planned_while_another_edit_is_written_is_planned_again_or_refused() {
    let office = Office::with_sale().await;
    assert_eq!(resize(&office, 4).await.status, 200);
    // Both have read the same cuts before either writes.
    office.wire.gather("TransactWriteItems", 2);
    let edits = [24, 44].map(|capacity| {
        let raise = TestRequest::put(FLOOR).operator("op").header("if-match", "\"v2\"");
        let router = office.another_environment();
        async move { raise.json(&places(capacity)).send(&router).await.status }
    });
    let mut statuses = futures::future::join_all(edits).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
    let after = office.ticket_type("floor").await;
    assert_eq!(after["capacity"], after["remaining"]);
}
