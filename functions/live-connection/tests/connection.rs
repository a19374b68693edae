//! Connections on real stores, with the gateway and SQS faked at the wire.

#![cfg(test)]

use std::time::Duration;

use connections::Connections;
use domain::{ConnectionId, CustomerId, EventId, LogPosition, UnitState};
use dynamo_store::{EventCache, MAX_EVENTS_PER_CONNECTION, Subscription};
use jiff::Timestamp;
use live_connection::handler::LiveConnection;
use live_connection::socket::{SocketAnswer, SocketEvent};
use queues::LiveQueue;
use redis_store::SeatRange;
use seat_log::SeatLog;
use serde_json::{Value, json};
use test_sale::{Hall, gala};
use test_support::gateway::FakeGateway;
use test_support::queue::FakeQueue;

/// A hall, and the function before it.
struct Stage {
    hall: Hall,
    queue: FakeQueue,
    gateway: FakeGateway,
    function: LiveConnection,
}

impl Stage {
    async fn of(hall: Hall) -> Self {
        let (queue, gateway) = (FakeQueue::start().await, FakeGateway::start().await);
        let queue_url = queue.queue_url("live-updates");
        let function = LiveConnection {
            events: EventCache::new(hall.catalog.clone(), || Timestamp::UNIX_EPOCH),
            connections: hall.connections.clone(),
            log: SeatLog::new(hall.inventory.clone(), hall.catalog.clone()),
            updates: LiveQueue::new(queues::client(&queue.sdk_config()), queue_url),
            gateway: Connections::new(&gateway.sdk_config(), &gateway.connections_endpoint()),
        };
        Self { hall, queue, gateway, function }
    }

    async fn on_sale() -> Self {
        Self::of(Hall::on_sale().await).await
    }

    async fn handle(&self, event: Value) -> SocketAnswer {
        let event: SocketEvent = serde_json::from_value(event).unwrap();
        self.function.handle(event, Timestamp::UNIX_EPOCH).await
    }

    async fn connect(&self, connection: &str, authorizer: Value) -> SocketAnswer {
        let fixture = include_str!("../events/connect.json");
        self.handle(event(fixture, connection, authorizer)).await
    }

    async fn disconnect(&self, connection: &str) -> SocketAnswer {
        self.handle(event(include_str!("../events/disconnect.json"), connection, json!({}))).await
    }

    /// Says something, and gives the frames that came back.
    async fn say(&self, connection: &str, text: &str) -> Vec<Value> {
        let mut message = event(include_str!("../events/ping.json"), connection, json!({}));
        message["body"] = Value::from(text);
        self.hear(connection, message).await
    }

    async fn hear(&self, connection: &str, message: Value) -> Vec<Value> {
        assert_eq!(self.handle(message).await, SocketAnswer::OK);
        let posted = self.gateway.take_posted().into_iter();
        posted
            .map(|posted| {
                assert_eq!(posted.connection, connection);
                posted.frame
            })
            .collect()
    }

    /// Says something, and gives the one frame that came back.
    async fn ask(&self, connection: &str, message: Value) -> Value {
        let mut frames = self.say(connection, &message.to_string()).await;
        assert_eq!(frames.len(), 1, "{frames:?}");
        frames.remove(0)
    }

    async fn watchers(&self) -> Vec<(String, Vec<String>)> {
        let watchers = self.hall.connections.subscribers_list(&gala()).await.unwrap();
        let mut watchers: Vec<_> = watchers
            .into_iter()
            .map(|watcher| {
                let sections = watcher.sections.into_iter().map(String::from).collect();
                (String::from(watcher.connection), sections)
            })
            .collect();
        watchers.sort();
        watchers
    }

    async fn first_seats(&self) -> Vec<UnitState> {
        let ticket_type = domain::TicketTypeId::parse("stalls").unwrap();
        let range = SeatRange { ticket_type, first: 0, count: 4 };
        let epoch = domain::Epoch(1);
        let states = self.hall.inventory.seat_states(&gala(), epoch, &[range]).await.unwrap();
        states.unwrap().states.remove(0)
    }
}

fn event(fixture: &str, connection: &str, authorizer: Value) -> Value {
    let mut event: Value = serde_json::from_str(fixture).unwrap();
    event["requestContext"]["connectionId"] = Value::from(connection);
    event["requestContext"]["authorizer"] = authorizer;
    event
}

