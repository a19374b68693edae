//! The tables are away for longer than holds last, while intents pile up.

#![expect(clippy::expect_used, reason = "only tests come here")]

use std::collections::BTreeMap;
use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{OrderState, Rejection};
use futures::{StreamExt, stream};
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event;
use order_persistence::handler::ONE_INTENT;
use serde::Serialize;
use test_sale::{EPOCH, now, places};

use crate::books::billed_bytes;
use crate::{House, INVOCATION};

/// As a queue's trigger gives them.
const BATCH: usize = 10;
/// Batches at the same time.
const WORKERS: usize = 8;
const KEY: &str = "key";
/// Holds that the tables are back in time for.
const LASTING: Duration = Duration::from_secs(3_600);
/// Holds that they are not: too late for persistence as soon as they are made.
const LAPSING: Duration = Duration::from_secs(1);
/// More often than any queue would have given it up.
const RECEIVED: u32 = 1_000_000;

/// What became of the intents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// So many were queued.
    pub queued: usize,
    /// So many came back while the tables were away.
    pub came_back: usize,
    /// So many are orders, `pending`.
    pub persisted: usize,
    /// So many are orders, `rejected(hold_expired)`.
    pub refused: usize,
    /// So many are anything else, or nothing.
    pub lost: usize,
    /// What all the orders take in their table, in bytes that are billed.
    pub order_bytes: usize,
    /// What their units take.
    pub unit_bytes: usize,
}

/// Queues so many intents, every second of which outlives its hold: all of them come
/// back for as long as the tables are away, and each is decided once they are not.
///
/// # Panics
/// When an engine can't be had, or a promise is broken.
pub async fn outlast(intents: u32) -> Outcome {
    let house = House::of(intents, 0).await;
    house.sale.raise_mark(EPOCH, intents).await;
    let queued: Vec<OrderIntent> = stream::iter(0..intents)
        .map(|number| hold(&house, number))
        .buffered(WORKERS)
        .collect()
        .await;
    queued.iter().for_each(|intent| house.resend(intent));

    house.sale.wire.break_after(0);
    let left = deliver(&house, queued.clone(), 1).await;
    let came_back = left.len();
    house.sale.wire.heal();
    let mut left = left;
    while !left.is_empty() {
        let before = left.len();
        left = deliver(&house, left, RECEIVED).await;
        assert!(left.len() < before, "{} intents are kept waiting", left.len());
    }

    let outcome = outcome_of(&house, &queued, came_back).await;
    house.audit(intents, 0).await;
    outcome
}

async fn hold(house: &House, number: u32) -> OrderIntent {
    let lasts = if number.is_multiple_of(2) { LASTING } else { LAPSING };
    house.sale.hold_for(&format!("fan-{number}"), KEY, vec![places(1)], lasts).await
}

/// Those that come back.
async fn deliver(house: &House, intents: Vec<OrderIntent>, received: u32) -> Vec<OrderIntent> {
    let batches = stream::iter(intents.chunks(BATCH));
    let left = batches.map(|batch| deliver_batch(house, batch, received));
    left.buffer_unordered(WORKERS).concat().await
}

async fn deliver_batch(house: &House, batch: &[OrderIntent], received: u32) -> Vec<OrderIntent> {
    let mut event = sqs_event(batch);
    for message in &mut event.records {
        message.attributes.insert("ApproximateReceiveCount".to_owned(), received.to_string());
    }
    let deadline = Deadline::at(now() + INVOCATION, ONE_INTENT);
    let response = house.persistence.batch(event, deadline).await;
    // What was sent is counted elsewhere; here it would only pile up.
    drop(house.sale.wire.take_sent());
    let failed = response.batch_item_failures.into_iter();
    failed
        .map(|failed| batch[failed.item_identifier.parse::<usize>().expect("a position")].clone())
        .collect()
}

async fn outcome_of(house: &House, queued: &[OrderIntent], came_back: usize) -> Outcome {
    let orders: BTreeMap<_, _> =
        house.orders().await.into_iter().map(|order| (order.id, order)).collect();
    let mut outcome = Outcome {
        queued: queued.len(),
        came_back,
        persisted: 0,
        refused: 0,
        lost: 0,
        order_bytes: bytes_of(house, &house.sale.dynamo.tables.orders).await,
        unit_bytes: bytes_of(house, &house.sale.dynamo.tables.units).await,
    };
    for intent in queued {
        let order = orders.get(&intent.order);
        let said = order.map(|order| (order.state, &order.rejection));
        *match said {
            Some((OrderState::Pending, None)) => &mut outcome.persisted,
            Some((OrderState::Rejected, Some(Rejection::HoldExpired))) => &mut outcome.refused,
            _ => &mut outcome.lost,
        } += 1;
    }
    outcome
}

async fn bytes_of(house: &House, table: &str) -> usize {
    house.items(table).await.iter().map(billed_bytes).sum()
}
