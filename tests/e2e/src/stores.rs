//! What lies behind the interface. Journeys look there where no client can, and
//! the account of a demo compares it with what clients were told.

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::{ConnectionId, EventId};
use dynamo_store::{
    CatalogStore, Connection, ConnectionStore, OrderStore, StoreError, Subscription,
};
use redis_store::{Inventory, Redis, RedisMode};

use crate::clock::seconds_from_now;
use crate::error::ClientError;
use crate::identity::new_word;
use crate::stack::Stack;
use crate::until::{SOON, Seen, eventually};

/// The stores of a stack.
#[derive(Debug, Clone)]
pub struct Stores {
    /// Events, types, sections.
    pub catalog: CatalogStore,
    /// Orders and the units they own.
    pub orders: OrderStore,
    /// Who watches what.
    pub connections: ConnectionStore,
    /// Who holds what.
    pub inventory: Inventory,
}

impl Stores {
    /// The stores of a stack.
    #[must_use]
    pub fn of(stack: &Stack) -> Self {
        let client = dynamo_store::client(&emulator(stack));
        Self {
            catalog: CatalogStore::new(client.clone(), &stack.catalog_table),
            orders: OrderStore::new(client.clone(), &stack.orders_table, &stack.units_table),
            connections: ConnectionStore::new(client, &stack.connections_table),
            inventory: Inventory::new(Redis::connect(&stack.redis_url, RedisMode::Single)),
        }
    }

    /// A connection that watches an event and that no gateway knows: gone without
    /// anybody having been told.
    ///
    /// # Errors
    /// When it can't be stored.
    pub async fn ghost_watching(&self, event: &EventId) -> Result<ConnectionId, ClientError> {
        let name = new_word();
        let id = ConnectionId::parse(&name).map_err(|_| ClientError::InvalidId { id: name })?;
        let connection = Connection {
            id: id.clone(),
            customer: None,
            connected_at: seconds_from_now(0),
            events: Default::default(),
        };
        self.connections.connection_put(&connection).await?;
        let subscription =
            Subscription { event: event.clone(), connection: id.clone(), sections: Vec::new() };
        self.connections.subscription_put(&subscription).await?;
        Ok(id)
    }

    /// Waits until a connection watches nothing and is forgotten.
    ///
    /// # Errors
    /// When it stays.
    pub async fn until_gone(&self, event: &EventId, id: &ConnectionId) -> Result<(), ClientError> {
        eventually("the connection is removed", SOON, async || {
            let watching = self.connections.subscribers_list(event).await?;
            let watches = watching.iter().any(|subscriber| subscriber.connection == *id);
            let known = self.connections.connection_fetch(id).await?.is_some();
            Ok(Seen::when(!watches && !known, (watches, known)))
        })
        .await?;
        Ok(())
    }
}

/// How many records of connections would stay if nobody removed them.
///
/// # Errors
/// When the table can't be read.
pub async fn connections_without_end(stack: &Stack) -> Result<usize, ClientError> {
    let scan = dynamo_store::client(&emulator(stack)).scan().table_name(&stack.connections_table);
    // Each event has a ticker there, for as long as it has its other records.
    let scan =
        scan.filter_expression("attribute_not_exists(#end) AND NOT begins_with(pk, :ticker)");
    let scan = scan.expression_attribute_names("#end", "ttl");
    let scan = scan.expression_attribute_values(":ticker", AttributeValue::S("ticker#".to_owned()));
    let pages = scan.into_paginator().items().send();
    let items: Result<Vec<_>, _> = pages.collect().await;
    let items = items.map_err(|error| StoreError::Unavailable(error.into()))?;
    Ok(items.len())
}

fn emulator(stack: &Stack) -> SdkConfig {
    let credentials = Credentials::new("test", "test", None, None, "local stack");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(stack.region.clone()))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(&stack.endpoint)
        .build()
}