fn fan(id: &str) -> Value {
    json!({"principalId": id, "customer": id})
}

fn id(connection: &str) -> ConnectionId {
    ConnectionId::parse(connection).unwrap()
}

#[tokio::test]
async fn a_connection_is_known_while_it_is_open_with_whose_it_is() {
    let stage = Stage::on_sale().await;
    for _ in 0..2 {
        assert_eq!(stage.connect("c1=", fan("fan-1")).await, SocketAnswer::OK);
    }
    assert_eq!(stage.connect("c2=", json!({"principalId": "viewer"})).await, SocketAnswer::OK);
    let fan_1 = CustomerId::parse("fan-1").unwrap();
    let own = stage.hall.connections.customer_connections_list(&fan_1).await.unwrap();
    assert_eq!(own, [id("c1=")]);
    let viewer = stage.hall.connections.connection_fetch(&id("c2=")).await.unwrap().unwrap();
    assert_eq!(viewer.customer, None);

    stage.ask("c1=", json!({"action": "subscribe", "event": "gala"})).await;
    for _ in 0..2 {
        assert_eq!(stage.disconnect("c1=").await, SocketAnswer::OK);
    }
    assert_eq!(stage.hall.connections.connection_fetch(&id("c1=")).await.unwrap(), None);
    assert!(stage.hall.connections.customer_connections_list(&fan_1).await.unwrap().is_empty());
    assert!(stage.watchers().await.is_empty());
}

#[tokio::test]
async fn a_customer_or_an_event_that_is_none_is_refused() {
    let stage = Stage::on_sale().await;
    for wrong in [json!({"customer": ""}), json!({"event": "a b"})] {
        assert_eq!(stage.connect("c", wrong).await, SocketAnswer::FORBIDDEN);
    }
    assert_eq!(stage.hall.connections.connection_fetch(&id("c")).await.unwrap(), None);
}

/// L1.
#[tokio::test]
async fn a_viewer_who_drops_while_holding_elsewhere_loses_nothing() {
    let stage = Stage::on_sale().await;
    stage.hall.hold("fan-1", &["A-1-1"]).await;
    for connection in ["tab-a", "tab-b"] {
        stage.connect(connection, fan("fan-1")).await;
        stage.ask(connection, json!({"action": "subscribe", "event": "gala"})).await;
    }
    stage.disconnect("tab-a").await;
    assert_eq!(stage.first_seats().await[0], UnitState::Held);
    assert_eq!(stage.watchers().await, [("tab-b".to_owned(), vec![])]);
    let fan_1 = CustomerId::parse("fan-1").unwrap();
    let own = stage.hall.connections.customer_connections_list(&fan_1).await.unwrap();
    assert_eq!(own, [id("tab-b")]);
}

/// L4.
#[tokio::test]
async fn what_is_not_understood_gets_an_error_frame_and_the_connection_stays_usable() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    let large = json!({"action": "ping", "padding": "x".repeat(200_000)}).to_string();
    for (text, reason) in [
        (large.as_str(), "too_large"),
        (r#"{"action":"shout"}"#, "invalid_request"),
        ("this is no JSON", "invalid_request"),
        ("\u{fffd}\u{fffd}", "invalid_request"),
        ("", "invalid_request"),
    ] {
        let frames = stage.say("c", text).await;
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0]["action"], "error");
        assert_eq!(frames[0]["reason"], reason);
        assert_eq!(stage.ask("c", json!({"action": "ping"})).await, json!({"action": "pong"}));
    }
    assert!(stage.watchers().await.is_empty() && stage.queue.take_sent().is_empty());
}

/// L4, as a gateway that passes binary messages on does it.
#[tokio::test]
async fn a_binary_message_gets_an_error_frame() {
    let stage = Stage::on_sale().await;
    let mut message = event(include_str!("../events/ping.json"), "c", json!({}));
    message["isBase64Encoded"] = Value::from(true);
    message["body"] = Value::from("eyJhY3Rpb24iOiJwaW5nIn0=");
    let frames = stage.hear("c", message).await;
    assert_eq!(frames[0]["action"], "error");
    assert_eq!(frames[0]["status"], 400);
}

