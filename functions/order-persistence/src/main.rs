//! Wires the function and runs it.

use aws_lambda_events::sqs::SqsEvent;
use dynamo_store::{CatalogStore, OrderStore, UnitCache};
use lambda_kit::batch::Deadline;
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, start, warm};
use lambda_runtime::{LambdaEvent, service_fn};
use order_persistence::config::Config;
use order_persistence::handler::{ONE_INTENT, Persistence};
use queues::{DeadLetters, Visibility};
use redis_store::{Inventory, Redis};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let sdk = aws::sdk_config().await;
    let dynamo = dynamo_store::client(&sdk);
    let queues = queues::client(&sdk);
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    warm::open("DynamoDB", catalog.catalog_reach());
    let persistence = Persistence {
        orders: OrderStore::new(dynamo, config.orders_table, config.units_table),
        inventory: Inventory::new(Redis::connect(config.redis_url.expose(), config.redis_mode)),
        units: UnitCache::new(catalog.clone()),
        catalog,
        visibility: Visibility::new(queues.clone(), config.order_intents_queue_url),
        dead_letters: DeadLetters::new(queues, config.dead_letters_url),
        time: config.hold,
    };
    let persistence = &persistence;
    lambda_runtime::run(service_fn(|event: LambdaEvent<SqsEvent>| async move {
        let deadline = Deadline::of(&event.context, ONE_INTENT);
        Ok::<_, StartError>(persistence.batch(event.payload, deadline).await)
    }))
    .await
}
