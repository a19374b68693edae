//! The sale: opening loads the inventory, and nothing ever resets a live one.

use domain::{Epoch, SaleSwitch};
use dynamo_store::Consistency;
use lambda_kit::testing::TestRequest;
use redis_store::{Pointer, Reservation};
use serde_json::json;
use test_support::wire::Fault;

use crate::given::{Office, command, event_body, floor, id, numbered, places, pointers, stalls};

#[tokio::test]
async fn opening_loads_everything_and_marks_it() {
    let office = Office::with_show().await;
    let answer = office.command("k", "open").await;
    assert_eq!((answer.status, answer.json()["state"].as_str()), (200, Some("open")));
    assert_eq!(answer.header("etag"), "\"v2-open\"");
    let event = office.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap().unwrap();
    assert_eq!((event.epoch, event.activated), (Epoch(1), true));
    let pointer = office.inventory.pointer(&id("show")).await.unwrap();
    assert_eq!(pointer, Some(Pointer::Active(Epoch(1))));
    assert_eq!(office.remaining("floor").await, 64);
    assert_eq!(office.remaining("stalls").await, 6);
    assert!(matches!(office.hold("fan-1", stalls(&["A-2-3"])).await, Reservation::Held(_)));
    // Serials are issued below the durable mark only: its first block is there.
    assert!(matches!(office.hold("fan-2", floor(20)).await, Reservation::Held(_)));
    let grant = office.hold("fan-3", floor(1)).await;
    assert!(matches!(grant, Reservation::GrantNeeded { mark: 20, ceiling: 64, .. }), "{grant:?}");
}

#[tokio::test]
async fn a_sale_goes_on_where_it_was_paused() {
    let office = Office::with_sale().await;
    let Reservation::Held(held) = office.hold("fan-1", floor(2)).await else { panic!() };
    office.switch("paused").await;
    assert_eq!(office.get("/events/show").await.json()["state"], "paused");
    assert_eq!(office.hold("fan-2", floor(1)).await, Reservation::Paused);
    assert_eq!(office.hold("fan-1", floor(2)).await, Reservation::Replayed(held));
    office.switch("open").await;
    assert!(matches!(office.hold("fan-2", floor(1)).await, Reservation::Held(_)));
    office.switch("closed").await;
    assert_eq!(office.hold("fan-3", floor(1)).await, Reservation::Closed);
    assert_eq!(office.get("/events/show").await.json()["state"], "closed");
    office.switch("open").await;
    assert_eq!(office.remaining("floor").await, 61);
}

#[tokio::test]
async fn what_is_no_object_or_no_word_commands_nothing() {
    let office = Office::with_sale().await;
    for (body, pointer) in [(json!(["closed"]), ""), (json!({"state": {"closed": null}}), "/state")]
    {
        let path = "/events/show/sale";
        let request = TestRequest::put(path).operator("op").header("idempotency-key", "k");
        let answer = request.json(&body).send(&office.another_environment()).await;
        assert_eq!((answer.status, pointers(&answer)), (400, vec![pointer.to_owned()]), "{body}");
    }
    assert_eq!(office.get("/events/show").await.json()["state"], "open");
}

#[tokio::test]
async fn opening_again_never_resets_a_live_sale() {
    let office = Office::with_sale().await;
    office.buy("fan-1", stalls(&["A-1-1"])).await;
    office.hold("fan-2", stalls(&["A-1-2"])).await;
    let opens = (0..10).map(|n| {
        let router = office.another_environment();
        async move { command(&router, &format!("again-{n}"), "open").await.status }
    });
    assert_eq!(futures::future::join_all(opens).await, [200; 10]);
    let event = office.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap().unwrap();
    assert_eq!(event.epoch, Epoch(1));
    for (fan, seat) in [("fan-3", "A-1-1"), ("fan-4", "A-1-2")] {
        let refused = office.hold(fan, stalls(&[seat])).await;
        assert!(matches!(refused, Reservation::SeatTaken { .. }), "{refused:?}");
    }
}

