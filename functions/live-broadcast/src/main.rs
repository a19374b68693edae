//! Wires the function and runs it.

use std::sync::Arc;

use aws_lambda_events::sqs::SqsEvent;
use connections::Connections;
use dynamo_store::{CatalogStore, ConnectionStore};
use lambda_kit::batch::Deadline;
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, clock, start, warm};
use lambda_runtime::{LambdaEvent, service_fn};
use live_broadcast::config::Config;
use live_broadcast::handler::{LONGEST, LiveBroadcast};
use queues::{LiveQueue, Visibility};
use redis_store::{Inventory, Redis};
use seat_log::SeatLog;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let (sdk, url) = (aws::sdk_config().await, &config.live_updates_queue_url);
    let (dynamo, sqs) = (dynamo_store::client(&sdk), queues::client(&sdk));
    let redis = Redis::connect(config.redis_url.expose(), config.redis_mode);
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    let connections = ConnectionStore::new(dynamo, config.connections_table);
    warm::open("DynamoDB", connections.connections_reach());
    let function = &LiveBroadcast {
        connections,
        log: SeatLog::new(Inventory::new(redis), catalog),
        updates: LiveQueue::new(sqs.clone(), url),
        visibility: Visibility::new(sqs, url),
        gateway: Connections::new(&sdk, &config.connections_endpoint),
        clock: Arc::new(clock::now),
    };
    lambda_runtime::run(service_fn(|event: LambdaEvent<SqsEvent>| async move {
        let deadline = Deadline::of(&event.context, LONGEST);
        let name = &event.context.request_id;
        Ok::<_, StartError>(function.handle_batch(event.payload, name, deadline).await)
    }))
    .await
}
