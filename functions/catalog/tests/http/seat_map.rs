//! The seat map.

use domain::TicketType;
use lambda_kit::testing::{TestRequest, TestResponse};
use redis_store::Reservation;
use serde_json::{Value, json};

use crate::given::{Office, event_body, id, numbered, places, pointers, stalls, type_id};

async fn put_csv(office: &Office, path: &str, body: &[u8]) -> TestResponse {
    let put =
        TestRequest::put(path).operator("op").header("content-type", "text/csv; charset=utf-8");
    put.bytes(body).send(&office.router).await
}

fn section(rows: &Value) -> Value {
    json!({"ticket_type": "stalls", "rows": rows})
}

async fn with_stalls() -> Office {
    let office = Office::open().await;
    office.create("/events/show", &event_body()).await;
    office.create("/events/show/ticket-types/stalls", &numbered()).await;
    office
}

const A: &str = "/events/show/seat-map/sections/A";

#[tokio::test]
async fn a_section_comes_once_as_json_or_csv() {
    let office = with_stalls().await;
    let body = section(&json!([{"row": "1", "seats": 2}, {"row": "2", "seats": ["7", "9"]}]));
    assert_eq!(office.put(A, &body).await.status, 201);
    let csv = b"row,seat\n1,1\n1,2\n2,7\n2,9\n";
    let same = put_csv(&office, &format!("{A}?ticket_type=stalls"), csv).await;
    assert_eq!((same.status, same.json()["count"].as_u64()), (200, Some(4)));
    let other = office.put(A, &section(&json!([{"row": "1", "seats": 3}]))).await;
    assert_eq!((other.status, other.reason().as_str()), (409, "conflict"));
    let b = "/events/show/seat-map/sections/B?ticket_type=stalls";
    assert_eq!(put_csv(&office, b, csv).await.status, 201);
    assert_eq!(office.ticket_type("stalls").await["capacity"], 8);
}

#[tokio::test]
async fn a_section_that_comes_again_needs_no_room() {
    let office = with_stalls().await;
    let body = section(&json!([{"row": "1", "seats": 2}]));
    assert_eq!(office.put(A, &body).await.status, 201);
    let stalls = office.store.ticket_type_fetch(&id("show"), &type_id("stalls")).await.unwrap();
    let stalls = stalls.unwrap();
    let full = TicketType { ceiling: 999_999, version: stalls.version + 1, ..stalls };
    office.store.ticket_type_update(&id("show"), &full).await.unwrap();
    let same = office.put(A, &body).await;
    assert_eq!((same.status, same.json()["count"].as_u64()), (200, Some(2)), "{}", same.raw.body);
    let other = section(&json!([{"row": "1", "seats": 3}]));
    let b = "/events/show/seat-map/sections/B";
    for (path, body, word) in [(A, &other, "section"), (b, &body, "1000000")] {
        let refused = office.put(path, body).await;
        assert_eq!((refused.status, refused.reason().as_str()), (409, "conflict"), "{path}");
        let detail = refused.json()["detail"].as_str().unwrap().replace(',', "");
        assert!(detail.contains(word), "{detail}");
    }
}

#[tokio::test]
async fn the_map_may_be_kept_for_ever_under_its_version() {
    let office = with_stalls().await;
    office.put(A, &section(&json!([{"row": "1", "seats": 2}]))).await;
    let map = office.get("/events/show/seat-map").await;
    assert_eq!(map.header("cache-control"), "public, max-age=60");
    assert_eq!(
        map.json(),
        json!({"event": "show", "version": 1, "sections": [
            {"section": "A", "ticket_type": "stalls", "count": 2,
             "rows": [{"row": "1", "seats": ["1", "2"]}]},
        ]})
    );
    let kept = office.get("/events/show/seat-map?version=1").await;
    assert_eq!(kept.header("cache-control"), "public, max-age=31536000, immutable");
    office
        .put("/events/show/seat-map/sections/B", &section(&json!([{"row": 1, "seats": 1}])))
        .await;
    let grown = office.get("/events/show/seat-map?version=1").await;
    assert_eq!(grown.header("cache-control"), "public, max-age=60");
    assert_eq!(grown.json()["version"], 2);
    assert_eq!(office.get("/events/none/seat-map").await.status, 404);
}