/// DynamoDB changes the items of a transaction one after the other: the event may be told
/// already that a type is resized, which any other read still finds in its old size.
#[tokio::test]
async fn no_type_reaches_redis_that_somebody_is_resizing() {
    let office = Office::with_show().await;
    let resizing = || Fault::cancelled(&["None", "TransactionConflict"]);
    (0..5).for_each(|_| office.wire.next("TransactGetItems", resizing()));
    assert_eq!(office.command("k", "open").await.status, 503);
    assert!(office.wire.is_spent());
    assert_eq!(
        office.inventory.pointer(&id("show")).await.unwrap(),
        Some(Pointer::Building(Epoch(1)))
    );

    // It takes a moment only.
    (0..3).for_each(|_| office.wire.next("TransactGetItems", resizing()));
    assert_eq!(office.command("k", "open").await.status, 200);
    assert!(office.wire.is_spent());
    assert_eq!(office.remaining("floor").await, 64);

    office.wire.next("TransactGetItems", Fault::cancelled(&["TransactionConflict"]));
    let raise = office.edit("/events/show/ticket-types/floor", 1, &places(70)).await;
    assert_eq!(raise.status, 200, "{}", raise.raw.body);
    assert!(office.wire.is_spent());
    assert_eq!(office.remaining("floor").await, 70);

    // What is stored is told to be so.
    office.wire.next("TransactGetItems", Fault::cancelled(&["ThrottlingError"]));
    let kept = office.edit("/events/show/ticket-types/floor", 2, &places(80)).await;
    assert_eq!(kept.status, 503);
    assert!(kept.raw.body.contains("It is kept"), "{}", kept.raw.body);
    assert_eq!(office.edit("/events/show/ticket-types/floor", 2, &places(80)).await.status, 200);
    assert_eq!(office.remaining("floor").await, 80);
}

#[tokio::test]
async fn of_many_who_open_at_once_one_loads() {
    let office = Office::with_show().await;
    let opens = (0..20).map(|n| {
        let router = office.patient_environment();
        async move { command(&router, &format!("open-{n}"), "open").await }
    });
    for answer in futures::future::join_all(opens).await {
        assert_eq!(answer.status, 200, "{}", answer.raw.body);
    }
    assert_eq!(office.remaining("floor").await, 64);
    assert_eq!(office.remaining("stalls").await, 6);
    let event = office.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap().unwrap();
    assert!(event.activated);
}

#[tokio::test]
async fn a_command_that_comes_again_late_changes_nothing() {
    let office = Office::with_show().await;
    assert_eq!(office.command("open-1", "open").await.status, 200);
    assert_eq!(office.command("pause-1", "paused").await.status, 200);
    let late = office.command("open-1", "open").await;
    assert_eq!((late.status, late.json()["state"].as_str()), (200, Some("paused")));
    assert_eq!(office.hold("fan", floor(1)).await, Reservation::Paused);
    let other = office.command("pause-1", "closed").await;
    assert_eq!((other.status, other.reason().as_str()), (422, "key_reused"));
    let put = TestRequest::put("/events/show/sale").operator("another");
    let put = put.header("idempotency-key", "open-1").json(&json!({"state": "open"}));
    assert_eq!(put.send(&office.router).await.json()["state"], "open", "a key is its operator's");
}

#[tokio::test]
async fn a_key_is_never_new_again_however_many_commands_came_after_it() {
    let office = Office::with_show().await;
    assert_eq!(office.command("first", "open").await.status, 200);
    for n in 0..40 {
        office.command(&format!("pause-{n}"), "paused").await;
        office.command(&format!("open-{n}"), "open").await;
    }
    office.command("last", "paused").await;
    let late = office.command("first", "open").await;
    assert_eq!((late.status, late.json()["state"].as_str()), (200, Some("paused")));
    assert_eq!(office.hold("fan", floor(1)).await, Reservation::Paused);
    let other = office.command("pause-0", "closed").await;
    assert_eq!((other.status, other.reason().as_str()), (422, "key_reused"));
    assert_eq!(office.get("/events/show").await.json()["state"], "paused");
}

#[tokio::test]
async fn a_key_that_was_used_loads_nothing_under_another_word() {
    let office = Office::with_show().await;
    assert_eq!(office.command("k", "paused").await.status, 200);
    assert_eq!(office.command("k", "open").await.status, 422);
    let event = office.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap().unwrap();
    assert_eq!((event.switch, event.epoch), (SaleSwitch::Paused, Epoch(0)));
}

