//! A house that sells: the functions an order passes, in this process, over real
//! engines and queues that keep every message, so that it can come again.

#![expect(clippy::expect_used, reason = "only tests come here")]

pub mod backlog;
pub mod books;
pub mod scenario;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use contracts::messages::{OrderIntent, SettleRetry};
use dead_letters::handler::{Compensation, ONE_LETTER};
use domain::{HoldTime, SessionId};
use dynamo_store::{StoredKey, UnitCache};
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::http::adapt;
use lambda_kit::testing::{TestRequest, TestResponse, sqs_event, sqs_event_of_texts};
use order_persistence::handler::{ONE_INTENT, Persistence};
use order_projector::handler::{ONE_RETRY, Projector};
use order_projector::settling::Settler;
use order_projector::trigger::{Change, Trigger};
use queues::{DeadLetters, IntentQueue, LiveQueue, ParkedLetters, SettleQueue, Visibility};
use redis_store::{Inventory, Redis, RedisMode};
use reservation::admission::{HEADER, key_ring};
use reservation::handler::router;
use reservation::till::{LONGEST, Till};
use serde_json::Value;
use test_sale::{Sale, customer, now, show};
use test_support::queue::FakeQueue;
use test_support::redis::{Engine, RedisServer};
use tokens::{Admission, Signer};

const SECRET: &str = "a secret of more than thirty-two characters";
const INVOCATION: SignedDuration = SignedDuration::from_secs(30);

/// The house.
pub struct House {
    /// What is sold, and on which engines.
    pub sale: Sale,
    /// Where intents go.
    pub intents: FakeQueue,
    shop: Router,
    signer: Signer,
    persistence: Persistence,
    dead_letters: FakeQueue,
    compensation: Compensation,
    parked: FakeQueue,
    projector: Projector,
    /// The projector before a Redis that has forgotten everything.
    forgetful: Projector,
    _empty: RedisServer,
    retries: FakeQueue,
    _live: FakeQueue,
    kept: Mutex<Kept>,
}

/// All that queues and the stream ever carried.
#[derive(Debug, Default)]
struct Kept {
    intents: Vec<OrderIntent>,
    letters: Vec<String>,
    retries: Vec<SettleRetry>,
    images: Vec<serde_dynamo::Item>,
}

impl House {
    /// Opens with so many places and seats.
    ///
    /// # Panics
    /// When an engine can't be had.
    pub async fn of(places: u32, seats: u32) -> Self {
        let sale = Sale::of(places, seats).await;
        let inventory = sale.inventory.clone();
        Self::selling(sale, inventory).await
    }

    /// The same, and the shop reaches Redis by this address.
    ///
    /// # Panics
    /// When an engine can't be had.
    pub async fn over(sale: Sale, redis: &str) -> Self {
        let inventory = Inventory::new(Redis::connect(redis, RedisMode::Single));
        Self::selling(sale, inventory).await
    }

    async fn selling(sale: Sale, inventory: Inventory) -> Self {
        let (intents, dead_letters) = (FakeQueue::start().await, FakeQueue::start().await);
        let (retries, live) = (FakeQueue::start().await, FakeQueue::start().await);
        let parked = FakeQueue::start().await;
        let signer = Signer::derive(SECRET).expect("a key");
        let key = signer.public_key();
        let stored = StoredKey { kid: key.kid.clone(), jwk: key.jwk.to_string() };
        sale.catalog.key_put(&stored).await.expect("the table");
        let intents_client = queues::client(&intents.sdk_config());
        let intents_url = intents.queue_url("order-intents");
        let till = Till {
            catalog: sale.catalog.clone(),
            orders: sale.orders.clone(),
            inventory: inventory.clone(),
            intents: IntentQueue::new(intents_client.clone(), intents_url.clone()),
            keys: key_ring(sale.catalog.clone()),
            events: sale.event_cache(),
            partitions: sale.partition_cache(),
            hold: HoldTime::default(),
            longest: LONGEST,
        };
        let persistence = Persistence {
            inventory,
            dead_letters: DeadLetters::new(
                queues::client(&dead_letters.sdk_config()),
                dead_letters.queue_url("dead-letters"),
            ),
            ..persistence(&sale, &intents)
        };
        let empty = RedisServer::start(Engine::Redis);
        let nothing = Inventory::new(Redis::connect(&empty.url(), RedisMode::Single));
        Self {
            shop: adapt(router(Arc::new(till))),
            compensation: compensation(&sale, &dead_letters, &live, &parked),
            projector: projector(&sale, sale.inventory.clone(), &retries, &live),
            forgetful: projector(&sale, nothing, &retries, &live),
            _empty: empty,
            sale,
            intents,
            signer,
            persistence,
            dead_letters,
            parked,
            retries,
            _live: live,
            kept: Mutex::default(),
        }
    }

    /// A fan who is let in orders under a key.
    ///
    /// # Panics
    /// When no token can be had.
    pub async fn order(&self, fan: &str, key: &str, body: &Value) -> TestResponse {
        let admission = Admission {
            customer: customer(fan),
            event: show(),
            session: SessionId::parse("1-1").expect("a session"),
            issued_at: now(),
            expires_at: now() + SignedDuration::from_secs(300),
        };
        let token = self.signer.admission(&admission).expect("a token");
        let request = TestRequest::post("/events/show/orders").fan(fan).header(HEADER, &token);
        request.header("idempotency-key", key).json(body).send(&self.shop).await
    }