#[tokio::test]
async fn a_hall_of_15_000_seats_comes_in_parts() {
    let office = with_stalls().await;
    let rows: Vec<Value> = (1..=50).map(|row| json!({"row": row, "seats": 100})).collect();
    let uploads =
        ["A", "B", "C"].map(|name| {
            let (office, body) = (&office, section(&json!(rows)));
            async move {
                office.put(&format!("/events/show/seat-map/sections/{name}"), &body).await.status
            }
        });
    assert_eq!(futures::future::join_all(uploads).await, [201; 3]);
    office.switch("open").await;
    assert_eq!(office.remaining("stalls").await, 15_000);
    let last = office.hold("fan", stalls(&["A-50-100", "B-1-1", "C-50-100"])).await;
    assert!(matches!(last, Reservation::Held(_)));
    assert_eq!(office.remaining("stalls").await, 14_997);
    let map = office.get("/events/show/seat-map").await;
    assert!(map.raw.body.len() < 200_000, "{}", map.raw.body.len());
}

#[tokio::test]
async fn a_section_that_comes_after_the_opening_is_on_sale() {
    let office = with_stalls().await;
    office.switch("open").await;
    let body = section(&json!([{"row": "1", "seats": 2}]));
    assert_eq!(office.put(A, &body).await.status, 201);
    assert_eq!(office.put(A, &body).await.status, 200);
    assert_eq!(office.remaining("stalls").await, 2);
    assert!(matches!(office.hold("fan", stalls(&["A-1-2"])).await, Reservation::Held(_)));
    let snapshot = office.get("/events/show/seats").await.json();
    assert_eq!(snapshot["seat_map_version"], 1);
}

#[tokio::test]
async fn a_section_needs_seats_and_a_type_that_has_some() {
    let office = with_stalls().await;
    office.create("/events/show/ticket-types/floor", &places(5)).await;
    let rows = json!([{"row": "1", "seats": 2}]);
    let mut body = section(&rows);
    body["ticket_type"] = json!("none");
    let answer = office.put(A, &body).await;
    assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_ticket_type"));
    assert_eq!(pointers(&answer), ["/ticket_type"]);
    body["ticket_type"] = json!("floor");
    let answer = office.put(A, &body).await;
    assert_eq!((answer.status, pointers(&answer)), (400, vec!["/ticket_type".to_owned()]));
    for (rows, pointer) in [
        (json!([]), "/rows"),
        (json!([{"row": "1", "seats": 0}]), "/rows"),
        (json!([{"row": "1", "seats": 1_000_000_000}]), "/rows/0/seats"),
        (json!([{"row": "1", "seats": ["1", "1"]}]), "/rows/0/seats/1"),
        (json!([{"row": "a b", "seats": 1}]), "/rows/0/seats/0"),
        (json!([{"row": "1", "seats": "many"}]), "/rows/0/seats"),
        (json!([{"row": "1", "seats": 1}, {"row": "1", "seats": 1}]), "/rows/1/row"),
    ] {
        let answer = office.put(A, &section(&rows)).await;
        assert_eq!((answer.status, pointers(&answer)), (400, vec![pointer.to_owned()]), "{rows}");
    }
    assert_eq!(office.put("/events/none/seat-map/sections/A", &section(&rows)).await.status, 404);
    assert_eq!(office.get("/events/show/seat-map").await.json()["version"], 0);
}

#[tokio::test]
async fn a_wrong_line_of_a_file_is_named() {
    let office = with_stalls().await;
    let path = format!("{A}?ticket_type=stalls");
    for (body, pointer) in [
        (&b"seat,row\n1,1\n"[..], ""),
        (b"row,seat\n1,1\n1,1\n", "/1/seat"),
        (b"row,seat\n1,1\n1\n", "/1"),
        (b"row,seat\n1,\xff\xfe\n", "/0"),
    ] {
        let answer = put_csv(&office, &path, body).await;
        assert_eq!((answer.status, pointers(&answer)), (400, vec![pointer.to_owned()]));
    }
    let answer = put_csv(&office, A, b"row,seat\n1,1\n").await;
    assert_eq!((answer.status, pointers(&answer)), (400, vec!["query:ticket_type".to_owned()]));
    let answer = put_csv(&office, &format!("{A}?ticket_type=none"), b"row,seat\n1,1\n").await;
    assert_eq!((answer.status, pointers(&answer)), (404, vec!["query:ticket_type".to_owned()]));
}
