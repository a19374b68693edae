//! Settings that are stored while somebody else begins the line.

use domain::{EventId, QueueSettings};
use dynamo_store::GenerationRaised;
use redis_store::{LineSettings, Redis, RedisMode, WaitingRoom};

use crate::room::{Room, settings};

/// How an event's generation is raised.
const RAISE: &str = "#generation = :raised";

async fn with_stored_defaults() -> (Room, EventId) {
    let (room, event) = (Room::open().await, EventId::parse("gala").unwrap());
    room.hall.catalog.queue_put(&event, &QueueSettings::default(), 1).await.unwrap();
    (room, event)
}

#[tokio::test]
async fn an_edit_between_a_joins_reading_and_its_beginning_is_in_force_when_it_is_answered() {
    let (room, _) = with_stored_defaults().await;
    let (join, edit) = (room.wire.stop("UpdateItem", RAISE), room.wire.stop("UpdateItem", RAISE));
    let operator = async {
        // The join has read version 1, and is about to begin the line.
        join.arrived().await;
        room.set(&settings(3), "if-match", "\"v1\"").await
    };
    let order = async {
        edit.arrived().await;
        join.open();
    };
    let fan = async {
        let joined = room.join("fan-1").await;
        edit.open();
        joined
    };
    let (edited, (), joined) = futures::join!(operator, order, fan);
    assert_eq!((edited.status, joined.status), (200, 201), "{}", edited.raw.body);
    let status = room.status().await;
    assert_eq!((status.cap, status.settings_version), (3, 2));
}

#[tokio::test]
async fn an_edit_that_somebody_overtook_and_died_is_in_force_before_a_slow_one_comes() {
    let (room, event) = with_stored_defaults().await;
    let catalog = &room.hall.catalog;
    // Somebody has read version 1, and is slow.
    let slow = catalog.queue_generation_raise(&event, 1).await.unwrap();
    assert_eq!(slow, GenerationRaised::Raised(2));
    let edit = room.wire.stop("UpdateItem", RAISE);
    let overtaking = async {
        edit.arrived().await;
        let raised = catalog.queue_generation_raise(&event, 2).await.unwrap();
        assert_eq!(raised, GenerationRaised::Raised(3));
        edit.open();
    };
    let three = settings(3);
    let (edited, ()) = futures::join!(room.set(&three, "if-match", "\"v1\""), overtaking);
    assert_eq!(edited.status, 200, "{}", edited.raw.body);
    let redis = Redis::connect(&room.hall.redis.url(), RedisMode::Single);
    let late = LineSettings { settings: QueueSettings::default(), version: 1, generation: 2 };
    WaitingRoom::new(redis).configure(&event, &late).await.unwrap();
    let status = room.status().await;
    assert_eq!((status.cap, status.settings_version, status.generation), (3, 2, 4));
}

#[tokio::test]
async fn settings_that_never_reached_the_line_are_in_force_when_they_are_sent_again() {
    let room = Room::with_cap(1).await;
    room.joined("fan-1").await;
    let (event, three) = (EventId::parse("gala").unwrap(), settings(3));
    let stored = QueueSettings { cap: 3, ..QueueSettings::default() };
    room.hall.catalog.queue_put(&event, &stored, 2).await.unwrap();
    assert_eq!(room.status().await.cap, 1, "whoever stored them died before the line had them");
    for _ in 0..2 {
        let again = room.set(&three, "if-match", "\"v1\"").await;
        assert_eq!((again.status, again.header("etag")), (200, "\"v2\""), "{}", again.raw.body);
        let status = room.status().await;
        assert_eq!((status.cap, status.settings_version, status.generation), (3, 2, 2));
    }
}
