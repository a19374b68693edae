//! Posting against a gateway that is faked at the wire.

#![cfg(test)]

use connections::{Connections, Posted};
use domain::ConnectionId;
use test_support::gateway::FakeGateway;

fn id(text: &str) -> ConnectionId {
    ConnectionId::parse(text).unwrap()
}

async fn connections() -> (FakeGateway, Connections) {
    let gateway = FakeGateway::start().await;
    // Dual-stack addresses are on in functions that live in a VPC; an endpoint
    // of one's own must be taken all the same.
    let config = gateway.sdk_config().into_builder().use_dual_stack(true).build();
    let connections = Connections::new(&config, &gateway.connections_endpoint());
    (gateway, connections)
}

#[tokio::test]
async fn a_frame_arrives_as_it_was_posted_at_the_connection_it_is_for() {
    let (gateway, connections) = connections().await;
    let posted = connections.post(&id("L0SM9cOFvHcCIhw="), r#"{"action":"pong"}"#).await;
    assert_eq!(posted.unwrap(), Posted::Sent);
    let taken = gateway.take_posted();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].connection, "L0SM9cOFvHcCIhw=");
    assert_eq!(taken[0].frame["action"], "pong");
}

#[tokio::test]
async fn a_connection_that_is_gone_is_told_from_one_that_fails() {
    let (gateway, connections) = connections().await;
    gateway.set_gone("gone=");
    gateway.set_broken("broken=", true);
    assert_eq!(connections.post(&id("gone="), "{}").await.unwrap(), Posted::Gone);
    assert!(connections.post(&id("broken="), "{}").await.is_err());
    gateway.set_broken("broken=", false);
    assert_eq!(connections.post(&id("broken="), "{}").await.unwrap(), Posted::Sent);
}