#[tokio::test]
async fn an_open_that_loads_slowly_does_not_undo_the_pause_after_its_repeat() {
    let office = Office::with_show().await;
    let gate = office.wire.stop("UpdateItem", "#epoch = :raised");
    let router = office.another_environment();
    let meanwhile = async {
        gate.arrived().await;
        assert_eq!(office.command("open-1", "open").await.status, 200, "the repeat");
        assert_eq!(office.command("pause-1", "paused").await.status, 200);
        gate.open();
    };
    let (slow, ()) = futures::join!(command(&router, "open-1", "open"), meanwhile);
    assert_eq!((slow.status, slow.json()["state"].as_str()), (200, Some("paused")));
    assert_eq!(office.hold("fan", floor(1)).await, Reservation::Paused);
}

#[tokio::test]
async fn a_command_needs_a_key_and_a_word_it_knows() {
    let office = Office::with_show().await;
    let without = office.put("/events/show/sale", &json!({"state": "open"})).await;
    assert_eq!(crate::given::pointers(&without), ["header:Idempotency-Key"]);
    for state in [json!("scheduled"), json!("OPEN"), json!(null), json!(1)] {
        let put = TestRequest::put("/events/show/sale").operator("op");
        let put = put.header("idempotency-key", "k").json(&json!({"state": state}));
        let answer = put.send(&office.router).await;
        let pointers = crate::given::pointers(&answer);
        assert_eq!((answer.status, pointers), (400, vec!["/state".to_owned()]), "{state}");
    }
    let event = office.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap().unwrap();
    assert_eq!((event.switch, event.epoch), (SaleSwitch::Scheduled, Epoch(0)));
}

#[tokio::test]
async fn an_event_may_be_paused_or_closed_before_it_was_ever_opened() {
    let office = Office::with_show().await;
    office.switch("paused").await;
    assert_eq!(office.get("/events/show").await.json()["state"], "paused");
    assert_eq!(office.inventory.pointer(&id("show")).await.unwrap(), None);
    office.switch("open").await;
    assert!(matches!(office.hold("fan", floor(1)).await, Reservation::Held(_)));
}

#[tokio::test]
async fn an_inventory_that_sold_and_is_gone_is_not_loaded_afresh() {
    let office = Office::with_sale().await;
    office.buy("fan", floor(2)).await;
    office.lose_inventory();
    for state in ["open", "paused"] {
        let answer = office.command(&format!("after-{state}"), state).await;
        assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"), "{state}");
        assert_ne!(answer.header("retry-after"), "");
    }
    assert_eq!(office.inventory.pointer(&id("show")).await.unwrap(), None);
    assert_eq!(office.get("/events/show/seats").await.status, 503);
    assert_eq!(office.get("/events/show/ticket-types").await.status, 503);
    let withdrawn = office.withdraw("w", &json!({"ticket_type": "floor", "quantity": 1})).await;
    assert_eq!(withdrawn.status, 503);
    assert_eq!(office.get("/events/show").await.status, 200);
    let event = office.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap().unwrap();
    assert_eq!(event.switch, SaleSwitch::Paused, "what was said last waits for the recovery");
}

#[tokio::test]
async fn window_and_limit_follow_an_edit() {
    let office = Office::with_sale().await;
    let mut edit = event_body();
    edit["limit_per_customer"] = json!(2);
    assert_eq!(office.edit("/events/show", 2, &edit).await.status, 200);
    let refused = office.hold("fan", floor(3)).await;
    assert_eq!(refused, Reservation::OverLimit { ticket_type: None, limit: 2 });
    edit["sale"] = json!({"opens_at": "2098-01-01T00:00:00Z", "closes_at": "2099-01-01T00:00:00Z"});
    assert_eq!(office.edit("/events/show", 3, &edit).await.status, 200);
    assert!(matches!(office.hold("fan", floor(1)).await, Reservation::NotOpen { .. }));
    assert_eq!(office.get("/events/show").await.json()["state"], "scheduled");
    edit["sale"] = json!({"opens_at": "2020-01-01T00:00:00Z", "closes_at": "2021-01-01T00:00:00Z"});
    assert_eq!(office.edit("/events/show", 4, &edit).await.status, 200);
    assert_eq!(office.hold("fan", floor(1)).await, Reservation::Closed);
}

#[tokio::test]
async fn an_event_may_be_opened_before_it_has_anything_to_sell() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.switch("open").await;
    office.create("/events/show/ticket-types/floor", &places(5)).await;
    office.create("/events/show/ticket-types/stalls", &numbered()).await;
    assert!(matches!(office.hold("fan", floor(5)).await, Reservation::Held(_)));
}
