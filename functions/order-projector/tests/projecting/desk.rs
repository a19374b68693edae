//! A desk: the function over a sale, and images of its orders.

use aws_sdk_dynamodb::types::AttributeValue;
use contracts::messages::{LiveUpdate, SettleRetry};
use domain::{Order, OrderState};
use dynamo_store::Ended;
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event;
use order_projector::handler::{ONE_RETRY, Projector};
use order_projector::settling::Settler;
use order_projector::trigger::{Change, Trigger};
use queues::{LiveQueue, SettleQueue, Visibility};
use redis_store::{Inventory, Redis, RedisMode};
use test_sale::{Sale, now, partitions};
use test_support::queue::FakeQueue;

pub(crate) struct Desk {
    pub(crate) sale: Sale,
    pub(crate) retries: FakeQueue,
    pub(crate) live: FakeQueue,
    pub(crate) projector: Projector,
}

impl Desk {
    /// Over a sale of so many places and seats.
    pub(crate) async fn of(places: u32, seats: u32) -> Self {
        let sale = Sale::of(places, seats).await;
        let (retries, live) = (FakeQueue::start().await, FakeQueue::start().await);
        let retry_client = queues::client(&retries.sdk_config());
        let projector = Projector {
            settler: Settler {
                orders: sale.orders.clone(),
                inventory: sale.inventory.clone(),
                events: sale.event_cache(),
            },
            retries: SettleQueue::new(retry_client.clone(), retries.queue_url("settle-retries")),
            visibility: Visibility::new(retry_client, retries.queue_url("settle-retries")),
            live: LiveQueue::new(
                queues::client(&live.sdk_config()),
                live.queue_url("live-updates"),
            ),
        };
        Self { sale, retries, live, projector }
    }

    /// From now on no Redis answers.
    pub(crate) fn lose_redis(&mut self) {
        // Port 1 has no listener.
        self.projector.settler.inventory =
            Inventory::new(Redis::connect("redis://127.0.0.1:1", RedisMode::Single));
    }

    pub(crate) fn find_redis(&mut self) {
        self.projector.settler.inventory = self.sale.inventory.clone();
    }

    /// The order's item as it is now.
    pub(crate) async fn image(&self, order: &Order) -> serde_dynamo::Item {
        let client = aws_sdk_dynamodb::Client::new(&self.sale.dynamo.sdk_config());
        let items = client.scan().table_name(&self.sale.dynamo.tables.orders).send().await.unwrap();
        let sort_key = AttributeValue::S(order.id.to_string());
        let items = items.items.unwrap_or_default();
        let item = items.into_iter().find(|item| item.get("sk") == Some(&sort_key));
        item.expect("a stored order").into()
    }

    /// The owners of all units are lost.
    pub(crate) async fn lose_units(&self) {
        let client = aws_sdk_dynamodb::Client::new(&self.sale.dynamo.sdk_config());
        let table = &self.sale.dynamo.tables.units;
        let units = client.scan().table_name(table).send().await.unwrap();
        for mut unit in units.items.unwrap_or_default() {
            unit.retain(|name, _| ["pk", "sk"].contains(&name.as_str()));
            client.delete_item().table_name(table).set_key(Some(unit)).send().await.unwrap();
        }
    }

    /// Works off these images as one batch of the stream; the sequences of those
    /// that come again.
    pub(crate) async fn stream(&self, images: &[serde_dynamo::Item]) -> Vec<String> {
        let change = |(at, image): (usize, &serde_dynamo::Item)| Change {
            sequence: at.to_string(),
            image: Some(image.clone()),
        };
        self.handle(Trigger::Stream(images.iter().enumerate().map(change).collect())).await
    }

    /// Works off the image of an order as it is now.
    pub(crate) async fn project(&self, order: &Order) -> Vec<String> {
        self.stream(&[self.image(order).await]).await
    }

    /// Works off retries; the positions of those that come back.
    pub(crate) async fn retry(&self, retries: &[SettleRetry]) -> Vec<String> {
        self.handle(Trigger::Retries(sqs_event(retries))).await
    }

    pub(crate) async fn handle(&self, trigger: Trigger) -> Vec<String> {
        let deadline = Deadline::at(now() + SignedDuration::from_secs(30), ONE_RETRY);
        let response = self.projector.handle(trigger, deadline).await;
        let failures = response.batch_item_failures.into_iter();
        let mut failed: Vec<String> = failures.map(|failure| failure.item_identifier).collect();
        failed.sort();
        failed
    }

    /// What was sent to the retry queue.
    pub(crate) fn retries_sent(&self) -> Vec<SettleRetry> {
        let sent = self.retries.take_sent().into_iter();
        sent.map(|message| serde_json::from_value(message.body).unwrap()).collect()
    }

    /// What was sent to live updates.
    pub(crate) fn nudges(&self) -> Vec<LiveUpdate> {
        let sent = self.live.take_sent().into_iter();
        sent.map(|message| serde_json::from_value(message.body).unwrap()).collect()
    }

    /// Ends an order in DynamoDB, behind Redis' back.
    pub(crate) async fn end(&self, order: &Order) -> Order {
        let expired = OrderState::Expired;
        let ended = self.sale.orders.order_end(order, expired, now(), &partitions()).await.unwrap();
        let Ended::Ended { order, .. } = ended else { panic!("not ended: {ended:?}") };
        order
    }

    /// Held, sold and left of a type, as Redis has it.
    pub(crate) async fn counts(&self, name: &str) -> (u32, u32, u32) {
        let counts = self.sale.counts(name).await;
        (counts.held, counts.sold, counts.remaining)
    }
}

/// Which order to look at again.
pub(crate) fn retry_of(order: &Order) -> SettleRetry {
    SettleRetry { order: order.id, customer: order.customer.clone(), event: order.event.clone() }
}