#[tokio::test]
async fn a_subscriber_is_registered_and_told_where_to_fetch_the_seats() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    stage.hall.hold("fan-1", &["A-1-1", "B-1-1"]).await;
    let frame = stage.ask("c", json!({"action": "subscribe", "event": "gala"})).await;
    assert_eq!(frame["action"], "snapshot");
    assert_eq!((frame["event"].as_str(), frame["epoch"].as_u64()), (Some("gala"), Some(1)));
    assert!(frame["sequence"].as_u64() > Some(0));
    assert_eq!(frame["url"], "/events/gala/seats");
    assert_eq!(stage.watchers().await, [("c".to_owned(), vec![])]);
}

#[tokio::test]
async fn the_gateways_own_subscription_is_understood() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    let message = event(include_str!("../events/subscribe.json"), "c", json!({}));
    let frames = stage.hear("c", message).await;
    assert_eq!(
        (frames[0]["action"].as_str(), frames[0]["status"].as_u64()),
        (Some("error"), Some(404))
    );
    let mut message = event(include_str!("../events/subscribe.json"), "c", json!({}));
    let body = message["body"].as_str().unwrap().replace("autumn-gala", "gala");
    message["body"] = Value::from(body);
    assert_eq!(stage.hear("c", message).await[0]["action"], "snapshot");
    assert_eq!(stage.watchers().await, [("c".to_owned(), vec!["A".to_owned()])]);
}

/// A list of watchers that misses this one was made before it was registered: were
/// its position read before, too, what was told in between would be lost to it.
#[tokio::test]
async fn the_position_is_not_read_before_the_watcher_is_registered() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    for number in 0..MAX_EVENTS_PER_CONNECTION {
        let event = EventId::parse(&format!("event-{number}")).unwrap();
        let connection = ConnectionId::parse("c").unwrap();
        let subscription = Subscription { event, connection, sections: vec![] };
        stage.hall.connections.subscription_put(&subscription).await.unwrap();
    }
    let before = stage.hall.redis.scripts_run();
    let frame = stage.ask("c", json!({"action": "subscribe", "event": "gala"})).await;
    assert_eq!(frame["errors"][0]["pointer"], "/event", "{frame}");
    assert_eq!(stage.hall.redis.scripts_run(), before);
    assert_eq!(stage.watchers().await, []);
}

#[tokio::test]
async fn whoever_subscribes_begins_a_chain_of_ticks() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    stage.ask("c", json!({"action": "subscribe", "event": "gala"})).await;
    let sent = stage.queue.take_sent();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].body["kind"].as_str(), sent[0].delay), (Some("tick"), 0));
    assert_eq!(sent[0].body["ticker"]["step"], 1);
    assert_eq!(sent[0].group, "gala");
}

async fn position(stage: &Stage) -> LogPosition {
    let snapshot = stage.hall.inventory.seat_states(&gala(), domain::Epoch(1), &[]).await.unwrap();
    snapshot.unwrap().position
}

fn again(after: LogPosition, sections: &[&str]) -> Value {
    json!({"action": "subscribe", "event": "gala", "sections": sections,
           "epoch": after.epoch, "after": after.sequence})
}

#[tokio::test]
async fn whoever_comes_back_is_told_what_was_missed() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    let before = position(&stage).await;
    stage.hall.hold("fan-1", &["A-1-2", "B-1-1"]).await;
    let released = stage.hall.hold("fan-2", &["A-1-3"]).await;
    stage.hall.release("fan-2", &released).await;

    let frame = stage.ask("c", again(before, &[])).await;
    assert_eq!(frame["action"], "changes");
    assert_eq!(frame["from"], before.sequence);
    let sections = json!([
        {"section": "A", "held": [1], "free": [2]},
        {"section": "B", "held": [0]},
    ]);
    assert_eq!(frame["sections"], sections);
    let frame = stage.ask("c", again(before, &["B"])).await;
    assert_eq!(frame["sections"], json!([{"section": "B", "held": [0]}]));
    assert_eq!(stage.watchers().await, [("c".to_owned(), vec!["B".to_owned()])], "replaced");

    let now = position(&stage).await;
    let frame = stage.ask("c", again(now, &[])).await;
    assert_eq!((&frame["from"], &frame["to"]), (&json!(now.sequence), &json!(now.sequence)));
    assert_eq!(frame["sections"], json!([]), "nothing was missed");
}

