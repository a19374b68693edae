//! What is opened before the first request.

use dynamo_store::Consistency;
use test_support::dynamo::Tables;
use test_support::endpoint::{Answer, Endpoint};

use crate::given::{Stores, event_id};

#[tokio::test]
async fn the_first_read_finds_the_connection_that_was_opened_ahead() {
    let dynamo = Endpoint::start(|_| {
        Answer::new(200, "{}").header("content-type", "application/x-amz-json-1.0")
    })
    .await;
    let name = |table: &str| table.to_owned();
    let tables = Tables {
        catalog: name("catalog"),
        orders: name("orders"),
        units: name("units"),
        connections: name("connections"),
    };
    let stores = Stores::new(&dynamo.sdk_config(), &tables);
    tokio::spawn(stores.catalog.catalog_reach()).await.unwrap().unwrap();
    stores.connections.connections_reach().await.unwrap();
    let read = stores.catalog.event_fetch(&event_id(), Consistency::Strong).await.unwrap();
    assert_eq!(read, None);
    assert_eq!((dynamo.take_asked().len(), dynamo.connections()), (3, 1));
}
