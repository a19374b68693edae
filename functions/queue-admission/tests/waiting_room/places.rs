//! Places in line: joining, entering, leaving.

use std::time::Duration;

use crate::room::{MINE, PLACES, Room, body, settings};
use contracts::queue::{AdmissionBody, PlaceStateBody};
use domain::{
    CustomerId, Epoch, EventId, Fingerprint, IdempotencyKey, Line, Operation, OrderId, OrderLines,
    QueueSettings, TicketTypeId, Wanted,
};
use dynamo_store::GenerationRaised;
use futures::future::join_all;
use lambda_kit::clock;
use lambda_kit::testing::TestRequest;
use redis_store::{
    LineSettings, Mode, Redis, RedisMode, Reservation, Reserve, Session, WaitingRoom,
};
use serde_json::json;
use tokens::{Keys, PublicKey};

async fn keys(room: &Room) -> Keys {
    let stored = room.hall.catalog.keys_list().await.unwrap();
    Keys::new(PublicKey::parse_all(stored.iter().map(|key| &key.jwk)))
}

/// What a purchase in this session comes to at the till.
async fn buy(room: &Room, fan: &str, session: Session) -> Reservation {
    let customer = CustomerId::parse(fan).unwrap();
    let event = EventId::parse("gala").unwrap();
    let key = IdempotencyKey::parse("k").unwrap();
    let line =
        Line { ticket_type: TicketTypeId::parse("floor").unwrap(), wanted: Wanted::Quantity(1) };
    let lines = OrderLines::new(vec![line]).unwrap();
    let reserve = Reserve {
        epoch: Epoch(1),
        order: OrderId::derive(&customer, Operation::PlaceOrder, &event, &key),
        customer: customer.key(),
        fingerprint: Fingerprint::v1(&lines),
        lines,
        hold: Duration::from_secs(600),
        mode: Mode::Buy,
        session: Some(session),
        event,
    };
    room.hall.inventory.reserve(&reserve).await.unwrap()
}

#[tokio::test]
async fn a_fan_joins_enters_and_leaves() {
    let room = Room::with_cap(1).await;
    let joined = room.join("fan-1").await;
    assert_eq!((joined.status, joined.header("cache-control")), (201, "no-store"));
    let place = room.joined("fan-1").await;
    assert_eq!((place.number, place.ahead, place.state), (1, 0, PlaceStateBody::Called));
    let receipt = keys(&room).await.receipt(&place.receipt, clock::now()).unwrap();
    assert_eq!((receipt.generation, receipt.number), (place.generation, 1));
    assert_eq!((receipt.customer.as_str(), receipt.event.as_str()), ("fan-1", "gala"));

    let entered = room.enter("fan-1").await;
    assert_eq!(entered.status, 200);
    let admission: AdmissionBody = body(&entered);
    let token = keys(&room).await.admission(&admission.admission_token, clock::now()).unwrap();
    assert_eq!((token.customer.as_str(), token.event.as_str()), ("fan-1", "gala"));
    assert_eq!((token.session, token.expires_at), (admission.session, admission.expires_at));
    let mine: contracts::queue::PlaceBody = body(&room.mine("fan-1").await);
    assert_eq!(mine.state, PlaceStateBody::Active);
    assert!(mine.until.unwrap() > admission.expires_at, "the slot outlives its last token");

    assert_eq!(room.leave("fan-1").await.status, 204);
    assert_eq!(room.leave("fan-1").await.status, 204, "leaving twice is leaving");
    let again = room.enter("fan-1").await;
    assert_eq!((again.status, again.reason().as_str()), (403, "session_ended"));
    assert_eq!(room.joined("fan-1").await.number, 2, "joining again gives a new number");
}

#[tokio::test]
async fn the_same_fan_joining_in_two_tabs_reloading_and_repeating_has_one_place() {
    let room = Room::with_cap(1).await;
    room.joined("somebody-before").await;
    let answers = join_all((0..20).map(|_| room.join("fan-1"))).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 1);
    assert!(answers.iter().all(|answer| [200, 201].contains(&answer.status)));
    assert!(answers.iter().all(|answer| answer.json()["number"] == 2));
    assert_eq!(room.status().await.issued, 2);
}

#[tokio::test]
async fn a_fan_who_enters_twice_has_one_session_counted_once() {
    let room = Room::with_cap(5).await;
    room.joined("fan-1").await;
    let answers = join_all((0..10).map(|_| room.enter("fan-1"))).await;
    let sessions: Vec<AdmissionBody> = answers.iter().map(body).collect();
    assert!(sessions.iter().all(|one| one.session == sessions[0].session));
    let status = room.status().await;
    assert_eq!((status.active, status.called), (1, 0));
}

