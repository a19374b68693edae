//! Looking for an order where it may be: among the stored ones, else in Redis.

use std::sync::Arc;

use contracts::orders::{OrderBody, QueuedOrder};
use contracts::problem::Reason;
use domain::{CustomerId, Event, EventId, Fingerprint, Intent, Money, Order, OrderId, Rejection};
use dynamo_store::{EventCache, OrderStore, Refused};
use jiff::Timestamp;
use lambda_kit::http::Failure;
use redis_store::{Inventory, OrderRecord, RecordState};
use store_failures::OrFail;

/// What orders are read with.
#[derive(Debug)]
pub struct Reader {
    /// The stored ones.
    pub orders: OrderStore,
    /// The held ones.
    pub inventory: Inventory,
    /// Events on sale.
    pub events: EventCache,
}

/// A record of Redis, and the event as it was when it was read.
struct Held {
    record: OrderRecord,
    event: Arc<Event>,
}

impl Reader {
    /// The fan's order; none: nothing is known under this number (yet).
    ///
    /// # Errors
    /// When it can't be looked for now.
    pub async fn order(
        &self,
        customer: &CustomerId,
        event: &EventId,
        order: &OrderId,
        now: Timestamp,
    ) -> Result<Option<OrderBody>, Failure> {
        if let Some(stored) = self.stored(customer, event, order).await? {
            return Ok(Some(stored.into()));
        }
        let Some(held) = self.held(customer, event, order).await? else {
            return Ok(None);
        };
        let Held { record, event } = held;
        match record.state {
            // By Redis' clock: a hold whose time is over reads as lapsed.
            RecordState::Held => Ok(Some(queued(*order, &event, record).into())),
            RecordState::Lapsed | RecordState::Ended => {
                self.lapsed(customer, *order, &event, &record, now).await.map(Some)
            }
            // Redis heard that it is stored, after we had looked.
            RecordState::Live | RecordState::Withdrawn => {
                let stored = self.stored(customer, &event.id, order).await?;
                if stored.is_none() {
                    tracing::error!(%order, metric = "order_unknown_to_dynamodb", "Redis has it");
                }
                stored.map(|order| Some(order.into())).ok_or_else(|| Reason::Unavailable.into())
            }
        }
    }

    async fn stored(
        &self,
        customer: &CustomerId,
        event: &EventId,
        order: &OrderId,
    ) -> Result<Option<Order>, Failure> {
        let stored = self.orders.order_fetch(customer, order).await;
        Ok(stored.or_fail()?.filter(|order| order.event == *event))
    }

    /// What Redis knows of it. Nothing may mean that a newer epoch knows it.
    async fn held(
        &self,
        customer: &CustomerId,
        event: &EventId,
        order: &OrderId,
    ) -> Result<Option<Held>, Failure> {
        let known = self.events.event_cached(event).await.or_fail()?;
        let Some(known) = known else { return Ok(None) };
        if let Some(held) = self.record(customer, Arc::clone(&known), order).await? {
            return Ok(Some(held));
        }
        let renewed = self.events.event_renewed(event).await.or_fail()?;
        match renewed {
            Some(renewed) if renewed.epoch != known.epoch => {
                self.record(customer, renewed, order).await
            }
            _ => Ok(None),
        }
    }

    async fn record(
        &self,
        customer: &CustomerId,
        event: Arc<Event>,
        order: &OrderId,
    ) -> Result<Option<Held>, Failure> {
        let record = self.inventory.record(&event.id, event.epoch, order, &customer.key()).await;
        let record = record.or_fail()?;
        Ok(record.map(|record| Held { record, event }))
    }

    /// Its hold is over. If nothing was stored by then, nothing ever will be but
    /// this end, and so it is stored before it is told.
    async fn lapsed(
        &self,
        customer: &CustomerId,
        order: OrderId,
        event: &Event,
        record: &OrderRecord,
        now: Timestamp,
    ) -> Result<OrderBody, Failure> {
        let intent = Intent {
            order,
            customer: customer.clone(),
            event: event.id.clone(),
            fingerprint: Fingerprint::from_short(record.fingerprint),
        };
        let refusal =
            Order::refusal(intent, event.epoch, Rejection::HoldExpired, event.currency, now);
        match self.orders.order_refuse(&refusal).await.or_fail()? {
            Refused::Stored => Ok(refusal.into()),
            Refused::Present(stored) => Ok(stored.into()),
        }
    }
}

fn queued(id: OrderId, event: &Event, record: OrderRecord) -> QueuedOrder {
    QueuedOrder {
        id,
        event: event.id.clone(),
        total: Money { amount: Order::sum(&record.lines), currency: event.currency },
        lines: record.lines,
        expires_at: record.expires_at,
    }
}
