//! Ticket types.

use lambda_kit::testing::TestRequest;
use redis_store::Reservation;
use serde_json::{Value, json};

use crate::given::{Office, event_body, floor, numbered, places, pointers};

const FLOOR: &str = "/events/show/ticket-types/floor";

#[tokio::test]
async fn a_type_is_created_edited_and_listed() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let created = office.create(FLOOR, &places(600)).await;
    assert_eq!(created.header("etag"), "\"v1\"");
    let mut edit = places(600);
    edit["price"]["amount"] = json!(300_000);
    let edited = office.edit(FLOOR, 1, &edit).await;
    assert_eq!((edited.status, edited.header("etag")), (200, "\"v2\""));
    let listed = office.ticket_type("floor").await;
    assert_eq!(
        listed,
        json!({
            "id": "floor",
            "kind": "general_admission",
            "name": "Floor",
            "price": {"amount": 300_000, "currency": "TWD"},
            "capacity": 600,
            "remaining": 600,
            "version": 2,
        })
    );
}

#[tokio::test]
async fn a_type_may_be_created_without_saying_so_and_edited_only_by_version() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    assert_eq!(office.put(FLOOR, &places(600)).await.status, 201);
    assert_eq!(office.put(FLOOR, &places(600)).await.status, 200, "again is fine");
    assert_eq!(office.put(FLOOR, &places(500)).await.status, 428);
    let put = TestRequest::put(FLOOR).operator("op").header("if-none-match", "*");
    assert_eq!(put.json(&places(600)).send(&office.router).await.status, 412);
    assert_eq!(office.edit(FLOOR, 7, &places(500)).await.status, 412);
    assert_eq!(office.edit("/events/show/ticket-types/none", 1, &places(5)).await.status, 412);
    assert_eq!(office.ticket_type("floor").await["version"], 1);
}

#[tokio::test]
async fn whichever_version_of_a_type_there_is_can_be_edited_but_nothing_can_not() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let put = |body: &Value| TestRequest::put(FLOOR).operator("op").json(body);
    let edit = |body: &Value| put(body).header("if-match", "*").send(&office.router);
    assert_eq!(edit(&places(600)).await.status, 412);
    office.create(FLOOR, &places(600)).await;
    for (capacity, version) in [(500, 2), (500, 2), (400, 3)] {
        let edited = edit(&places(capacity)).await;
        assert_eq!((edited.status, edited.json()["version"].as_u64()), (200, Some(version)));
    }
    // Both have read the same version before either writes.
    office.wire.gather("TransactWriteItems", 2);
    let (one, other) = (places(300), places(200));
    let (one, other) = futures::join!(edit(&one), edit(&other));
    let later = if one.status == 200 { &other } else { &one };
    assert_eq!(one.status + other.status, 200 + 503, "the later one is to be sent again");
    assert_eq!(later.json()["detail"], "Too many edits at once");
}

#[tokio::test]
async fn of_two_who_create_the_same_type_at_once_one_is_told_it_did() {
    for (creates, told_late) in [(true, 412), (false, 200)] {
        let office = Office::open().await;
        office.create("/events/show", &event_body()).await;
        // Both have found no type before either puts one.
        office.wire.gather("TransactWriteItems", 2);
        let put = TestRequest::put(FLOOR).operator("op").json(&places(600));
        let put = if creates { put.header("if-none-match", "*") } else { put };
        let (one, other) =
            futures::join!(put.clone().send(&office.router), put.clone().send(&office.router));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        let mut expected = [201, told_late];
        expected.sort_unstable();
        assert_eq!(statuses, expected);
    }
}

#[tokio::test]
async fn a_type_keeps_its_kind_and_the_events_currency() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.create(FLOOR, &places(600)).await;
    let answer = office.edit(FLOOR, 1, &numbered()).await;
    assert_eq!((answer.status, pointers(&answer)), (409, vec!["/kind".to_owned()]));
    let mut dear = places(600);
    dear["price"]["currency"] = json!("USD");
    let answer = office.edit(FLOOR, 1, &dear).await;
    assert_eq!((answer.status, pointers(&answer)), (400, vec!["/price/currency".to_owned()]));
    assert_eq!(office.put("/events/none/ticket-types/floor", &places(1)).await.status, 404);
}