#[tokio::test]
async fn what_the_log_does_not_reach_is_a_snapshot() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    let now = position(&stage).await;
    for unknown in [
        LogPosition { epoch: now.epoch + 1, ..now },
        LogPosition { epoch: 0, sequence: 0 },
        LogPosition { sequence: now.sequence + 1, ..now },
    ] {
        let frame = stage.ask("c", again(unknown, &[])).await;
        assert_eq!(frame["action"], "snapshot", "{unknown:?}");
        let told = (frame["epoch"].as_u64(), frame["sequence"].as_u64());
        assert_eq!(told, (Some(now.epoch), Some(now.sequence)));
    }
}

#[tokio::test]
async fn before_the_first_sale_a_map_that_the_client_has_not_is_a_snapshot() {
    let stage = Stage::of(Hall::announced().await).await;
    stage.connect("c", json!({})).await;
    let frame = stage.ask("c", json!({"action": "subscribe", "event": "gala"})).await;
    assert_eq!(frame["action"], "snapshot");
    let position = |frame: &Value| LogPosition {
        epoch: frame["epoch"].as_u64().unwrap(),
        sequence: frame["sequence"].as_u64().unwrap(),
    };
    let before = position(&frame);
    assert_eq!(before.epoch, 0);
    assert_eq!(stage.ask("c", again(before, &[])).await["action"], "changes", "it has all");
    stage.hall.add_section("C", 7, 2, 4).await;
    let grown = stage.ask("c", again(before, &[])).await;
    assert_eq!(grown["action"], "snapshot");
    assert!(position(&grown).sequence > before.sequence);
    assert_eq!(stage.watchers().await.len(), 1, "and the opening will be told");
}

#[tokio::test]
async fn an_event_that_does_not_exist_is_named_and_not_watched() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    let frame = stage.ask("c", json!({"action": "subscribe", "event": "none"})).await;
    assert_eq!((&frame["action"], &frame["status"]), (&json!("error"), &json!(404)));
    assert_eq!(frame["errors"][0]["pointer"], "/event");
    let connection = stage.hall.connections.connection_fetch(&id("c")).await.unwrap().unwrap();
    assert!(connection.events.is_empty() && stage.queue.take_sent().is_empty());
}

#[tokio::test]
async fn a_section_that_the_event_does_not_have_is_named_and_nothing_changes() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    let subscribe =
        |sections: Value| json!({"action": "subscribe", "event": "gala", "sections": sections});
    assert_eq!(stage.ask("c", subscribe(json!(["A"]))).await["action"], "snapshot");
    let _ = stage.queue.take_sent();
    let frame = stage.ask("c", subscribe(json!(["B", "Z", "A", "stalls"]))).await;
    assert_eq!((&frame["action"], &frame["reason"]), (&json!("error"), &json!("not_found")));
    let named = frame["errors"].as_array().unwrap().iter().map(|error| error["pointer"].as_str());
    assert_eq!(named.collect::<Vec<_>>(), [Some("/sections/1"), Some("/sections/3")]);
    assert_eq!(stage.watchers().await, [("c".to_owned(), vec!["A".to_owned()])]);
    assert!(stage.queue.take_sent().is_empty());
    assert_eq!(stage.ask("c", subscribe(json!(["B"]))).await["action"], "snapshot");
}

#[tokio::test]
async fn what_went_wrong_is_told_in_the_language_of_the_handshake() {
    let stage = Stage::on_sale().await;
    for (context, title, detail) in [
        (json!({"language": "zh-Hant"}), "找不到您要的內容", "沒有這個活動"),
        (json!({"language": "en"}), "There is no such thing here", "There is no such event"),
        (json!({}), "There is no such thing here", "There is no such event"),
    ] {
        let frame = subscribed_by(&stage, context, "none").await;
        assert_eq!((&frame["title"], &frame["detail"]), (&json!(title), &json!(title)));
        assert_eq!(frame["errors"], json!([{"pointer": "/event", "detail": detail}]));
    }
}

async fn subscribed_by(stage: &Stage, authorizer: Value, to: &str) -> Value {
    let mut message = event(include_str!("../events/ping.json"), "c", authorizer);
    message["body"] = json!({"action": "subscribe", "event": to}).to_string().into();
    stage.hear("c", message).await.remove(0)
}