#[tokio::test]
async fn a_join_that_is_refused_uses_up_no_position() {
    let room = Room::open().await;
    let unknown = room.send(TestRequest::post("/events/unknown/queue/places").fan("f")).await;
    assert_eq!((unknown.status, unknown.reason().as_str()), (404, "not_found"));
    let path = "/events/no%20event/queue/places";
    assert_eq!(room.send(TestRequest::post(path).fan("f")).await.status, 404);
    for (body, pointer) in [(json!({"number": 1}), "/number"), (json!([]), ""), (json!(null), "")] {
        let bad = room.send(TestRequest::post(PLACES).fan("fan-1").json(&body)).await;
        let told = bad.json()["errors"][0]["pointer"].clone();
        assert_eq!((bad.status, told.as_str()), (400, Some(pointer)), "{body}");
    }
    assert_eq!(room.send(TestRequest::post(PLACES)).await.status, 401);
    assert_eq!(room.status().await.issued, 0);
    assert_eq!(room.joined("fan-1").await.number, 1);
}

#[tokio::test]
async fn whoever_is_not_called_is_told_when_to_ask_again() {
    let room = Room::with_cap(1).await;
    for fan in ["fan-1", "fan-2", "fan-3"] {
        room.joined(fan).await;
    }
    let answer = room.enter("fan-3").await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "not_called"));
    assert_eq!(answer.header("retry-after"), "2");
    assert_eq!(
        (answer.json()["number"].as_u64(), answer.json()["ahead"].as_u64()),
        (Some(3), Some(1))
    );
    let waiting = room.joined("fan-3").await;
    assert_eq!(waiting.state, PlaceStateBody::Waiting);
    let [low, high] = waiting.estimated_wait_seconds;
    assert!(0 < low && low < high, "{low} to {high}");
}

#[tokio::test]
async fn whoever_has_no_place_is_told_so() {
    let room = Room::with_cap(1).await;
    for answer in [room.mine("stranger").await, room.enter("stranger").await] {
        assert_eq!((answer.status, answer.reason().as_str()), (404, "no_place"));
    }
    assert_eq!(room.leave("stranger").await.status, 204);
    for request in [TestRequest::get(MINE), TestRequest::delete(MINE)] {
        assert_eq!(room.send(request).await.status, 401);
    }
}

#[tokio::test]
async fn whoever_leaves_is_out_whether_or_not_there_is_a_line() {
    let room = Room::open().await;
    assert_eq!(room.leave("stranger").await.status, 204, "there is no line yet");
    room.joined("fan").await;
    assert_eq!(room.leave("stranger").await.status, 204);
    for _ in 0..2 {
        assert_eq!(room.leave("fan").await.status, 204);
    }
    room.lose_redis().await;
    assert_eq!(room.leave("fan").await.status, 204, "the line is lost");
}

#[tokio::test]
async fn whoever_missed_the_call_is_told_and_called_again() {
    let room = Room::open().await;
    let short = contracts::queue::QueueSettingsBody { grace_seconds: 1, ..settings(1) };
    assert_eq!(room.set(&short, "if-none-match", "*").await.status, 201);
    room.joined("fan-1").await;
    room.joined("fan-2").await;
    // Somebody else takes the slot once the call has lapsed.
    while room.enter("fan-2").await.status != 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let late = room.enter("fan-1").await;
    assert_eq!((late.status, late.reason().as_str()), (409, "call_missed"));
    assert_eq!(late.json()["number"], 1);
    assert!(!late.header("retry-after").is_empty());
    assert_eq!(room.leave("fan-2").await.status, 204);
    assert_eq!(room.enter("fan-1").await.status, 200);
}

#[tokio::test]
async fn a_token_buys_nothing_after_its_session_was_left_and_its_slot_taken() {
    let room = Room::with_cap(1).await;
    for fan in ["fan-1", "fan-2"] {
        room.joined(fan).await;
    }
    let admission: AdmissionBody = body(&room.enter("fan-1").await);
    assert_eq!(room.leave("fan-1").await.status, 204);
    assert_eq!(room.enter("fan-2").await.status, 200);
    // The till of a machine whose clock is slow takes the token for a fresh one.
    let expires_at = admission.expires_at + jiff::SignedDuration::from_mins(5);
    let old = Session { id: admission.session, expires_at };
    assert_eq!(buy(&room, "fan-1", old).await, Reservation::SessionEnded);
    let status = room.status().await;
    assert_eq!((status.active, status.called), (1, 0), "never more shoppers than the cap");
}

/// All that a fan can ask says the same once the session's time is over.
#[tokio::test]
async fn w11_a_session_that_ran_out_has_ended_and_joining_again_gives_a_number_at_once() {
    let room = Room::open().await;
    let short = contracts::queue::QueueSettingsBody { session_seconds: 1, ..settings(1) };
    assert_eq!(room.set(&short, "if-none-match", "*").await.status, 201);
    room.joined("fan-1").await;
    let admission: AdmissionBody = body(&room.enter("fan-1").await);
    while room.enter("fan-1").await.status == 200 {
        tokio::task::yield_now().await;
    }
    let refused = room.enter("fan-1").await;
    assert_eq!((refused.status, refused.reason().as_str()), (403, "session_ended"));
    let mine: contracts::queue::PlaceBody = body(&room.mine("fan-1").await);
    assert_eq!((mine.number, mine.state, mine.until), (1, PlaceStateBody::Ended, None));
    assert_eq!(room.status().await.active, 1, "its slot is kept a little longer");

    // Two tabs ask at once: one new place.
    let joined = futures::join!(room.join("fan-1"), room.join("fan-1"));
    let mut statuses = [joined.0.status, joined.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201]);
    assert!([joined.0, joined.1].iter().all(|place| place.json()["number"] == 2));
    // The till of a machine whose clock is slow takes the old token for a good one.
    let expires_at = admission.expires_at + jiff::SignedDuration::from_mins(5);
    let old = Session { id: admission.session, expires_at };
    assert_eq!(buy(&room, "fan-1", old).await, Reservation::SessionEnded);
    assert_eq!(room.enter("fan-1").await.status, 200);
    let status = room.status().await;
    assert_eq!((status.active, status.called), (1, 0), "never more shoppers than the cap");
}

