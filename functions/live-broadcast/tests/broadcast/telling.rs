//! What watchers are told: one frame a tick and connection, however much happened.

use aws_sdk_dynamodb::types::AttributeValue;
use contracts::live::{Followed, Frame, SeatView};
use domain::ConnectionId;
use jiff::SignedDuration;
use serde_json::json;
use test_sale::{Hall, gala};

use crate::stage::{Stage, tick};

#[tokio::test]
async fn many_changes_of_a_tick_are_one_frame_with_the_last_state_of_each_seat() {
    let stage = Stage::watched().await;
    let from = stage.ticker().await.look.unwrap().position.unwrap();
    stage.hall.hold("fan-1", &["A-1-1", "B-1-2"]).await;
    let second = stage.hall.hold("fan-2", &["A-1-2"]).await;
    stage.hall.release("fan-2", &second).await;
    stage.hall.hold("fan-3", &["A-1-3"]).await;
    assert!(stage.next_tick().await);
    let heard = stage.heard("c");
    assert_eq!(heard.len(), 1);
    let frame = &heard[0];
    assert_eq!(frame["action"], "changes");
    assert_eq!((&frame["epoch"], &frame["from"]), (&json!(1), &json!(from.sequence)));
    let sections = json!([
        {"section": "A", "free": [1], "held": [0, 2]},
        {"section": "B", "held": [1]},
    ]);
    assert_eq!(frame["sections"], sections);
    assert_eq!(frame["ticket_types"], json!([{"ticket_type": "stalls", "remaining": 4}]));

    stage.hall.hold("fan-4", &["A-1-4"]).await;
    assert!(stage.next_tick().await);
    assert_eq!(stage.heard("c")[0]["from"], frame["to"], "each goes on where the last one ended");
}

#[tokio::test]
async fn nothing_to_say_is_not_said() {
    let stage = Stage::watched().await;
    for _ in 0..5 {
        assert!(stage.next_tick().await);
    }
    assert!(stage.gateway.take_posted().is_empty());
}

#[tokio::test]
async fn places_without_numbers_are_told_by_how_many_are_left() {
    let stage = Stage::watched().await;
    stage.hall.hold_places("fan", 3).await;
    assert!(stage.next_tick().await);
    let frame = stage.heard("c").remove(0);
    assert_eq!(frame["sections"], json!([]));
    assert_eq!(frame["ticket_types"], json!([{"ticket_type": "floor", "remaining": 7}]));
}

#[tokio::test]
async fn watchers_hear_of_their_sections_and_move_on_with_the_others() {
    let stage = Stage::watched().await;
    stage.watch("only-a", &["A"]).await;
    stage.watch("only-b", &["B"]).await;
    stage.hall.hold("fan", &["B-1-1"]).await;
    assert!(stage.next_tick().await);
    let posted = stage.gateway.take_posted();
    let of = |connection: &str| {
        let mut frames = posted.iter().filter(|post| post.connection == connection);
        let frame = frames.next().unwrap().frame.clone();
        assert_eq!(frames.next(), None);
        frame
    };
    let held = json!([{"section": "B", "held": [0]}]);
    assert_eq!((&of("c")["sections"], &of("only-b")["sections"]), (&held, &held));
    assert_eq!(of("only-a")["sections"], json!([]));
    assert_eq!(of("only-a")["to"], of("c")["to"]);
}

/// L3.
#[tokio::test]
async fn a_connection_that_is_gone_is_removed_and_the_others_get_theirs() {
    let stage = Stage::watched().await;
    for connection in ["gone-1", "d", "gone-2", "e"] {
        stage.watch(connection, &[]).await;
    }
    stage.gateway.set_gone("gone-1");
    stage.gateway.set_gone("gone-2");
    stage.hall.hold("fan", &["A-1-1"]).await;
    assert!(stage.next_tick().await);
    let posted = stage.gateway.take_posted();
    for connection in ["c", "d", "e"] {
        assert_eq!(posted.iter().filter(|post| post.connection == connection).count(), 1);
    }
    assert_eq!(stage.watchers().await, ["c", "d", "e"].map(str::to_owned).into());
    let gone = ConnectionId::parse("gone-1").unwrap();
    assert_eq!(stage.hall.connections.connection_fetch(&gone).await.unwrap(), None);
    stage.hall.hold("fan", &["A-1-2"]).await;
    assert!(stage.next_tick().await);
    assert_eq!(stage.gateway.take_posted().len(), 3);
}

