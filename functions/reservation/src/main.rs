//! Wires the function and runs it.

use std::sync::Arc;

use dynamo_store::{CatalogStore, EventCache, OrderStore, PartitionCache};
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, clock, http, start, warm};
use queues::IntentQueue;
use redis_store::{Inventory, Redis};
use reservation::admission::key_ring;
use reservation::config::Config;
use reservation::handler::router;
use reservation::till::{LONGEST, Till};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let sdk = aws::sdk_config().await;
    let dynamo = dynamo_store::client(&sdk);
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    let redis = Redis::connect(config.redis_url.expose(), config.redis_mode);
    let intents = IntentQueue::new(queues::client(&sdk), config.order_intents_queue_url);
    warm::open("SQS", intents.queue_reach());
    let till = Till {
        orders: OrderStore::new(dynamo, config.orders_table, config.units_table),
        inventory: Inventory::new(redis),
        intents,
        // This opens the connection to DynamoDB, too.
        keys: key_ring(catalog.clone()).load_ahead(clock::now()),
        events: EventCache::new(catalog.clone(), clock::now),
        partitions: PartitionCache::new(catalog.clone()),
        catalog,
        hold: config.hold,
        longest: LONGEST,
    };
    http::serve(router(Arc::new(till))).await
}