#[tokio::test]
async fn a_token_for_one_event_opens_no_other_events_map() {
    let stage = Stage::on_sale().await;
    for elsewhere in [
        json!({"kind": "viewer", "event": "other"}),
        json!({"kind": "admission", "customer": "fan-1", "event": "other"}),
        json!({"kind": "viewer", "event": "no event"}),
    ] {
        let frame = subscribed_by(&stage, elsewhere.clone(), "gala").await;
        assert_eq!((&frame["action"], &frame["status"]), (&json!("error"), &json!(403)));
        assert_eq!(frame["reason"], "forbidden", "{elsewhere}");
        assert_eq!(frame["errors"][0]["pointer"], "/event");
        assert!(stage.watchers().await.is_empty() && stage.queue.take_sent().is_empty());
        assert_eq!(stage.ask("c", json!({"action": "ping"})).await, json!({"action": "pong"}));
    }
    // Nor does it tell which others there are.
    let viewer = json!({"kind": "viewer", "event": "gala"});
    assert_eq!(subscribed_by(&stage, viewer.clone(), "none").await["reason"], "forbidden");
    for here in [viewer, json!({"kind": "admission", "customer": "fan-1", "event": "gala"})] {
        assert_eq!(subscribed_by(&stage, here, "gala").await["action"], "snapshot");
    }
}

#[tokio::test]
async fn a_fans_own_token_opens_any_events_map() {
    let stage = Stage::on_sale().await;
    let own = json!({"kind": "fan", "customer": "fan-1"});
    assert_eq!(subscribed_by(&stage, own, "gala").await["action"], "snapshot");
}

#[tokio::test]
async fn whoever_unsubscribes_watches_no_more() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    stage.ask("c", json!({"action": "subscribe", "event": "gala"})).await;
    for _ in 0..2 {
        let frames = stage.say("c", r#"{"action":"unsubscribe","event":"gala"}"#).await;
        assert!(frames.is_empty(), "{frames:?}");
    }
    assert!(stage.watchers().await.is_empty());
}

#[tokio::test]
async fn an_open_connection_whose_item_was_lost_can_subscribe() {
    let stage = Stage::on_sale().await;
    let mut message = event(include_str!("../events/ping.json"), "c", fan("fan-1"));
    message["body"] = Value::from(r#"{"action":"subscribe","event":"gala"}"#);
    let frames = stage.hear("c", message).await;
    assert_eq!(frames[0]["action"], "snapshot");
    let connection = stage.hall.connections.connection_fetch(&id("c")).await.unwrap().unwrap();
    assert_eq!(connection.customer, CustomerId::parse("fan-1").ok());
}

#[tokio::test]
async fn an_answer_to_a_connection_that_is_gone_removes_it() {
    let stage = Stage::on_sale().await;
    stage.connect("c", fan("fan-1")).await;
    stage.gateway.set_gone("c");
    stage.say("c", r#"{"action":"subscribe","event":"gala"}"#).await;
    assert!(stage.watchers().await.is_empty());
    assert_eq!(stage.hall.connections.connection_fetch(&id("c")).await.unwrap(), None);
}

#[tokio::test]
async fn what_can_not_be_carried_out_now_is_said_and_can_be_repeated() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    stage.queue.set_refusing(true);
    let subscribe = json!({"action": "subscribe", "event": "gala"});
    let frame = stage.ask("c", subscribe.clone()).await;
    assert_eq!((&frame["action"], &frame["reason"]), (&json!("error"), &json!("unavailable")));
    assert_eq!(stage.watchers().await.len(), 1, "registered before anything is answered");
    stage.queue.set_refusing(false);
    assert_eq!(stage.ask("c", subscribe).await["action"], "snapshot");
}

#[tokio::test]
async fn a_lapsed_hold_is_among_what_was_missed() {
    let stage = Stage::on_sale().await;
    stage.connect("c", json!({})).await;
    stage.hall.hold_for("fan-1", &["A-1-1"], Duration::from_millis(50)).await;
    let before = position(&stage).await;
    // The log itself tells when the hold has lapsed, by Redis' clock.
    let told = async {
        loop {
            let frame = stage.ask("c", again(before, &[])).await;
            if frame["sections"] != json!([]) {
                return frame;
            }
        }
    };
    let frame = tokio::time::timeout(Duration::from_secs(10), told).await.unwrap();
    assert_eq!(frame["sections"], json!([{"section": "A", "free": [0]}]));
}
