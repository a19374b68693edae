//! Wires the function and runs it.

use aws_lambda_events::sqs::SqsEvent;
use dead_letters::config::Config;
use dead_letters::handler::{Compensation, ONE_LETTER};
use dynamo_store::{CatalogStore, OrderStore};
use lambda_kit::batch::Deadline;
use lambda_kit::config::Variables;
use lambda_kit::{StartError, aws, start, warm};
use lambda_runtime::{LambdaEvent, service_fn};
use queues::{LiveQueue, ParkedLetters, Visibility};
use redis_store::{Inventory, Redis};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    start::init();
    let config = Config::read(Variables::read())?;
    let sdk = aws::sdk_config().await;
    let (dynamo, queues) = (dynamo_store::client(&sdk), queues::client(&sdk));
    let catalog = CatalogStore::new(dynamo.clone(), config.catalog_table);
    warm::open("DynamoDB", catalog.catalog_reach());
    let compensation = Compensation {
        catalog,
        orders: OrderStore::new(dynamo, config.orders_table, ""),
        inventory: Inventory::new(Redis::connect(config.redis_url.expose(), config.redis_mode)),
        live: LiveQueue::new(queues.clone(), config.live_updates_queue_url),
        parked: ParkedLetters::new(queues.clone(), config.parked_url),
        visibility: Visibility::new(queues, config.dead_letters_url),
    };
    let compensation = &compensation;
    lambda_runtime::run(service_fn(|event: LambdaEvent<SqsEvent>| async move {
        let deadline = Deadline::of(&event.context, ONE_LETTER);
        Ok::<_, StartError>(compensation.batch(event.payload, deadline).await)
    }))
    .await
}
