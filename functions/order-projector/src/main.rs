//! Wires the function and runs it.

use dynamo_store::{CatalogStore, EventCache, OrderStore};
use lambda_kit::batch::Deadline;
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, clock, start, warm};
use lambda_runtime::{LambdaEvent, service_fn};
use order_projector::config::Config;
use order_projector::handler::{ONE_RETRY, Projector};
use order_projector::settling::Settler;
use order_projector::trigger::Trigger;
use queues::{LiveQueue, SettleQueue, Visibility};
use redis_store::{Inventory, Redis};
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let sdk = aws::sdk_config().await;
    let (dynamo, queues) = (dynamo_store::client(&sdk), queues::client(&sdk));
    let retries_url = config.settle_retries_queue_url;
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    warm::open("DynamoDB", catalog.catalog_reach());
    let projector = Projector {
        settler: Settler {
            orders: OrderStore::new(dynamo, config.orders_table, ""),
            inventory: Inventory::new(Redis::connect(config.redis_url.expose(), config.redis_mode)),
            events: EventCache::new(catalog, clock::now),
        },
        retries: SettleQueue::new(queues.clone(), retries_url.clone()),
        visibility: Visibility::new(queues.clone(), retries_url),
        live: LiveQueue::new(queues, config.live_updates_queue_url),
    };
    let projector = &projector;
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        let deadline = Deadline::of(&event.context, ONE_RETRY);
        Ok::<_, StartError>(projector.handle(Trigger::read(event.payload)?, deadline).await)
    }))
    .await
}
