//! Events.

use contracts::problem::{Language, Text};
use lambda_kit::testing::TestRequest;
use serde_json::{Value, json};

use crate::given::{Office, event_body, pointers};

#[tokio::test]
async fn an_event_is_created_once_and_edited_by_its_version() {
    let office = Office::open().await;
    let created = office.create("/events/show", &event_body()).await;
    let body = created.json();
    assert_eq!(body["version"], 1);
    assert_eq!(body["state"], "scheduled");
    assert_eq!(body["sale"]["opens_at"], "2020-01-01T02:00:00Z");
    assert_eq!(body["sale"]["opens_at_local"], "2020-01-01T10:00:00+08:00");

    let put = TestRequest::put("/events/show").operator("op").header("if-none-match", "*");
    let again = put.json(&event_body()).send(&office.router).await;
    assert_eq!((again.status, again.reason().as_str()), (412, "version_mismatch"));

    let mut edit = event_body();
    edit["title"] = json!("Another name");
    let edited = office.edit("/events/show", 1, &edit).await;
    assert_eq!(edited.status, 200);
    assert_eq!(edited.json()["version"], 2);
    edit["title"] = json!("A third name");
    assert_eq!(office.edit("/events/show", 1, &edit).await.status, 412);
    assert_eq!(office.edit("/events/none", 1, &edit).await.status, 404);
    assert_eq!(office.put("/events/show", &edit).await.status, 428);
    assert_eq!(office.get("/events/show").await.json()["title"], "Another name");
}

#[tokio::test]
async fn whichever_version_there_is_can_be_edited_but_nothing_can_not() {
    let office = Office::open().await;
    let put = |body: &Value| TestRequest::put("/events/show").operator("op").json(body);
    let edit = |body: &Value| put(body).header("if-match", "*").send(&office.router);
    let nothing = edit(&event_body()).await;
    assert_eq!((nothing.status, nothing.reason().as_str()), (412, "version_mismatch"));
    assert_eq!(office.get("/events/show").await.status, 404);
    office.create("/events/show", &event_body()).await;
    let called = |title: &str| {
        let mut body = event_body();
        body["title"] = json!(title);
        body
    };
    for (title, version) in [("Second", 2), ("Second", 2), ("Third", 3)] {
        let edited = edit(&called(title)).await;
        assert_eq!((edited.status, edited.json()["version"].as_u64()), (200, Some(version)));
    }
    // Both have read the same version before either writes.
    office.wire.gather("UpdateItem", 2);
    let (one, other) = (called("One"), called("Other"));
    let (one, other) = futures::join!(edit(&one), edit(&other));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 503], "the later one is to be sent again");
    assert_eq!(edit(&called("Other")).await.status, 200);
}

#[tokio::test]
async fn of_two_who_create_the_same_event_at_once_one_is_told_it_did() {
    let office = Office::open().await;
    // Both have found no event before either puts one.
    office.wire.gather("PutItem", 2);
    let put = TestRequest::put("/events/show").operator("op").header("if-none-match", "*");
    let put = put.json(&event_body());
    let (one, other) =
        futures::join!(put.clone().send(&office.router), put.clone().send(&office.router));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 412]);
    assert_eq!(office.get("/events/show").await.json()["version"], 1);
}

#[tokio::test]
async fn the_same_edit_twice_is_one_edit() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let mut edit = event_body();
    edit["limit_per_customer"] = json!(4);
    for _ in 0..2 {
        let answer = office.edit("/events/show", 1, &edit).await;
        assert_eq!((answer.status, answer.json()["version"].as_u64()), (200, Some(2)));
    }
}

#[tokio::test]
async fn of_two_operators_who_edit_at_once_one_is_told() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let edits = (0..8).map(|n| {
        let mut edit = event_body();
        edit["title"] = json!(format!("Name {n}"));
        let office = &office;
        async move { office.edit("/events/show", 1, &edit).await.status }
    });
    let mut statuses = futures::future::join_all(edits).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412]);
}

#[tokio::test]
async fn the_tag_that_was_read_edits_and_saves_a_copy() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let read = office.get("/events/show").await;
    assert_eq!((read.status, read.header("cache-control")), (200, "public, max-age=2"));
    let tag = read.header("etag").to_owned();
    assert_eq!(tag, "\"v1-scheduled\"");
    let has = TestRequest::get("/events/show").header("if-none-match", &tag);
    assert_eq!(has.send(&office.router).await.status, 304);

    let mut edit = event_body();
    edit["title"] = json!("Another name");
    let put = TestRequest::put("/events/show").operator("op").header("if-match", &tag).json(&edit);
    assert_eq!(put.send(&office.router).await.status, 200);
    let has = TestRequest::get("/events/show").header("if-none-match", &tag);
    assert_eq!(has.send(&office.router).await.status, 200);
}

#[tokio::test]
async fn a_sale_opens_and_closes_by_the_servers_clock() {
    let office = Office::open().await;
    for (event, opens_at, closes_at, state) in [
        ("before", "2098-12-01T10:00:00+08:00", "2099-01-01T00:00:00Z", "scheduled"),
        ("during", "2020-12-01T10:00:00+08:00", "2099-01-01T00:00:00Z", "open"),
        ("after", "2020-12-01T10:00:00+08:00", "2021-01-01T00:00:00Z", "closed"),
    ] {
        let mut body = event_body();
        body["sale"] = json!({"opens_at": opens_at, "closes_at": closes_at});
        office.create(&format!("/events/{event}"), &body).await;
        let sale = TestRequest::put(&format!("/events/{event}/sale")).operator("op");
        let sale = sale.header("idempotency-key", "k").json(&json!({"state": "open"}));
        assert_eq!(sale.send(&office.router).await.json()["state"], state, "{event}");
        let read = office.get(&format!("/events/{event}")).await.json();
        assert_eq!((&read["state"], &read["sale"]["state"]), (&json!(state), &json!(state)));
    }
}