#[tokio::test]
async fn a_subscription_that_outlived_its_connection_is_removed_too() {
    let stage = Stage::watched().await;
    stage.watch("orphan", &[]).await;
    // Subscribed while it was being removed: nobody else knows of it any more.
    let client = stage.hall.dynamo.client();
    let key = |name: &str| AttributeValue::S(name.to_owned());
    let delete = client.delete_item().table_name(&stage.hall.dynamo.tables.connections);
    delete.key("pk", key("connection#orphan")).key("sk", key("meta")).send().await.unwrap();
    stage.gateway.set_gone("orphan");
    stage.hall.hold("fan", &["A-1-1"]).await;
    assert!(stage.next_tick().await);
    assert_eq!(stage.watchers().await, ["c".to_owned()].into());
}

#[tokio::test]
async fn a_lapsed_hold_is_told_by_a_look_though_nobody_asks_for_its_seat() {
    let stage = Stage::watched().await;
    stage.hall.hold_for("fan", &["A-1-1"], std::time::Duration::from_millis(300)).await;
    let free = json!([{"section": "A", "free": [0]}]);
    stage.until_heard("c", |frame| frame["sections"] == free).await;
}

#[tokio::test]
async fn a_new_epoch_is_told_as_a_snapshot_to_fetch() {
    let stage = Stage::watched().await;
    stage.hall.open_epoch(2).await;
    assert!(stage.next_tick().await);
    let frame = stage.heard("c").remove(0);
    assert_eq!((&frame["action"], &frame["epoch"]), (&json!("snapshot"), &json!(2)));
    stage.hall.hold("fan", &["A-1-1"]).await;
    assert!(stage.next_tick().await);
    let frame = stage.heard("c").remove(0);
    assert_eq!((&frame["action"], &frame["epoch"]), (&json!("changes"), &json!(2)));
}

#[tokio::test]
async fn watchers_from_before_the_first_sale_are_told_when_it_opens() {
    let stage = Stage::of(Hall::announced().await).await;
    stage.watch("c", &[]).await;
    stage.begin("chain").await;
    assert!(stage.next_tick().await);
    assert!(stage.heard("c").is_empty());
    let mut map = SeatView::new(gala(), []);
    let shown = json!({"event": "gala", "epoch": 0, "sequence": 4, "seat_map_version": 2,
                       "sections": [], "ticket_types": []});
    map.load(&serde_json::from_value(shown).unwrap());
    stage.hall.open_epoch(1).await;
    assert!(stage.next_tick().await);
    let frame: Frame = serde_json::from_value(stage.heard("c").remove(0)).unwrap();
    assert_eq!(map.follow(&frame), Followed::NeedsSnapshot, "{frame:?}");
}

#[tokio::test]
async fn a_section_that_was_added_since_is_told_by_its_name() {
    let stage = Stage::watched().await;
    stage.hall.hold("fan-1", &["A-1-1"]).await;
    assert!(stage.next_tick().await, "the hall is known now, without the new section");
    stage.hall.add_section("C", 7, 2, 4).await;
    stage.hall.add_seats(1, "C", 7, 2).await;
    stage.hall.hold("fan-2", &["C-1-2"]).await;
    let _ = stage.gateway.take_posted();
    assert!(stage.next_tick().await);
    let told = json!([{"section": "C", "free": [0], "held": [1]}]);
    assert_eq!(stage.heard("c")[0]["sections"], told);
}

#[tokio::test]
async fn a_section_is_told_though_nobody_has_bought_in_it() {
    let stage = Stage::watched().await;
    stage.hall.add_section("C", 7, 2, 4).await;
    stage.hall.add_seats(1, "C", 7, 2).await;
    assert!(stage.next_tick().await);
    let frame = stage.heard("c").remove(0);
    assert_eq!(frame["sections"], json!([{"section": "C", "free": [0]}]));
    assert_eq!(frame["ticket_types"], json!([{"ticket_type": "stalls", "remaining": 9}]));
}

#[tokio::test]
async fn who_looks_holds_a_lease_and_another_tells_only_when_it_has_run_out() {
    let stage = Stage::watched().await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    let (now, until) = (stage.now(), stage.now() + SignedDuration::from_secs(5));
    let connections = &stage.hall.connections;
    assert!(connections.ticker_claim(&gala(), "other", now, until).await.unwrap().is_some());
    stage.pass(1_000);
    stage.nudge().await;
    assert!(stage.gateway.take_posted().is_empty(), "another one is telling");
    // It died: its lease runs out, and what it may have told is told again.
    stage.pass(4_001);
    assert!(stage.deliver(&[tick(None)]).await.is_empty());
    assert_eq!(stage.heard("c").len(), 1);
}