    /// Delivers every intent that was ever sent, whether it came before or not;
    /// the positions of those that come back.
    pub async fn deliver(&self) -> Vec<String> {
        let intents = self.intents_sent();
        let deadline = Deadline::at(now() + INVOCATION, ONE_INTENT);
        let response = self.persistence.batch(sqs_event(&intents), deadline).await;
        response.batch_item_failures.into_iter().map(|failed| failed.item_identifier).collect()
    }

    /// Sees to every dead letter there ever was, whether it was seen to or not.
    ///
    /// # Panics
    /// When one comes back.
    pub async fn see_to_letters(&self) {
        let sent = self.dead_letters.take_sent().into_iter().map(|letter| letter.text);
        let letters = {
            let mut kept = self.kept();
            kept.letters.extend(sent);
            kept.letters.clone()
        };
        let deadline = Deadline::at(now() + INVOCATION, ONE_LETTER);
        let response = self.compensation.batch(sqs_event_of_texts(&letters), deadline).await;
        assert!(response.batch_item_failures.is_empty(), "{response:?}");
    }

    /// The letters that are kept, since this was asked last.
    #[must_use]
    pub fn letters_kept(&self) -> usize {
        self.parked.take_sent().len()
    }

    /// An intent that nobody sent here.
    pub fn resend(&self, intent: &OrderIntent) {
        self.kept().intents.push(intent.clone());
    }

    /// A dead letter that nobody gave up here.
    pub fn letter(&self, text: &str) {
        self.kept().letters.push(text.to_owned());
    }

    /// From now on nothing comes again that was delivered before.
    pub fn forget(&self) {
        *self.kept() = Kept::default();
    }

    /// The intents that were ever sent.
    ///
    /// # Panics
    /// When one can't be read.
    pub fn intents_sent(&self) -> Vec<OrderIntent> {
        let sent = self.intents.take_sent().into_iter();
        let sent = sent.map(|message| serde_json::from_value(message.body).expect("an intent"));
        let mut kept = self.kept();
        kept.intents.extend(sent);
        kept.intents.clone()
    }

    /// Delivers every state of every order that the stream was ever seen to carry,
    /// the oldest last.
    ///
    /// # Panics
    /// When the table fails.
    pub async fn stream(&self) {
        self.project(&self.projector).await;
    }

    /// The same, before a Redis that has forgotten everything.
    ///
    /// # Panics
    /// When the table fails.
    pub async fn stream_without_inventory(&self) {
        self.project(&self.forgetful).await;
    }

    async fn project(&self, projector: &Projector) {
        let items = self.items(&self.sale.dynamo.tables.orders).await;
        self.kept().images.extend(items.into_iter().map(serde_dynamo::Item::from));
        let images = self.kept().images.clone();
        for (at, image) in images.into_iter().enumerate().rev() {
            // Each by itself, as a batch would leave out what is older.
            let change = Change { sequence: at.to_string(), image: Some(image) };
            let deadline = Deadline::at(now() + INVOCATION, ONE_RETRY);
            projector.handle(Trigger::Stream(vec![change]), deadline).await;
        }
    }

    /// Delivers every retry that was ever sent.
    ///
    /// # Panics
    /// When one can't be read.
    pub async fn retry(&self) {
        let sent = self.retries.take_sent().into_iter();
        let sent = sent.map(|message| serde_json::from_value(message.body).expect("a retry"));
        let retries = {
            let mut kept = self.kept();
            kept.retries.extend(sent);
            kept.retries.clone()
        };
        if !retries.is_empty() {
            let deadline = Deadline::at(now() + INVOCATION, ONE_RETRY);
            self.projector.handle(Trigger::Retries(sqs_event(&retries)), deadline).await;
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn compensation(
    sale: &Sale,
    letters: &FakeQueue,
    live: &FakeQueue,
    parked: &FakeQueue,
) -> Compensation {
    let client = |queue: &FakeQueue| queues::client(&queue.sdk_config());
    Compensation {
        catalog: sale.catalog.clone(),
        orders: sale.orders.clone(),
        inventory: sale.inventory.clone(),
        live: LiveQueue::new(client(live), live.queue_url("live-updates")),
        parked: ParkedLetters::new(client(parked), parked.queue_url("parked")),
        visibility: Visibility::new(client(letters), letters.queue_url("dead-letters")),
    }
}

/// A function of its own that persists intents of this sale. What it gives up goes
/// where what comes back does.
#[must_use]
pub fn persistence(sale: &Sale, intents: &FakeQueue) -> Persistence {
    let client = queues::client(&intents.sdk_config());
    let url = intents.queue_url("order-intents");
    Persistence {
        catalog: sale.catalog.clone(),
        orders: sale.orders.clone(),
        inventory: sale.inventory.clone(),
        units: UnitCache::new(sale.catalog.clone()),
        visibility: Visibility::new(client.clone(), url.clone()),
        dead_letters: DeadLetters::new(client, url),
        time: HoldTime::default(),
    }
}

fn projector(
    sale: &Sale,
    inventory: Inventory,
    retries: &FakeQueue,
    live: &FakeQueue,
) -> Projector {
    let client = queues::client(&retries.sdk_config());
    let url = retries.queue_url("settle-retries");
    Projector {
        settler: Settler { orders: sale.orders.clone(), inventory, events: sale.event_cache() },
        retries: SettleQueue::new(client.clone(), url.clone()),
        visibility: Visibility::new(client, url),
        live: LiveQueue::new(queues::client(&live.sdk_config()), live.queue_url("live-updates")),
    }
}

/// Longer than any test.
pub const LONG: Duration = Duration::from_secs(600);
