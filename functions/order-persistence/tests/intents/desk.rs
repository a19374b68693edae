//! A desk: the function over a sale, and batches of intents.

use contracts::messages::OrderIntent;
use domain::{Fingerprint, HoldTime, Order, OrderState, Rejection};
use dynamo_store::UnitCache;
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::testing::{sqs_event, sqs_event_of_texts};
use order_persistence::handler::{ONE_INTENT, Persistence};
use queues::{DeadLetters, Visibility};
use redis_store::{Inventory, Redis, RedisMode};
use test_sale::{Sale, now};
use test_support::queue::FakeQueue;

pub(crate) struct Desk {
    pub(crate) sale: Sale,
    pub(crate) intents: FakeQueue,
    pub(crate) dead_letters: FakeQueue,
    pub(crate) persistence: Persistence,
}

impl Desk {
    /// Over a sale of so many places and seats.
    pub(crate) async fn of(places: u32, seats: u32) -> Self {
        let sale = Sale::of(places, seats).await;
        let (intents, dead_letters) = (FakeQueue::start().await, FakeQueue::start().await);
        let persistence = Persistence {
            catalog: sale.catalog.clone(),
            orders: sale.orders.clone(),
            inventory: sale.inventory.clone(),
            units: UnitCache::new(sale.catalog.clone()),
            visibility: Visibility::new(
                queues::client(&intents.sdk_config()),
                intents.queue_url("order-intents"),
            ),
            dead_letters: DeadLetters::new(
                queues::client(&dead_letters.sdk_config()),
                dead_letters.queue_url("dead-letters"),
            ),
            time: HoldTime::default(),
        };
        Self { sale, intents, dead_letters, persistence }
    }

    /// From now on no Redis answers.
    pub(crate) fn lose_redis(&mut self) {
        // Port 1 has no listener.
        self.reach_redis_at("redis://127.0.0.1:1");
    }

    /// From now on Redis is looked for at this address.
    pub(crate) fn reach_redis_at(&mut self, url: &str) {
        self.persistence.inventory = Inventory::new(Redis::connect(url, RedisMode::Single));
    }

    pub(crate) fn find_redis(&mut self) {
        self.persistence.inventory = self.sale.inventory.clone();
    }

    /// Works off a batch; the positions of those that come back.
    pub(crate) async fn batch(&self, intents: &[OrderIntent]) -> Vec<String> {
        self.work(sqs_event(intents), 30).await
    }

    /// Works off a batch of texts, in so many seconds.
    pub(crate) async fn texts(&self, texts: &[String], seconds: i64) -> Vec<String> {
        self.work(sqs_event_of_texts(texts), seconds).await
    }

    async fn work(&self, event: aws_lambda_events::sqs::SqsEvent, seconds: i64) -> Vec<String> {
        let end = now() + SignedDuration::from_secs(seconds);
        let response = self.persistence.batch(event, Deadline::at(end, ONE_INTENT)).await;
        let failures = response.batch_item_failures.into_iter();
        let mut failed: Vec<String> = failures.map(|failure| failure.item_identifier).collect();
        failed.sort();
        failed
    }

    /// The order of an intent as it is stored.
    pub(crate) async fn order(&self, intent: &OrderIntent) -> Order {
        let stored = self.sale.stored(intent.customer.as_str(), &intent.order).await;
        stored.expect("a stored order")
    }

    /// Why the order of an intent was refused.
    pub(crate) async fn refusal(&self, intent: &OrderIntent) -> Rejection {
        let order = self.order(intent).await;
        assert_eq!(order.state, OrderState::Rejected);
        assert_eq!(order.created_at, intent.held_at);
        order.rejection.expect("a reason")
    }

    /// How many transactions were sent.
    pub(crate) fn transactions(&self) -> usize {
        let sent = self.sale.wire.take_sent();
        sent.iter().filter(|sent| sent.action == "TransactWriteItems").count()
    }

    /// Held, sold and left of a type, as Redis has it.
    pub(crate) async fn counts(&self, name: &str) -> (u32, u32, u32) {
        let counts = self.sale.counts(name).await;
        (counts.held, counts.sold, counts.remaining)
    }
}

/// The same order with another content.
pub(crate) fn with_other_content(order: Order) -> Order {
    Order { fingerprint: Fingerprint([1; 32]), ..order }
}
