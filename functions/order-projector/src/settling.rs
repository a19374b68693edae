//! Making Redis agree with an order, whatever Redis answers.

use std::sync::Arc;

use domain::{CustomerKey, Epoch, Event, Order, OrderId, OrderState};
use dynamo_store::{EventCache, OrderStore, StoreError};
use redis_store::{Inventory, RedisStoreError, Released, Settle, Settled};

/// How often Redis is asked about one order. Each answer but agreement changes
/// what it is asked next; an order that contradicts many others takes its time
/// from the retry queue.
const ROUNDS: u32 = 8;

/// What settles.
#[derive(Debug)]
pub struct Settler {
    /// Orders, as DynamoDB has them.
    pub orders: OrderStore,
    /// What is to agree with them.
    pub inventory: Inventory,
    /// Events, for their epochs.
    pub events: EventCache,
}

/// What settling an order came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// Redis agrees.
    Done,
    /// It always did: the order was refused before it held anything.
    NeverHeld,
    /// Not now.
    Later(Why),
}

/// Why not now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The event has no inventory, or one is being built.
    NoInventory,
    /// The active inventory is older than the event's epoch, or newer still.
    OtherEpoch,
    /// Redis lacks a live order of its own epoch: it has lost writes.
    LostWrites,
    /// Another order keeps a unit of this one, and both items say they are live.
    Contradiction,
    /// It did not come to an end.
    Unsettled,
}

