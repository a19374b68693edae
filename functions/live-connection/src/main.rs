//! Wires the function and runs it.

use std::sync::Arc;

use connections::Connections;
use dynamo_store::{CatalogStore, ConnectionStore, EventCache};
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, clock, start, warm};
use lambda_runtime::{LambdaEvent, service_fn};
use live_connection::config::Config;
use live_connection::handler::LiveConnection;
use live_connection::socket::SocketEvent;
use queues::LiveQueue;
use redis_store::{Inventory, Redis};
use seat_log::SeatLog;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let sdk = aws::sdk_config().await;
    let dynamo = dynamo_store::client(&sdk);
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    warm::open("DynamoDB", catalog.catalog_reach());
    let redis = Redis::connect(config.redis_url.expose(), config.redis_mode);
    let function = Arc::new(LiveConnection {
        events: EventCache::new(catalog.clone(), clock::now),
        connections: ConnectionStore::new(dynamo, config.connections_table),
        log: SeatLog::new(Inventory::new(redis), catalog),
        updates: LiveQueue::new(queues::client(&sdk), config.live_updates_queue_url),
        gateway: Connections::new(&sdk, &config.connections_endpoint),
    });
    lambda_runtime::run(service_fn(move |event: LambdaEvent<SocketEvent>| {
        let function = Arc::clone(&function);
        async move { Ok::<_, StartError>(function.handle(event.payload, clock::now()).await) }
    }))
    .await
}
