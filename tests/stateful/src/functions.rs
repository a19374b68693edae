//! The functions over a sale, as an environment has them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use dead_letters::handler::Compensation;
use domain::{HoldTime, SessionId};
use dynamo_store::{EventCache, StoredKey, UnitCache};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::http::adapt;
use order_persistence::handler::Persistence;
use order_projector::handler::Projector;
use order_projector::settling::Settler;
use orders::reading::Reader;
use queues::{DeadLetters, IntentQueue, LiveQueue, ParkedLetters, SettleQueue, Visibility};
use redis_store::{Inventory, Redis, RedisMode};
use reservation::admission::key_ring;
use reservation::till::{LONGEST, Till};
use test_sale::{Sale, customer, now, show};
use test_support::queue::FakeQueue;
use tokens::{Admission, Signer};

const SECRET: &str = "a secret of more than thirty-two characters";

/// Where the functions send what they send.
#[derive(Debug)]
pub(crate) struct Queues {
    pub(crate) intents: FakeQueue,
    pub(crate) retries: FakeQueue,
    others: FakeQueue,
}

impl Queues {
    pub(crate) async fn start() -> Self {
        Self {
            intents: FakeQueue::start().await,
            retries: FakeQueue::start().await,
            others: FakeQueue::start().await,
        }
    }
}

/// The functions. They remember the event for as long as they run: a memory that is
/// too old is the harder case.
pub(crate) struct Functions {
    pub(crate) reservation: Router,
    pub(crate) orders: Router,
    pub(crate) persistence: Persistence,
    pub(crate) projector: Projector,
    pub(crate) letters: Compensation,
    inventory: Inventory,
    /// Nobody listens there.
    away: Inventory,
}

impl Functions {
    pub(crate) fn start(sale: &Sale, queues: &Queues) -> Self {
        let inventory = &sale.inventory;
        let away = Inventory::new(Redis::connect("redis://127.0.0.1:1", RedisMode::Single));
        Self {
            reservation: adapt(reservation::handler::router(Arc::new(till(sale, queues)))),
            orders: adapt(orders::handler::router(Arc::new(Reader {
                orders: sale.orders.clone(),
                inventory: inventory.clone(),
                events: events(sale),
            }))),
            persistence: persistence(sale, queues),
            projector: projector(sale, queues),
            letters: letters(sale, queues),
            inventory: inventory.clone(),
            away,
        }
    }

    /// Lets the two that settle reach Redis, or not.
    pub(crate) fn reach_redis(&mut self, reaches: bool) {
        let inventory = if reaches { &self.inventory } else { &self.away };
        self.persistence.inventory = inventory.clone();
        self.projector.settler.inventory = inventory.clone();
    }
}

fn events(sale: &Sale) -> EventCache {
    EventCache::new(sale.catalog.clone(), || Timestamp::UNIX_EPOCH)
}

fn till(sale: &Sale, queues: &Queues) -> Till {
    let queue = &queues.intents;
    Till {
        catalog: sale.catalog.clone(),
        orders: sale.orders.clone(),
        inventory: sale.inventory.clone(),
        intents: IntentQueue::new(
            queues::client(&queue.sdk_config()),
            queue.queue_url("order-intents"),
        ),
        keys: key_ring(sale.catalog.clone()),
        events: events(sale),
        partitions: sale.partition_cache(),
        hold: HoldTime::default(),
        longest: LONGEST,
    }
}

fn persistence(sale: &Sale, queues: &Queues) -> Persistence {
    let queue = &queues.others;
    let client = queues::client(&queue.sdk_config());
    Persistence {
        catalog: sale.catalog.clone(),
        orders: sale.orders.clone(),
        inventory: sale.inventory.clone(),
        units: UnitCache::new(sale.catalog.clone()),
        visibility: Visibility::new(client.clone(), queue.queue_url("order-intents")),
        dead_letters: DeadLetters::new(client, queue.queue_url("dead-letters")),
        time: HoldTime::default(),
    }
}

fn projector(sale: &Sale, queues: &Queues) -> Projector {
    let queue = &queues.retries;
    let client = queues::client(&queue.sdk_config());
    Projector {
        settler: Settler {
            orders: sale.orders.clone(),
            inventory: sale.inventory.clone(),
            events: events(sale),
        },
        retries: SettleQueue::new(client.clone(), queue.queue_url("settle-retries")),
        visibility: Visibility::new(client, queue.queue_url("settle-retries")),
        live: LiveQueue::new(
            queues::client(&queues.others.sdk_config()),
            queues.others.queue_url("live-updates"),
        ),
    }
}

fn letters(sale: &Sale, queues: &Queues) -> Compensation {
    let queue = &queues.others;
    let client = queues::client(&queue.sdk_config());
    Compensation {
        catalog: sale.catalog.clone(),
        orders: sale.orders.clone(),
        inventory: sale.inventory.clone(),
        live: LiveQueue::new(client.clone(), queue.queue_url("live-updates")),
        parked: ParkedLetters::new(client.clone(), queue.queue_url("order-intents-parked")),
        visibility: Visibility::new(client, queue.queue_url("order-intents-dead-letters")),
    }
}

/// Lets the functions know who signs admissions.
pub(crate) async fn signer(sale: &Sale) -> Signer {
    let signer = Signer::derive(SECRET).expect("a secret");
    let key = signer.public_key();
    let stored = StoredKey { kid: key.kid.clone(), jwk: key.jwk.to_string() };
    sale.catalog.key_put(&stored).await.expect("the table");
    signer
}

/// A fan's admission to the show.
pub(crate) fn admission(signer: &Signer, fan: &str) -> String {
    let lives = SignedDuration::try_from(Duration::from_secs(300)).expect("a duration");
    let admission = Admission {
        customer: customer(fan),
        event: show(),
        session: SessionId::parse("1-1").expect("a session"),
        issued_at: now(),
        expires_at: now() + lives,
    };
    signer.admission(&admission).expect("a token")
}
