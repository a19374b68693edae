//! Wires the function and runs it.

use std::sync::Arc;

use dynamo_store::CatalogStore;
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, clock, start};
use lambda_runtime::{LambdaEvent, service_fn};
use live_authorizer::config::Config;
use live_authorizer::{ConnectEvent, FanTokens, Handler};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let aws = aws::sdk_config().await;
    let catalog = CatalogStore::new(dynamo_store::client(&aws), config.catalog_table);
    let handler = Handler::new(catalog, FanTokens::new(config.issuer)?).load_ahead(clock::now());
    let handler = Arc::new(handler);
    lambda_runtime::run(service_fn(|event: LambdaEvent<ConnectEvent>| {
        let handler = Arc::clone(&handler);
        async move { handler.authorize(&event.payload, clock::now()).await }
    }))
    .await
}
