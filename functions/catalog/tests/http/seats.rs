//! What watchers read.

use contracts::seats::{SeatsBody, SectionStates};
use domain::UnitState::{self, Free, Held, Sold, Withdrawn};
use lambda_kit::testing::TestRequest;
use redis_store::Reservation;
use serde_json::json;
use test_support::wire::Fault;

use crate::given::{Office, floor, places, pointers, stalls};

async fn snapshot(office: &Office) -> SeatsBody {
    let answer = office.get("/events/show/seats").await;
    assert_eq!(answer.header("cache-control"), "public, max-age=1");
    serde_json::from_value(answer.json()).unwrap()
}

fn states(snapshot: &SeatsBody) -> Vec<UnitState> {
    snapshot.sections.iter().flat_map(|section| SectionStates::unpack(section).unwrap()).collect()
}

#[tokio::test]
async fn a_snapshot_shows_every_seat_and_what_is_left() {
    let office = Office::with_show().await;
    let before = snapshot(&office).await;
    assert_eq!((before.epoch, before.seat_map_version), (0, 1));
    assert_eq!(states(&before), [Free; 6]);

    office.switch("open").await;
    office.buy("fan-1", stalls(&["A-1-2"])).await;
    office.hold("fan-2", stalls(&["A-2-1"])).await;
    office.hold("fan-3", floor(4)).await;
    let house = json!({"ticket_type": "stalls", "seats": ["A-2-3"]});
    office.withdraw("house", &house).await;
    let after = snapshot(&office).await;
    assert_eq!(after.epoch, 1);
    assert_eq!(states(&after), [Free, Sold, Free, Held, Free, Withdrawn]);
    let left: Vec<_> = after.ticket_types.iter().map(|left| left.remaining).collect();
    assert_eq!(left, [60, 3]);

    let answer = office.get("/events/show/seats").await;
    let has = TestRequest::get("/events/show/seats").header("if-none-match", answer.header("etag"));
    assert_eq!(has.send(&office.router).await.status, 304);
    assert_eq!(office.get("/events/none/seats").await.status, 404);
}

#[tokio::test]
async fn changes_lead_from_a_snapshot_to_the_next() {
    let office = Office::with_sale().await;
    let start = snapshot(&office).await;
    let changes = |from: u64| {
        let path = format!("/events/show/seats/changes?epoch=1&after={from}");
        let office = &office;
        async move { office.get(&path).await }
    };
    let silence = changes(start.sequence).await;
    assert_eq!(
        (silence.status, silence.json()),
        (
            200,
            json!({"event": "show", "epoch": 1, "from": start.sequence, "to": start.sequence,
                     "sections": []})
        )
    );
    office.hold("fan-1", stalls(&["A-1-1", "A-2-3"])).await;
    office.buy("fan-2", stalls(&["A-1-2"])).await;
    let heard = changes(start.sequence).await.json();
    assert_eq!(heard["sections"], json!([{"section": "A", "held": [0, 5], "sold": [1]}]));
    assert_eq!(heard["ticket_types"], json!([{"ticket_type": "stalls", "remaining": 3}]));
    assert_eq!(heard["to"], snapshot(&office).await.sequence);
}

#[tokio::test]
async fn a_section_that_is_added_while_on_sale_is_told_and_in_every_snapshot_that_is_as_new() {
    let office = Office::with_sale().await;
    let start = snapshot(&office).await;
    let changes = format!("/events/show/seats/changes?epoch=1&after={}", start.sequence);
    // Reads the hall.
    office.hold("fan-1", stalls(&["A-1-1"])).await;
    assert_eq!(office.get(&changes).await.status, 200);
    let section = json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": 2}]});
    office.create("/events/show/seat-map/sections/B", &section).await;
    office.wire.next("Query", lagging());
    let with_b = snapshot(&office).await;
    assert!(office.wire.is_spent());
    assert_eq!(states(&with_b), [Held, Free, Free, Free, Free, Free, Free, Free]);
    let house = json!({"ticket_type": "stalls", "seats": ["B-1-2"]});
    office.withdraw("house", &house).await;
    let heard = office.get(&changes).await.json();
    let sections = json!([
        {"section": "A", "held": [0]},
        {"section": "B", "free": [0], "withdrawn": [1]},
    ]);
    assert_eq!(heard["sections"], sections);
    assert_eq!(heard["ticket_types"], json!([{"ticket_type": "stalls", "remaining": 6}]));
}

/// A read that lags: the types are as before there were any.
fn lagging() -> Fault {
    Fault::Answer(200, json!({"Items": [], "Count": 0, "ScannedCount": 0}).to_string())
}

#[tokio::test]
async fn no_map_before_the_first_sale_lacks_a_section_that_its_position_says_is_there() {
    let office = Office::with_show().await;
    let section = json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": 2}]});
    office.create("/events/show/seat-map/sections/B", &section).await;
    // The types are as they are now, the sections as before there were any.
    let hall = office.wire.stop("Query", "section#");
    let router = office.another_environment();
    let lagging = async {
        hall.arrived().await;
        office.wire.next("Query", lagging());
        hall.open();
    };
    let (early, ()) = futures::join!(TestRequest::get("/events/show/seats").send(&router), lagging);
    assert_eq!((early.status, office.wire.is_spent()), (503, true), "{}", early.raw.body);
    assert_eq!(states(&snapshot(&office).await).len(), 8);
}

