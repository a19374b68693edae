//! Wires the function and runs it.

use std::sync::Arc;

use catalog::catalogue::Catalogue;
use catalog::config::Config;
use catalog::router::router;
use dynamo_store::{CatalogStore, OrderStore};
use lambda_kit::config::Variables;
use lambda_kit::http::GroupsClaim;
use lambda_kit::{StartError, aws, http, start, warm};
use redis_store::{Inventory, Redis};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let sdk = aws::sdk_config().await;
    let dynamo = dynamo_store::client(&sdk);
    let redis = Redis::connect(config.redis_url.expose(), config.redis_mode);
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    warm::open("DynamoDB", catalog.catalog_reach());
    let catalogue = Catalogue::new(
        catalog,
        OrderStore::new(dynamo, config.orders_table, config.units_table),
        Inventory::new(redis),
        config.hold,
    );
    http::serve(router(Arc::new(catalogue), GroupsClaim(config.groups_claim))).await
}
