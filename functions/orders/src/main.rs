//! Wires the function and runs it.

use std::sync::Arc;

use dynamo_store::{CatalogStore, EventCache, OrderStore};
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, clock, http, start, warm};
use orders::config::Config;
use orders::handler::router;
use orders::reading::Reader;
use redis_store::{Inventory, Redis};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let dynamo = dynamo_store::client(&aws::sdk_config().await);
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    warm::open("DynamoDB", catalog.catalog_reach());
    let reader = Reader {
        orders: OrderStore::new(dynamo, config.orders_table, ""),
        inventory: Inventory::new(Redis::connect(config.redis_url.expose(), config.redis_mode)),
        events: EventCache::new(catalog, clock::now),
    };
    http::serve(router(Arc::new(reader))).await
}
