//! A desk: the function over a sale, and batches of letters.

use std::collections::BTreeMap;

use aws_lambda_events::sqs::SqsEvent;
use contracts::messages::{LiveUpdate, OrderIntent};
use dead_letters::handler::{Compensation, ONE_LETTER};
use domain::{Order, OrderState, Rejection};
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event_of_texts;
use queues::{LiveQueue, ParkedLetters, Visibility};
use redis_store::{Inventory, Redis, RedisMode};
use serde_json::json;
use test_sale::{Sale, now};
use test_support::queue::{FakeQueue, SentMessage};

pub(crate) struct Desk {
    pub(crate) sale: Sale,
    pub(crate) live: FakeQueue,
    pub(crate) parked: FakeQueue,
    pub(crate) letters: FakeQueue,
    pub(crate) compensation: Compensation,
}

/// A letter as it lies in the dead-letter queue.
#[derive(Debug, Clone)]
pub(crate) struct DeadLetter {
    text: String,
    attributes: BTreeMap<String, String>,
}

/// One that order-persistence buried, with its reason.
pub(crate) fn buried(intent: &OrderIntent) -> DeadLetter {
    let attributes = [("reason", "unwritable"), ("detail", "no such type")];
    let attributes = attributes.map(|(name, value)| (name.to_owned(), value.to_owned()));
    DeadLetter { attributes: attributes.into(), ..given_up(intent) }
}

/// One that the queue itself gave up.
pub(crate) fn given_up(intent: &OrderIntent) -> DeadLetter {
    text(&serde_json::to_string(intent).unwrap())
}

/// One of any text, without a reason.
pub(crate) fn text(text: &str) -> DeadLetter {
    DeadLetter { text: text.to_owned(), attributes: BTreeMap::new() }
}

impl From<SentMessage> for DeadLetter {
    fn from(sent: SentMessage) -> Self {
        Self { text: sent.text, attributes: sent.attributes }
    }
}

fn event_of(letters: &[DeadLetter]) -> SqsEvent {
    let mut event = sqs_event_of_texts(letters.iter().map(|letter| letter.text.clone()));
    for (record, letter) in event.records.iter_mut().zip(letters) {
        for (name, value) in &letter.attributes {
            let attribute = json!({"stringValue": value, "dataType": "String"});
            let attribute = serde_json::from_value(attribute).unwrap();
            record.message_attributes.insert(name.clone(), attribute);
        }
    }
    event
}

impl Desk {
    /// Over a sale of so many places and seats.
    pub(crate) async fn of(places: u32, seats: u32) -> Self {
        let sale = Sale::of(places, seats).await;
        let (live, parked) = (FakeQueue::start().await, FakeQueue::start().await);
        let letters = FakeQueue::start().await;
        let client = |queue: &FakeQueue| queues::client(&queue.sdk_config());
        let compensation = Compensation {
            catalog: sale.catalog.clone(),
            orders: sale.orders.clone(),
            inventory: sale.inventory.clone(),
            live: LiveQueue::new(client(&live), live.queue_url("live-updates")),
            parked: ParkedLetters::new(client(&parked), parked.queue_url("parked")),
            visibility: Visibility::new(client(&letters), letters.queue_url("dead-letters")),
        };
        Self { sale, live, parked, letters, compensation }
    }

    /// From now on no Redis answers.
    pub(crate) fn lose_redis(&mut self) {
        // Port 1 has no listener.
        self.compensation.inventory =
            Inventory::new(Redis::connect("redis://127.0.0.1:1", RedisMode::Single));
    }

    pub(crate) fn find_redis(&mut self) {
        self.compensation.inventory = self.sale.inventory.clone();
    }

    /// Works off a batch; the positions of those that come back.
    pub(crate) async fn batch(&self, letters: &[DeadLetter]) -> Vec<String> {
        self.in_seconds(letters, 30).await
    }

    /// The same, in so many seconds.
    pub(crate) async fn in_seconds(&self, letters: &[DeadLetter], seconds: i64) -> Vec<String> {
        let end = now() + SignedDuration::from_secs(seconds);
        let deadline = Deadline::at(end, ONE_LETTER);
        let response = self.compensation.batch(event_of(letters), deadline).await;
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

    /// The order of an intent is refused as one that can't be carried out, and
    /// nothing is held for it.
    pub(crate) async fn assert_ended(&self, intent: &OrderIntent) {
        let order = self.order(intent).await;
        assert_eq!(order.state, OrderState::Rejected);
        assert_eq!(order.rejection, Some(Rejection::Unprocessable));
        assert_eq!((order.created_at, order.version), (intent.held_at, 1));
    }

    /// What was sent to live updates.
    pub(crate) fn told(&self) -> Vec<LiveUpdate> {
        let sent = self.live.take_sent().into_iter();
        sent.map(|message| serde_json::from_value(message.body).unwrap()).collect()
    }

    /// Held, sold and left of a type, as Redis has it.
    pub(crate) async fn counts(&self, name: &str) -> (u32, u32, u32) {
        let counts = self.sale.counts(name).await;
        (counts.held, counts.sold, counts.remaining)
    }
}
