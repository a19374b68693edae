//! Wires the function and runs it.

use dynamo_store::CatalogStore;
use lambda_kit::config::Variables;
use lambda_kit::http::GroupsClaim;
use lambda_kit::{StartError, aws, http, start, warm};
use queue_admission::config::Config;
use queue_admission::{App, router, signer_at};
use redis_store::Redis;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let aws = aws::sdk_config().await;
    let redis = Redis::connect(config.redis_url.expose(), config.redis_mode);
    let catalog = CatalogStore::new(dynamo_store::client(&aws), config.catalog_table);
    warm::open("DynamoDB", catalog.catalog_reach());
    let signing = signer_at(&aws, config.signing_secret_arn, catalog.clone());
    let app = App::new(redis, catalog, signing);
    http::serve(router(app, GroupsClaim(config.groups_claim))).await
}
