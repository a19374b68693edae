//! DynamoDB engines with the tables of `template.yaml`, without their streams.
//!
//! The embedded engine is one that is verified against AWS; it runs in the test's
//! process on a free port. Where `ONSALE_DYNAMO_ENDPOINT` names another (the
//! local stack's emulator), [`Dynamo::engines`] gives that as well, so one suite
//! shows that both give the answers the stores rely on.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use dynoxide::Database;
use tokio::sync::oneshot;

use crate::endpoint::sdk_config_at;

/// Names the endpoint of a further engine to test on.
pub const ENDPOINT_VARIABLE: &str = "ONSALE_DYNAMO_ENDPOINT";

/// The tables, each with a name of this test's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// Events and all that belongs to them.
    pub catalog: String,
    /// Orders.
    pub orders: String,
    /// Owned units.
    pub units: String,
    /// WebSocket connections.
    pub connections: String,
}

/// A DynamoDB with empty tables. An embedded engine ends when this is dropped.
#[derive(Debug)]
pub struct Dynamo {
    /// Where it answers, without a slash at the end.
    pub endpoint: String,
    /// Its tables.
    pub tables: Tables,
    _engine: Option<Engine>,
}

impl Dynamo {
    /// An embedded engine of its own.
    ///
    /// # Panics
    /// When it can't be started.
    pub async fn start() -> Self {
        let engine = Engine::start();
        let endpoint = engine.endpoint.clone();
        Self::with_tables(endpoint, Some(engine)).await
    }

    /// New tables in an engine that runs elsewhere.
    ///
    /// # Panics
    /// When they can't be created.
    pub async fn at(endpoint: &str) -> Self {
        Self::with_tables(endpoint.trim_end_matches('/').to_owned(), None).await
    }

    /// Every engine there is to test on: the embedded one, and the one that
    /// [`ENDPOINT_VARIABLE`] names.
    ///
    /// # Panics
    /// When one can't be had.
    pub async fn engines() -> Vec<Self> {
        let mut engines = vec![Self::start().await];
        if let Ok(endpoint) = std::env::var(ENDPOINT_VARIABLE)
            && !endpoint.is_empty()
        {
            engines.push(Self::at(&endpoint).await);
        }
        engines
    }

    /// The configuration of its clients.
    #[must_use]
    pub fn sdk_config(&self) -> SdkConfig {
        sdk_config_at(&self.endpoint)
    }

    /// A client.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(&self.sdk_config())
    }

    async fn with_tables(endpoint: String, engine: Option<Engine>) -> Self {
        let suffix = RandomState::new().build_hasher().finish();
        let name = |table: &str| format!("{table}-{suffix:016x}");
        let tables = Tables {
            catalog: name("catalog"),
            orders: name("orders"),
            units: name("units"),
            connections: name("connections"),
        };
        let dynamo = Self { endpoint, tables, _engine: engine };
        let client = dynamo.client();
        // Without streams: who plays the stream here reads the tables, and this engine
        // counts a stream from its beginning at each write.
        let Tables { catalog, orders, units, connections } = &dynamo.tables;
        for name in [catalog, orders, units, connections] {
            create_table(&client, name).await;
        }
        dynamo
    }
}

#[expect(clippy::expect_used, reason = "only tests come here")]
async fn create_table(client: &Client, name: &str) {
    let mut request = client.create_table().table_name(name);
    for (attribute, role) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
        let definition = AttributeDefinition::builder()
            .attribute_name(attribute)
            .attribute_type(ScalarAttributeType::S)
            .build()
            .expect("a definition");
        let element = KeySchemaElement::builder().attribute_name(attribute).key_type(role);
        request = request
            .attribute_definitions(definition)
            .key_schema(element.build().expect("a key element"));
    }
    request.billing_mode(BillingMode::PayPerRequest).send().await.expect("a new table");
}

/// The embedded engine. It runs in a thread of its own, so that it also serves
/// tests whose runtime has but one thread and is waiting.
#[derive(Debug)]
struct Engine {
    endpoint: String,
    stop: Option<oneshot::Sender<()>>,
}

impl Engine {
    #[expect(clippy::expect_used, reason = "only tests come here")]
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a listener for tokio");
        let address = listener.local_addr().expect("an address");
        let database = Database::memory().expect("a database in memory");
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                let stopped = async move {
                    // Dropping the sender stops the engine too.
                    let _ = stopped.await;
                };
                let serving = dynoxide::server::serve_with_shutdown(listener, database, stopped);
                serving.await.expect("an engine that serves");
            });
        });
        Self { endpoint: format!("http://{address}"), stop: Some(stop) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // An engine that is gone already needs no telling.
            let _ = stop.send(());
        }
    }
}
