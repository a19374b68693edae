//! Connections and what they watch.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{ConnectionId, EventId, SectionId};
use dynamo_store::{
    Connection, ConnectionStore, MAX_EVENTS_PER_CONNECTION, Subscribed, Subscriber, Subscription,
};
use futures::future::join_all;
use test_support::dynamo::Dynamo;
use test_support::wire::{Sent, Wire};

use crate::given::{Stores, at, customer, event_id, on_every_engine};

fn id(name: &str) -> ConnectionId {
    ConnectionId::parse(name).unwrap()
}

fn connection(name: &str, owner: Option<&str>) -> Connection {
    Connection {
        id: id(name),
        customer: owner.map(customer),
        connected_at: at(0),
        events: BTreeSet::new(),
    }
}

fn subscription(event: &EventId, name: &str, sections: &[&str]) -> Subscription {
    Subscription {
        event: event.clone(),
        connection: id(name),
        sections: sections.iter().map(|section| SectionId::parse(section).unwrap()).collect(),
    }
}

async fn watchers(connections: &ConnectionStore, event: &EventId) -> Vec<Subscriber> {
    let mut watchers = connections.subscribers_list(event).await.unwrap();
    watchers.sort_by(|a, b| a.connection.cmp(&b.connection));
    watchers
}

#[tokio::test]
async fn a_connection_is_known_with_its_customer_and_its_events() {
    on_every_engine(async |Stores { connections, .. }| {
        let fans = connection("L0SM9cOFvHcCIhw=", Some("fan-1"));
        let viewers = connection("viewer", None);
        for connection in [&fans, &viewers, &fans] {
            connections.connection_put(connection).await.unwrap();
        }
        let read = connections.connection_fetch(&viewers.id).await.unwrap();
        assert_eq!(read, Some(viewers));
        let second = connection("second", Some("fan-1"));
        connections.connection_put(&second).await.unwrap();
        let mut own = connections.customer_connections_list(&customer("fan-1")).await.unwrap();
        own.sort();
        assert_eq!(own, [fans.id.clone(), second.id]);

        let event = event_id();
        let watches = subscription(&event, fans.id.as_str(), &[]);
        assert_eq!(connections.subscription_put(&watches).await.unwrap(), Subscribed::Stored);
        let read = connections.connection_fetch(&fans.id).await.unwrap().unwrap();
        assert_eq!(read, Connection { events: BTreeSet::from([event]), ..fans });
    })
    .await;
}

#[tokio::test]
async fn watchers_are_listed_with_their_sections() {
    on_every_engine(async |Stores { connections, .. }| {
        let (gala, other) = (event_id(), EventId::parse("other").unwrap());
        let names: Vec<String> = (10..50).map(|n| format!("connection-{n}")).collect();
        join_all(names.iter().map(async |name| {
            connections.connection_put(&connection(name, None)).await.unwrap();
            let watches = subscription(&gala, name, &["A", "B"]);
            connections.subscription_put(&watches).await.unwrap();
        }))
        .await;
        connections.subscription_put(&subscription(&other, &names[0], &[])).await.unwrap();
        let watching = watchers(&connections, &gala).await;
        assert_eq!(watching.len(), 40);
        for (name, watcher) in names.iter().zip(&watching) {
            let expected = subscription(&gala, name, &["A", "B"]);
            assert_eq!(watcher.connection, expected.connection);
            assert_eq!(watcher.sections, expected.sections);
        }

        connections.subscription_put(&subscription(&gala, &names[0], &[])).await.unwrap();
        assert_eq!(watchers(&connections, &gala).await[0].sections, [], "replaced");
        connections.subscription_delete(&gala, &id(&names[0])).await.unwrap();
        connections.subscription_delete(&gala, &id(&names[0])).await.unwrap();
        assert_eq!(watchers(&connections, &gala).await.len(), 39);
        assert_eq!(watchers(&connections, &other).await.len(), 1);
        let read = connections.connection_fetch(&id(&names[0])).await.unwrap().unwrap();
        assert_eq!(read.events, BTreeSet::from([other]));
    })
    .await;
}