#[tokio::test]
async fn what_happens_while_a_snapshot_is_made_whole_is_told_to_who_goes_on_from_it() {
    let office = Office::with_sale().await;
    // Reads the hall.
    snapshot(&office).await;
    office.wire.next("Query", lagging());
    let hall = office.wire.stop("Query", r#""ConsistentRead":true"#);
    let happens = async {
        hall.arrived().await;
        office.hold("fan", stalls(&["A-1-1"])).await;
        hall.open();
    };
    let (made, ()) = futures::join!(snapshot(&office), happens);
    assert_eq!(states(&made), [Held, Free, Free, Free, Free, Free]);
    // So would a section be that was added then, which is in no snapshot of this hall.
    let changes = format!("/events/show/seats/changes?epoch=1&after={}", made.sequence);
    let heard = office.get(&changes).await.json();
    assert_eq!(heard["sections"], json!([{"section": "A", "held": [0]}]));
}

#[tokio::test]
async fn who_is_too_far_behind_is_sent_to_a_snapshot() {
    let office = Office::with_show().await;
    let start = snapshot(&office).await.sequence;
    office.switch("open").await;
    let gone = office.get(&format!("/events/show/seats/changes?epoch=0&after={start}")).await;
    assert_eq!((gone.status, gone.reason().as_str()), (410, "gone"));
    assert_eq!(gone.json()["snapshot"], "/events/show/seats");
    assert_eq!(gone.json()["epoch"], 1);
    assert_eq!(office.get("/events/show/seats/changes?epoch=1&after=999999").await.status, 410);
    for (query, pointer) in [
        ("", "query:epoch"),
        ("epoch=1", "query:after"),
        ("epoch=1&after=-1", "query:after"),
        ("epoch=x&after=1", "query:epoch"),
        ("epoch=1&epoch=2&after=1", "query:epoch"),
    ] {
        let answer = office.get(&format!("/events/show/seats/changes?{query}")).await;
        assert_eq!((answer.status, pointers(&answer)), (400, vec![pointer.to_owned()]), "{query}");
    }
}

#[tokio::test]
async fn before_the_first_sale_every_edit_of_the_hall_is_another_position() {
    let office = Office::with_show().await;
    let changes_since = async |shown: &SeatsBody| {
        let query = format!("epoch={}&after={}", shown.epoch, shown.sequence);
        office.get(&format!("/events/show/seats/changes?{query}")).await
    };
    let section = json!({"ticket_type": "stalls", "rows": [{"row": "1", "seats": 2}]});
    for (path, version, body) in [
        ("/events/show/seat-map/sections/B", None, section),
        ("/events/show/ticket-types/floor", Some(1), places(65)),
    ] {
        let shown = snapshot(&office).await;
        let nothing = changes_since(&shown).await;
        assert_eq!((nothing.status, &nothing.json()["to"]), (200, &json!(shown.sequence)));
        let edited = match version {
            Some(version) => office.edit(path, version, &body).await,
            None => office.put(path, &body).await,
        };
        assert!(edited.status < 300, "{}", edited.raw.body);
        let gone = changes_since(&shown).await;
        assert_eq!((gone.status, gone.reason().as_str()), (410, "gone"));
        let now = snapshot(&office).await;
        assert_eq!(gone.json()["sequence"], now.sequence);
        assert!(now.sequence > shown.sequence);
    }
    assert_eq!(states(&snapshot(&office).await), [Free; 8]);
}

#[tokio::test]
async fn one_seat_is_available_locked_or_sold() {
    let office = Office::with_show().await;
    let status = |seat: &str| {
        let path = format!("/events/show/seats/{seat}/lock-status");
        let office = &office;
        async move { office.get(&path).await.json() }
    };
    assert_eq!(status("A-1-1").await, json!({"seat": "A-1-1", "status": "available"}));
    office.switch("open").await;
    office.hold("fan-1", stalls(&["A-1-1"])).await;
    let locked = status("A-1-1").await;
    assert_eq!(locked["status"], "locked");
    assert!((590..=600).contains(&locked["remaining_seconds"].as_u64().unwrap()), "{locked}");
    office.buy("fan-2", stalls(&["A-1-2"])).await;
    assert_eq!(status("A-1-2").await, json!({"seat": "A-1-2", "status": "sold"}));
    assert_eq!(status("A-1-3").await["status"], "available");
}

#[tokio::test]
async fn an_invented_seat_is_none() {
    let office = Office::with_sale().await;
    for seat in ["A-9-1", "A-1-4", "B-1-1", "A-1", "nonsense", "A--1"] {
        let answer = office.get(&format!("/events/show/seats/{seat}/lock-status")).await;
        assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_seat"), "{seat}");
        assert_eq!(pointers(&answer), ["path:seat"]);
    }
    let invented = office.hold("fan", stalls(&["A-9-1"])).await;
    assert!(matches!(invented, Reservation::UnknownSeat { .. }), "{invented:?}");
}
