//! Looking for an order where it may be: among the stored ones, else in Redis.

use std::sync::Arc;

use contracts::orders::{OrderBody, QueuedOrder};
use contracts::problem::Reason;
use domain::{CustomerId, Event, EventId, Fingerprint, Intent, Money, Order, OrderId, Rejection};
use dynamo_store::{EventCache, OrderStore, Refused};
use jiff::Timestamp;
use lambda_kit::http::Failure;
use redis_store::{Inventory, OrderRecord, RecordState, Recorded};
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
    /// When it can't be looked for now: also while there is no inventory, as an order
    /// that was accepted may be nowhere but in a queue then.
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

    /// What Redis knows of it, in the epoch that sells.
    async fn held(
        &self,
        customer: &CustomerId,
        event: &EventId,
        order: &OrderId,
    ) -> Result<Option<Held>, Failure> {
        let event = self.events.event_cached(event).await.or_fail()?;
        // Before it first is on sale, nobody orders anything.
        let Some(event) = event.filter(|event| event.activated) else { return Ok(None) };
        match self.recorded(customer, &event, order).await? {
            Recorded::StaleEpoch { .. } => self.held_now(customer, &event, order).await,
            recorded @ (Recorded::Known(_) | Recorded::Unknown | Recorded::Unavailable) => {
                known(recorded, event)
            }
        }
    }

    /// The same, where what is remembered of the event is of another epoch.
    async fn held_now(
        &self,
        customer: &CustomerId,
        remembered: &Event,
        order: &OrderId,
    ) -> Result<Option<Held>, Failure> {
        match self.events.event_renewed(&remembered.id).await.or_fail()? {
            Some(event) if event.epoch != remembered.epoch => {
                known(self.recorded(customer, &event, order).await?, event)
            }
            _ => Err(Reason::Unavailable.into()),
        }
    }

    async fn recorded(
        &self,
        customer: &CustomerId,
        event: &Event,
        order: &OrderId,
    ) -> Result<Recorded, Failure> {
        self.inventory.record(&event.id, event.epoch, order, &customer.key()).await.or_fail()
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

/// An answer that is none denies no order.
fn known(recorded: Recorded, event: Arc<Event>) -> Result<Option<Held>, Failure> {
    match recorded {
        Recorded::Known(record) => Ok(Some(Held { record, event })),
        Recorded::Unknown => Ok(None),
        Recorded::StaleEpoch { .. } | Recorded::Unavailable => Err(Reason::Unavailable.into()),
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