#[tokio::test]
async fn a_removed_connection_leaves_nothing_and_does_not_come_back() {
    on_every_engine(async |Stores { connections, .. }| {
        let event = event_id();
        connections.connection_put(&connection("c", Some("fan-1"))).await.unwrap();
        connections.connection_put(&connection("d", Some("fan-1"))).await.unwrap();
        for name in ["c", "d"] {
            connections.subscription_put(&subscription(&event, name, &[])).await.unwrap();
        }
        for _ in 0..2 {
            connections.connection_delete(&id("c")).await.unwrap();
        }
        assert_eq!(connections.connection_fetch(&id("c")).await.unwrap(), None);
        let own = connections.customer_connections_list(&customer("fan-1")).await.unwrap();
        assert_eq!(own, [id("d")]);
        assert_eq!(watchers(&connections, &event).await.len(), 1);

        let late = subscription(&event, "c", &[]);
        assert_eq!(connections.subscription_put(&late).await.unwrap(), Subscribed::NoConnection);
        connections.subscription_delete(&event, &id("c")).await.unwrap();
        assert_eq!(connections.connection_fetch(&id("c")).await.unwrap(), None);
        assert_eq!(watchers(&connections, &event).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_connection_watches_a_bounded_number_of_events() {
    on_every_engine(async |Stores { connections, .. }| {
        connections.connection_put(&connection("c", None)).await.unwrap();
        let event = |n: usize| EventId::parse(&format!("event-{n}")).unwrap();
        let subscribe = async |n: usize| {
            connections.subscription_put(&subscription(&event(n), "c", &[])).await.unwrap()
        };
        for n in 0..MAX_EVENTS_PER_CONNECTION {
            assert_eq!(subscribe(n).await, Subscribed::Stored);
        }
        assert_eq!(subscribe(MAX_EVENTS_PER_CONNECTION).await, Subscribed::TooMany);
        assert_eq!(subscribe(0).await, Subscribed::Stored, "one that it watches already");
        let unwatched = event(MAX_EVENTS_PER_CONNECTION);
        assert_eq!(watchers(&connections, &unwatched).await, []);
        connections.subscription_delete(&event(0), &id("c")).await.unwrap();
        assert_eq!(subscribe(MAX_EVENTS_PER_CONNECTION).await, Subscribed::Stored);
    })
    .await;
}

/// The gateway closes a connection after two hours, and an hour is for clocks.
#[tokio::test]
async fn what_nobody_removes_goes_three_hours_after_the_connection_came() {
    let (dynamo, wire) = (Dynamo::start().await, Wire::new());
    let stores = Stores::new(&wire.over(&dynamo.sdk_config()), &dynamo.tables);
    let connections = &stores.connections;
    connections.connection_put(&connection("c", Some("fan-1"))).await.unwrap();
    connections.subscription_put(&subscription(&event_id(), "c", &["A"])).await.unwrap();
    let sent = wire.take_sent();
    let puts: Vec<&Sent> = sent.iter().filter(|sent| sent.action == "PutItem").collect();
    assert_eq!(puts.len(), 3, "the connection, its customer's pointer, its subscription");
    let gone_at = (at(0).as_second() + 3 * 3_600).to_string();
    for put in puts {
        assert_eq!(put.request["Item"]["ttl"]["N"], gone_at, "{}", put.request);
    }
}

/// As when `$disconnect` overtakes connecting's second write.
#[tokio::test]
async fn a_pointer_to_a_connection_that_is_gone_is_left_to_the_time_to_live() {
    let dynamo = Dynamo::start().await;
    let (client, stores) = (dynamo.client(), Stores::on(&dynamo));
    let connections = &stores.connections;
    connections.connection_put(&connection("c", Some("fan-1"))).await.unwrap();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let gone = client.delete_item().table_name(&dynamo.tables.connections);
    gone.key("pk", text("connection#c")).key("sk", text("meta")).send().await.unwrap();
    connections.connection_delete(&id("c")).await.unwrap();
    let pointer = client.get_item().table_name(&dynamo.tables.connections);
    let pointer = pointer.key("pk", text("customer#fan-1")).key("sk", text("c")).send().await;
    let pointer = pointer.unwrap().item.unwrap();
    assert!(pointer["ttl"].is_n(), "{pointer:?}");
}