/// Until when the till keeps the ended sessions of the event.
async fn ended_until(room: &Room) -> Vec<i64> {
    let client = redis::Client::open(room.hall.redis.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut range = redis::cmd("ZRANGE");
    range.arg("{i:gala}:ended").arg(0).arg(-1).arg("WITHSCORES");
    let ended: Vec<(Vec<u8>, i64)> = range.query_async(&mut connection).await.unwrap();
    ended.into_iter().map(|(_, until)| until).collect()
}

#[tokio::test]
async fn w11_a_session_is_ended_until_its_token_has_expired_whatever_was_set_since() {
    let room = Room::with_cap(1).await;
    for fan in ["fan-1", "fan-2"] {
        room.joined(fan).await;
    }
    let admission: AdmissionBody = body(&room.enter("fan-1").await);
    // Tokens are to live for a much shorter time from now on.
    let shorter = contracts::queue::QueueSettingsBody { token_seconds: 5, ..settings(1) };
    assert_eq!(room.set(&shorter, "if-match", "\"v1\"").await.status, 200);
    assert_eq!(room.leave("fan-1").await.status, 204);
    assert_eq!(room.enter("fan-2").await.status, 200);
    let [until] = ended_until(&room).await[..] else { panic!("one session has ended") };
    let margin = until - admission.expires_at.as_millisecond();
    assert!(
        (5_000..6_000).contains(&margin),
        "five seconds beyond, its token's are whole: {margin}"
    );
}

#[tokio::test]
async fn a_crowd_that_joins_before_there_is_a_line_begins_one_line() {
    let room = Room::open().await;
    let names: Vec<String> = (1..=40).map(|fan| format!("fan-{fan}")).collect();
    let places = join_all(names.iter().map(|fan| room.joined(fan))).await;
    let mut numbers: Vec<u32> = places.iter().map(|place| place.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<u32>>());
    assert!(places.iter().all(|place| place.generation == places[0].generation));
    for (fan, place) in names.iter().zip(&places) {
        assert_eq!(room.joined(fan).await.number, place.number, "a number never changes");
    }
}

#[tokio::test]
async fn whoever_dies_while_beginning_a_line_leaves_it_to_the_next() {
    let room = Room::open().await;
    let (event, catalog) = (EventId::parse("gala").unwrap(), &room.hall.catalog);
    catalog.queue_put(&event, &QueueSettings::default(), 1).await.unwrap();
    let raised = catalog.queue_generation_raise(&event, 1).await.unwrap();
    assert_eq!(raised, GenerationRaised::Raised(2));
    let place = room.joined("fan-1").await;
    assert_eq!((place.generation, place.number), (3, 1));
    // It was only slow, and goes on where it stood.
    let redis = Redis::connect(&room.hall.redis.url(), RedisMode::Single);
    let late = LineSettings { settings: QueueSettings::default(), version: 1, generation: 2 };
    WaitingRoom::new(redis).configure(&event, &late).await.unwrap();
    let again = room.joined("fan-1").await;
    assert_eq!((again.generation, again.number), (3, 1));
    assert_eq!(room.joined("fan-2").await.generation, 3);
}

#[tokio::test]
async fn a_lost_line_is_begun_anew_under_a_higher_generation() {
    let room = Room::with_cap(7).await;
    let before = room.joined("fan-1").await;
    room.lose_redis().await;
    assert_eq!(room.mine("fan-1").await.status, 404);
    let crowd = ["fan-1", "fan-2", "fan-3", "fan-4"];
    let after = join_all(crowd.iter().map(|fan| room.joined(fan))).await;
    assert!(after.iter().all(|place| place.generation == after[0].generation));
    assert!(after[0].generation > before.generation);
    assert_eq!(room.status().await.cap, 7, "the settings are durable");
}

fn signal(room: &Room, signal: &str) {
    let pid = room.hall.redis.pid().to_string();
    let sent = std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
    assert!(sent.success());
}

#[tokio::test]
async fn a_join_that_timed_out_and_is_repeated_has_one_number() {
    let room = Room::with_cap(1).await;
    signal(&room, "-STOP");
    let answer = room.join("fan-1").await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    assert!(!answer.header("retry-after").is_empty());
    signal(&room, "-CONT");
    assert_eq!(room.joined("fan-1").await.number, 1);
    assert_eq!(room.joined("fan-2").await.number, 2);
}
