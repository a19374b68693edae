//! `tests/scaling`: orders a second with 1, 2, 4 and 8 workers on one event.
//!
//! Each worker is an order-persistence of its own: a thread, its clients, its
//! batches of ten. Every request to the tables takes 25 ms on its way, so that
//! what is seen is whether workers wait for each other, not how fast one machine
//! can be the database as well.

#![expect(clippy::expect_used, reason = "a benchmark ends where its engines do")]

use std::io::Write;
use std::time::{Duration, Instant};

use contracts::messages::OrderIntent;
use dynamo_store::{CatalogStore, OrderStore};
use faults::persistence;
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event;
use order_persistence::handler::{ONE_INTENT, Persistence};
use redis_store::{Inventory, Redis, RedisMode};
use serde_json::json;
use test_sale::{EPOCH, Sale, now, places};
use test_support::queue::FakeQueue;
use test_support::wire::Wire;
use tokio::runtime::{Builder, Runtime};

const WORKERS: [usize; 4] = [1, 2, 4, 8];
const BATCHES: usize = 12;
const BATCH: usize = 10;
const ON_THE_WAY: Duration = Duration::from_millis(25);

fn main() {
    let runtime = runtime();
    let places = u32::try_from(WORKERS.iter().sum::<usize>() * BATCHES * BATCH).expect("few");
    let sale = runtime.block_on(Sale::of(places, 0));
    runtime.block_on(sale.raise_mark(EPOCH, places));
    tell(&format!(
        "Orders a second on one event, each request to the tables {ON_THE_WAY:?} on its way:"
    ));
    let mut curve = Vec::new();
    for workers in WORKERS {
        let rate = measure(&runtime, &sale, workers);
        tell(&format!("  {workers} workers {rate:>8.0}/s"));
        curve.push(json!({"workers": workers, "orders_per_second": rate.round()}));
    }
    if std::env::args().any(|word| word == "--json") {
        tell(&json!({"persistence": curve}).to_string());
    }
}

/// A reader that has gone away has read enough.
fn tell(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Holds first, then lets the workers persist what is held.
fn measure(runtime: &Runtime, sale: &Sale, workers: usize) -> f64 {
    let shares: Vec<Vec<Vec<OrderIntent>>> =
        (0..workers).map(|worker| runtime.block_on(share(sale, workers, worker))).collect();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for share in shares {
            scope.spawn(|| work(sale, share));
        }
    });
    let orders = u32::try_from(workers * BATCHES * BATCH).expect("few");
    f64::from(orders) / begun.elapsed().as_secs_f64()
}

/// What one worker is to persist.
async fn share(sale: &Sale, workers: usize, worker: usize) -> Vec<Vec<OrderIntent>> {
    let mut batches = Vec::with_capacity(BATCHES);
    for batch in 0..BATCHES {
        let mut intents = Vec::with_capacity(BATCH);
        for number in 0..BATCH {
            let fan = format!("fan-{workers}-{worker}-{batch}-{number}");
            intents.push(sale.hold(&fan, "key", vec![places(1)]).await);
        }
        batches.push(intents);
    }
    batches
}

fn work(sale: &Sale, batches: Vec<Vec<OrderIntent>>) {
    runtime().block_on(async {
        let queue = FakeQueue::start().await;
        let worker = worker(sale, &queue);
        for batch in batches {
            let deadline = Deadline::at(now() + SignedDuration::from_secs(30), ONE_INTENT);
            let response = worker.batch(sqs_event(&batch), deadline).await;
            assert!(response.batch_item_failures.is_empty(), "all are persisted");
        }
    });
}

/// With clients of its own, as a process has them.
fn worker(sale: &Sale, queue: &FakeQueue) -> Persistence {
    let wire = Wire::new();
    wire.slow_down(ON_THE_WAY);
    let client = dynamo_store::client(&wire.over(&sale.dynamo.sdk_config()));
    let tables = &sale.dynamo.tables;
    let catalog = CatalogStore::new(client.clone(), &tables.catalog);
    Persistence {
        orders: OrderStore::new(client, &tables.orders, &tables.units),
        inventory: Inventory::new(Redis::connect(&sale.redis.url(), RedisMode::Single)),
        units: dynamo_store::UnitCache::new(catalog.clone()),
        catalog,
        ..persistence(sale, queue)
    }
}