#[tokio::test]
async fn the_currency_stays() {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    let mut edit = event_body();
    edit["currency"] = json!("USD");
    let answer = office.edit("/events/show", 1, &edit).await;
    assert_eq!((answer.status, pointers(&answer)), (409, vec!["/currency".to_owned()]));
}

#[tokio::test]
async fn only_operators_write() {
    let office = Office::open().await;
    for path in [
        "/events/show",
        "/events/show/sale",
        "/events/show/ticket-types/floor",
        "/events/show/seat-map/sections/A",
        "/events/show/withdrawals/house",
    ] {
        let nobody = TestRequest::put(path).json(&json!({})).send(&office.router).await;
        assert_eq!(nobody.status, 401, "{path}");
        let fan = TestRequest::put(path).fan("fan").json(&json!({})).send(&office.router).await;
        assert_eq!((fan.status, fan.reason().as_str()), (403, "forbidden"), "{path}");
    }
    let fan = TestRequest::delete("/events/show/withdrawals/house").fan("fan");
    assert_eq!(fan.send(&office.router).await.status, 403);
}

async fn fault(office: &Office, change: impl Fn(&mut Value)) -> (u16, Vec<String>) {
    let mut body = event_body();
    change(&mut body);
    let put = TestRequest::put("/events/show").operator("op").header("if-none-match", "*");
    let answer = put.json(&body).send(&office.router).await;
    (answer.status, pointers(&answer))
}

#[tokio::test]
async fn a_wrong_field_is_named() {
    let office = Office::open().await;
    let named = |pointer: &str| (400, vec![pointer.to_owned()]);
    let (title, zone) = (|body: &mut Value| body["title"] = json!(7), "/time_zone");
    assert_eq!(fault(&office, title).await, named("/title"));
    let elsewhere = |body: &mut Value| body["time_zone"] = json!("Mars/Olympus");
    assert_eq!(fault(&office, elsewhere).await, named(zone));
    let city = |body: &mut Value| body["venue"]["city"] = json!(null);
    assert_eq!(fault(&office, city).await, named("/venue/city"));
    let start = |body: &mut Value| body["starts_at"] = json!("soon");
    assert_eq!(fault(&office, start).await, named("/starts_at"));
    let mut body = event_body();
    body["sale"]["opens_at"] = json!("2026-12-01");
    let put = TestRequest::put("/events/show").operator("op").header("if-none-match", "*");
    let told = put.json(&body).send(&office.router).await.json()["errors"][0].clone();
    let rule = Text::Instant.in_language(Language::English);
    assert_eq!(told, json!({"pointer": "/sale/opens_at", "detail": rule}));
    let currency = |body: &mut Value| body["currency"] = json!("dollars");
    assert_eq!(fault(&office, currency).await, named("/currency"));
    let limit = |body: &mut Value| body["limit_per_customer"] = json!(-1);
    assert_eq!(fault(&office, limit).await, named("/limit_per_customer"));
    let colour = |body: &mut Value| body["colour"] = json!("red");
    assert_eq!(fault(&office, colour).await, named("/colour"));
    let backwards = |body: &mut Value| {
        body["title"] = json!("");
        body["sale"]["closes_at"] = json!("2019-01-01T00:00:00Z");
    };
    let both = (400, vec!["/title".to_owned(), "/sale/closes_at".to_owned()]);
    assert_eq!(fault(&office, backwards).await, both);
    assert_eq!(office.get("/events/show").await.status, 404, "none of these made an event");
}

#[tokio::test]
async fn what_is_no_json_is_refused() {
    let office = Office::open().await;
    let put = || TestRequest::put("/events/show").operator("op").header("if-none-match", "*");
    let json = || put().header("content-type", "application/json");
    assert_eq!(json().text("{\"title\": ").send(&office.router).await.status, 400);
    assert_eq!(json().text("").send(&office.router).await.status, 400);
    assert_eq!(json().bytes(b"{\"title\": \"\xff\"}").send(&office.router).await.status, 400);
    assert_eq!(put().text("{}").send(&office.router).await.status, 415);
    let large = format!("{{\"title\": \"{}\"}}", "x".repeat(1_100_000));
    assert_eq!(json().text(&large).send(&office.router).await.status, 413);
}

#[tokio::test]
async fn an_id_that_is_none_names_nothing() {
    let office = Office::open().await;
    for event in ["a%20b", "a{b", "a:b", "a%23b", &"x".repeat(65), "%F0%9F%8E%AB"] {
        let answer = office.get(&format!("/events/{event}")).await;
        assert_eq!((answer.status, pointers(&answer)), (404, vec!["path:event".to_owned()]));
        let put = TestRequest::put(&format!("/events/{event}")).operator("op");
        let put = put.header("if-none-match", "*").json(&event_body());
        assert_eq!(put.send(&office.router).await.status, 404, "{event}");
    }
}