#[tokio::test]
async fn types_made_at_once_each_get_a_place_in_the_list() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let makes = (0..12).map(|n| {
        let office = &office;
        async move {
            let path = format!("/events/show/ticket-types/t{n}");
            office.put(&path, &places(n + 1)).await.status
        }
    });
    assert_eq!(futures::future::join_all(makes).await, [201; 12]);

    let mut seen = Vec::new();
    let mut next = String::new();
    loop {
        let page = office.get(&format!("/events/show/ticket-types?limit=5{next}")).await.json();
        let types = page["ticket_types"].as_array().unwrap();
        seen.extend(types.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(token) => next = format!("&next={token}"),
            None => break,
        }
    }
    seen.sort_by_key(|id| id[1..].parse::<u32>().unwrap());
    assert_eq!(seen, (0..12).map(|n| format!("t{n}")).collect::<Vec<_>>());
    for bad in ["limit=0", "limit=101", "limit=x", "next=-1", "limit=1&limit=2"] {
        let answer = office.get(&format!("/events/show/ticket-types?{bad}")).await;
        assert_eq!(answer.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_new_price_is_the_next_holds_price() {
    let office = Office::with_sale().await;
    let Reservation::Held(before) = office.hold("fan-1", floor(1)).await else { panic!() };
    let mut edit = places(64);
    edit["price"]["amount"] = json!(1);
    assert_eq!(office.edit(FLOOR, 1, &edit).await.status, 200);
    let Reservation::Held(after) = office.hold("fan-2", floor(1)).await else { panic!() };
    let price = |hold: &redis_store::Hold| (hold.lines[0].unit_amount, hold.lines[0].price_version);
    assert_eq!((price(&before), price(&after)), ((280_000, 1), (1, 2)));
    let Reservation::Replayed(held) = office.hold("fan-1", floor(1)).await else { panic!() };
    assert_eq!(price(&held), (280_000, 1), "who holds pays what was said");
}

#[tokio::test]
async fn a_type_that_comes_after_the_opening_is_on_sale() {
    let office = Office::with_sale().await;
    let path = "/events/show/ticket-types/balcony";
    office.create(path, &places(2)).await;
    assert_eq!(office.put(path, &places(2)).await.status, 200);
    assert_eq!(office.remaining("balcony").await, 2);
    let mut line = floor(2);
    line.ticket_type = crate::given::type_id("balcony");
    assert!(matches!(office.hold("fan", line).await, Reservation::Held(_)));
    assert_eq!(office.remaining("balcony").await, 0);
}

#[tokio::test]
async fn what_remains_follows_holds() {
    let office = Office::with_sale().await;
    assert_eq!(office.remaining("floor").await, 64);
    office.hold("fan", floor(3)).await;
    assert_eq!(office.remaining("floor").await, 61);
    let read = office.get("/events/show/ticket-types").await;
    assert_eq!(read.header("cache-control"), "public, max-age=1");
    let tag = read.header("etag").to_owned();
    let has = TestRequest::get("/events/show/ticket-types").header("if-none-match", &tag);
    assert_eq!(has.send(&office.router).await.status, 304);
    office.hold("fan-2", floor(1)).await;
    let has = TestRequest::get("/events/show/ticket-types").header("if-none-match", &tag);
    assert_eq!(has.send(&office.router).await.status, 200);
}

#[tokio::test]
async fn a_wrong_field_is_named() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let with = |field: &str, value: Value| {
        let mut body = places(600);
        body[field] = value;
        body
    };
    for (body, pointer) in [
        (with("capacity", json!(0)), "/capacity"),
        (with("capacity", json!(1_000_001)), "/capacity"),
        (with("capacity", json!("600")), "/capacity"),
        (with("capacity", json!(null)), "/capacity"),
        (with("kind", json!("standing")), "/kind"),
        (with("name", json!("")), "/name"),
        (with("price", json!({"amount": -5, "currency": "TWD"})), "/price/amount"),
        (with("price", json!({"amount": 1.5, "currency": "TWD"})), "/price/amount"),
        (with("price", json!({"amount": 1_000_000_001, "currency": "TWD"})), "/price/amount"),
        (with("limit_per_customer", json!(0)), "/limit_per_customer"),
        (with("ceiling", json!(5)), "/ceiling"),
    ] {
        let answer = office.put(FLOOR, &body).await;
        assert_eq!((answer.status, pointers(&answer)), (400, vec![pointer.to_owned()]), "{body}");
    }
}