/// A fault on the way.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// The tables fail.
    #[error("the tables fail")]
    Tables(#[from] StoreError),
    /// Redis fails.
    #[error("Redis fails")]
    Redis(#[from] RedisStoreError),
}

/// An order on its way to agreement.
struct Case {
    order: Order,
    event: Arc<Event>,
    /// The order was read consistently after the event's epoch was seen.
    reread: bool,
    /// Orders that contradicted it before.
    contradictors: Vec<OrderId>,
}

impl Settler {
    /// Makes Redis agree with an order as some record has it.
    ///
    /// # Errors
    /// When Redis or the tables fail.
    pub async fn settle(&self, order: Order) -> Result<Settlement, SettleError> {
        let event = self.events.event_cached(&order.event).await?;
        match (event, order.state) {
            (Some(event), OrderState::Rejected) => self.give_back(&order, event).await,
            (Some(event), _) => {
                self.agree(Case { order, event, reread: false, contradictors: Vec::new() }).await
            }
            // It has no inventory to hold anything in, and will not get one for this.
            (None, OrderState::Rejected) => Ok(Settlement::NeverHeld),
            (None, _) => Ok(Settlement::Later(Why::NoInventory)),
        }
    }

    /// Asks Redis until it agrees, or does not now.
    async fn agree(&self, mut case: Case) -> Result<Settlement, SettleError> {
        for _ in 0..ROUNDS {
            let wish = Settle::of(&case.order, case.event.epoch, case.reread);
            let settled = self.inventory.settle(&wish).await?;
            if let Some(settlement) = self.resolve(settled, &mut case).await? {
                return Ok(settlement);
            }
        }
        Ok(Settlement::Later(Why::Unsettled))
    }

    /// Reads an order and makes Redis agree with it. One that is not there needs
    /// no agreement.
    ///
    /// # Errors
    /// When Redis or the tables fail.
    pub async fn settle_stored(
        &self,
        customer: &CustomerKey,
        order: &OrderId,
    ) -> Result<Settlement, SettleError> {
        match self.orders.order_fetch_by_key(customer, order).await? {
            Some(order) => self.settle(order).await,
            None => Ok(Settlement::Done),
        }
    }

    /// A refusal never owned a unit: all that Redis can have of it is a hold.
    /// Giving that back leaves no mark where there was none, and refusals are many.
    async fn give_back(
        &self,
        order: &Order,
        mut event: Arc<Event>,
    ) -> Result<Settlement, SettleError> {
        let customer = order.customer.key();
        for _ in 0..ROUNDS {
            match self.inventory.release(&event.id, event.epoch, &order.id, &customer).await? {
                Released::GivenBack | Released::NoHold => return Ok(Settlement::Done),
                Released::Unknown if order.epoch == event.epoch => {
                    return Ok(Settlement::NeverHeld);
                }
                // What an earlier inventory knew of it is gone, as its hold is.
                Released::Unknown => return Ok(Settlement::Done),
                // Its hold is gone with the inventory it was in. The next one is built
                // from what DynamoDB says.
                Released::Unavailable => return Ok(Settlement::Done),
                Released::StaleEpoch { active } => match self.renewed(active, &event).await? {
                    Some(renewed) => event = renewed,
                    None => return Ok(Settlement::Later(Why::OtherEpoch)),
                },
            }
        }
        Ok(Settlement::Later(Why::Unsettled))
    }

    /// Does what an answer asks for; none: ask again.
    async fn resolve(
        &self,
        settled: Settled,
        case: &mut Case,
    ) -> Result<Option<Settlement>, SettleError> {
        let later = |why| Ok(Some(Settlement::Later(why)));
        match settled {
            Settled::Applied | Settled::Ignored => Ok(Some(Settlement::Done)),
            Settled::Unavailable => later(Why::NoInventory),
            Settled::Lost if case.reread => {
                tracing::error!(
                    order = %case.order.id,
                    event = %case.event.id,
                    metric = "redis_lost_writes",
                    "a live order is unknown to Redis"
                );
                later(Why::LostWrites)
            }
            // The record may be older than what made Redis forget the order.
            Settled::Lost | Settled::Reread if !case.reread => self.reread(case).await,
            Settled::Lost | Settled::Reread => later(Why::Unsettled),
            Settled::StaleEpoch { active } => self.renew(active, case).await,
            Settled::Conflict { customer, order } => {
                self.settle_other(&customer, &order, case).await
            }
        }
    }

    async fn reread(&self, case: &mut Case) -> Result<Option<Settlement>, SettleError> {
        let Order { customer, id, .. } = &case.order;
        match self.orders.order_fetch(customer, id).await? {
            Some(order) => {
                case.order = order;
                case.reread = true;
                Ok(None)
            }
            None => Ok(Some(Settlement::Done)),
        }
    }

    /// Reads the epoch anew. What was read of the order before counts no more.
    async fn renew(
        &self,
        active: Epoch,
        case: &mut Case,
    ) -> Result<Option<Settlement>, SettleError> {
        let Some(event) = self.renewed(active, &case.event).await? else {
            return Ok(Some(Settlement::Later(Why::OtherEpoch)));
        };
        case.event = event;
        case.reread = false;
        Ok(None)
    }

    /// The event as it is now, where that is another epoch than the known one.
    async fn renewed(
        &self,
        active: Epoch,
        known: &Event,
    ) -> Result<Option<Arc<Event>>, SettleError> {
        let event = self.events.event_renewed(&known.id).await?;
        let renewed = event.filter(|event| event.epoch != known.epoch);
        if renewed.is_none() && active < known.epoch {
            tracing::error!(
                event = %known.id,
                metric = "redis_behind_epoch",
                %active,
                durable = %known.epoch,
                "an old inventory is active in Redis"
            );
        }
        Ok(renewed)
    }

    /// One of two orders is stale: the other is read and settled, then this one
    /// is read and asked about again.
    async fn settle_other(
        &self,
        customer: &CustomerKey,
        other: &OrderId,
        case: &mut Case,
    ) -> Result<Option<Settlement>, SettleError> {
        let is_second_time = case.contradictors.contains(other);
        case.contradictors.push(*other);
        if is_second_time {
            tracing::error!(
                order = %case.order.id,
                %other,
                metric = "orders_contradict",
                "two live orders claim one unit"
            );
            return Ok(Some(Settlement::Later(Why::Contradiction)));
        }
        if let Some(other) = self.orders.order_fetch_by_key(customer, other).await? {
            let settled =
                self.inventory.settle(&Settle::of(&other, case.event.epoch, true)).await?;
            let order = &case.order.id;
            tracing::info!(%order, other = %other.id, ?settled, "orders contradicted");
        }
        self.reread(case).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::OrderState::Expired;
    use dynamo_store::Ended;
    use test_sale::{LONG, Sale, now, partitions, places, show};

    #[tokio::test]
    async fn m13_what_was_read_before_another_epoch_was_seen_counts_no_more() {
        let sale = Sale::of(10, 0).await;
        let events = sale.event_cache();
        let event = events.event_cached(&show()).await.unwrap().unwrap();
        let intent = sale.hold("ann", "k", vec![places(2)]).await;
        let order = sale.persist(&intent, LONG).await;
        let case = Case { order: order.clone(), event, reread: true, contradictors: Vec::new() };
        // It ends, and an inventory without it is built, before Redis is asked again.
        let ended = sale.orders.order_end(&order, Expired, now(), &partitions()).await.unwrap();
        assert!(matches!(ended, Ended::Ended { .. }));
        sale.open_epoch(Epoch(2), 10, 0).await;
        let inventory = sale.inventory.clone();
        let settler = Settler { orders: sale.orders.clone(), inventory, events };
        assert_eq!(settler.agree(case).await.unwrap(), Settlement::Done);
        let counts = sale.counts("floor").await;
        assert_eq!((counts.held, counts.sold, counts.remaining), (0, 0, 10));
    }
}
