//! The tables are away while intents pile up, and every second hold is over before
//! they are back.

#![expect(clippy::expect_used, reason = "only tests come here")]

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use contracts::messages::OrderIntent;
use domain::{OrderState, Rejection};
use dynamo_store::order_of_image;
use futures::{StreamExt, stream};
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event;
use order_persistence::handler::ONE_INTENT;
use order_projector::handler::ONE_RETRY;
use order_projector::trigger::{Change, Trigger};
use serde::Serialize;
use test_sale::{EPOCH, now, places};

use crate::books::billed_bytes;
use crate::{House, INVOCATION};

/// As a queue's trigger gives them.
const BATCH: usize = 10;
/// As the stream's trigger gives them.
const RECORDS: usize = 100;
/// Batches at the same time.
const WORKERS: usize = 8;
const KEY: &str = "key";
/// Holds that the tables are back in time for.
const LASTING: Duration = Duration::from_secs(3_600);
/// Holds that they are not: too late for persistence as soon as they are made, and long
/// enough that asking for one twice on a busy machine finds it.
const LAPSING: Duration = Duration::from_secs(10);
/// More often than any queue would have given it up.
const RECEIVED: u32 = 1_000_000;

type Item = HashMap<String, AttributeValue>;

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
    /// What an order takes in its table on average, in bytes that are billed.
    pub bytes_per_order: usize,
    /// What its unit takes.
    pub bytes_per_unit: usize,
    /// What a refused one takes.
    pub bytes_per_refusal: usize,
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
    let mut left = deliver(&house, queued.clone(), 1).await;
    let came_back = left.len();
    house.sale.wire.heal();
    while !left.is_empty() {
        let before = left.len();
        left = deliver(&house, left, RECEIVED).await;
        assert!(left.len() < before, "{} intents are kept waiting", left.len());
    }

    catch_up(&house).await;
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

/// The stream tells of every order, also of those that a busy Redis was not told of.
async fn catch_up(house: &House) {
    let items = house.items(&house.sale.dynamo.tables.orders).await;
    let change = |item: Item| Change { sequence: String::new(), image: Some(item.into()) };
    let changes: Vec<Change> = items.into_iter().map(change).collect();
    for batch in changes.chunks(RECORDS) {
        let deadline = Deadline::at(now() + INVOCATION, ONE_RETRY);
        let response = house.projector.handle(Trigger::Stream(batch.to_vec()), deadline).await;
        assert!(response.batch_item_failures.is_empty(), "{response:?}");
    }
}

async fn outcome_of(house: &House, queued: &[OrderIntent], came_back: usize) -> Outcome {
    let items = house.items(&house.sale.dynamo.tables.orders).await;
    let stored = items.into_iter().map(|item| {
        let bytes = billed_bytes(&item);
        (order_of_image(item.into()).expect("an order"), bytes)
    });
    let orders: BTreeMap<_, _> = stored.map(|(order, bytes)| (order.id, (order, bytes))).collect();
    let (mut persisted, mut refused, mut lost) = (Vec::new(), Vec::new(), 0);
    for intent in queued {
        match orders.get(&intent.order) {
            Some((order, bytes)) if order.state == OrderState::Pending => persisted.push(*bytes),
            Some((order, bytes)) if order.rejection == Some(Rejection::HoldExpired) => {
                refused.push(*bytes);
            }
            Some(_) | None => lost += 1,
        }
    }
    let units = house.items(&house.sale.dynamo.tables.units).await;
    let units: Vec<usize> = units.iter().map(billed_bytes).collect();
    Outcome {
        queued: queued.len(),
        came_back,
        persisted: persisted.len(),
        refused: refused.len(),
        lost,
        bytes_per_order: mean(&persisted),
        bytes_per_unit: mean(&units),
        bytes_per_refusal: mean(&refused),
    }
}

fn mean(bytes: &[usize]) -> usize {
    bytes.iter().sum::<usize>() / bytes.len().max(1)
}
