//! Ending orders that were not paid in time, where their units are wanted now: first in
//! DynamoDB, then their units are freed in Redis.
//!
//! **Idempotency key:** the order. Whoever ends it twice, or beside another, settles
//! what the first one stored.

use domain::{CustomerKey, Epoch, Order, OrderId, OrderState, TicketTypeId, UnitId};
use dynamo_store::{Ended, OrderStore, PartitionCache, StoreError};
use fault_points::{EXPIRY_ENDED, reached};
use futures::future;
use jiff::Timestamp;
use lambda_kit::Causes;
use redis_store::{Inventory, RedisStoreError, Settle, Settled};

/// What ends them.
#[derive(Debug, Clone, Copy)]
pub struct Expiry<'a> {
    /// Orders and the units they own.
    pub orders: &'a OrderStore,
    /// Where units are found.
    pub partitions: &'a PartitionCache,
    /// What believes that they own them.
    pub inventory: &'a Inventory,
    /// The epoch that sells.
    pub epoch: Epoch,
}

/// Why one could not be ended now.
#[derive(Debug, thiserror::Error)]
pub enum ExpiryError {
    /// The tables fail.
    #[error("the tables fail")]
    Tables(#[from] StoreError),
    /// Redis fails.
    #[error("Redis fails")]
    Redis(#[from] RedisStoreError),
}

impl ExpiryError {
    /// Whether trying again can help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Tables(error) => error.is_retryable(),
            Self::Redis(error) => error.is_retryable(),
        }
    }
}

impl Expiry<'_> {
    /// Ends these orders, as far as they are overdue at this instant. Those that turn
    /// out to be paid, or ended by another, are only settled. Whether any of them is
    /// out of the way now: if none is, asking again would name the same.
    ///
    /// # Errors
    /// When a store fails, and none is out of the way.
    pub async fn end_overdue(
        &self,
        orders: &[(CustomerKey, OrderId)],
        now: Timestamp,
    ) -> Result<bool, ExpiryError> {
        let ends = orders.iter().map(|(customer, order)| self.end_one(customer, order, now));
        let (mut is_any_away, mut failure) = (false, None);
        for ended in future::join_all(ends).await {
            match ended {
                Ok(is_away) => is_any_away |= is_away,
                Err(error) => {
                    tracing::warn!(error = %Causes(&error), "an overdue order can't be ended now");
                    failure = Some(error);
                }
            }
        }
        // With one away there may be room. If there is not, those that failed are named again.
        match failure {
            Some(error) if !is_any_away => Err(error),
            _ => Ok(is_any_away),
        }
    }

    async fn end_one(
        &self,
        customer: &CustomerKey,
        order: &OrderId,
        now: Timestamp,
    ) -> Result<bool, ExpiryError> {
        let Some(order_now) = self.orders.order_fetch_by_key(customer, order).await? else {
            // The stream and the audit deal with what Redis alone believes.
            tracing::error!(%order, metric = "order_unknown_to_dynamodb", "Redis names no order");
            return Ok(false);
        };
        let order_now = self.expired(order_now, now).await?;
        reached(EXPIRY_ENDED).await;
        let settled = self.inventory.settle(&Settle::of(&order_now, self.epoch, true)).await?;
        Ok(match settled {
            Settled::Applied => true,
            // Another settled it first, unless it is not overdue by our clock.
            Settled::Ignored => order_now.state != OrderState::Pending,
            // The next reply tells which epoch sells.
            Settled::StaleEpoch { .. } => true,
            Settled::Conflict { .. } | Settled::Lost | Settled::Reread | Settled::Unavailable => {
                tracing::warn!(order = %order_now.id, ?settled, "an overdue order is not settled");
                false
            }
        })
    }

    /// The order, expired if it was overdue by our clock too.
    async fn expired(&self, order: Order, now: Timestamp) -> Result<Order, StoreError> {
        if !order.is_overdue(now) {
            return Ok(order);
        }
        let partitions = self.partitions.partitions_cached(&order.event, &order.lines).await?;
        match self.orders.order_end(&order, OrderState::Expired, now, &partitions).await? {
            Ended::Ended { order, foreign } => {
                report_foreign(&order, &foreign);
                Ok(order)
            }
            Ended::Lost(order) => Ok(order),
            Ended::Missing => Ok(order),
        }
    }
}

/// Says aloud that an order ended that named units it did not own.
pub fn report_foreign(order: &Order, foreign: &[(TicketTypeId, UnitId)]) {
    if !foreign.is_empty() {
        tracing::error!(
            order = %order.id,
            metric = "foreign_units",
            ?foreign,
            "an order named units that it did not own"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::HoldTime;
    use jiff::SignedDuration;
    use test_sale::{EPOCH, LONG, PATIENT, Sale, now, partitions, places};
    use test_support::wire::Fault;

    /// Ends an order at an instant, as somebody who knows this epoch; whether it is out
    /// of the way.
    async fn end(sale: &Sale, epoch: Epoch, order: &Order, at: Timestamp) -> bool {
        let partitions = sale.partition_cache();
        let Sale { orders, inventory, .. } = sale;
        let expiry = Expiry { orders, partitions: &partitions, inventory, epoch };
        expiry.end_overdue(&[(order.customer.key(), order.id)], at).await.unwrap()
    }

    async fn sold(sale: &Sale) -> Order {
        let intent = sale.hold("ann", "k", vec![places(2)]).await;
        sale.persist(&intent, LONG).await
    }

    fn later() -> Timestamp {
        now() + SignedDuration::from_hours(1)
    }

    async fn sold_and_left(sale: &Sale) -> (u32, u32) {
        let counts = sale.counts("floor").await;
        (counts.sold, counts.remaining)
    }

    #[tokio::test]
    async fn an_overdue_order_is_out_of_the_way_once_and_for_whoever_asks_again() {
        let sale = Sale::of(10, 0).await;
        let order = sold(&sale).await;
        for _ in 0..2 {
            assert!(end(&sale, EPOCH, &order, later()).await);
            assert_eq!(sold_and_left(&sale).await, (0, 10));
        }
    }

    #[tokio::test]
    async fn an_order_that_is_not_overdue_by_our_clock_stays_and_is_in_the_way() {
        let sale = Sale::of(10, 0).await;
        let order = sold(&sale).await;
        assert!(!end(&sale, EPOCH, &order, now()).await);
        assert_eq!(sold_and_left(&sale).await, (2, 8));
        assert_eq!(sale.stored("ann", &order.id).await.unwrap().state, OrderState::Pending);
    }

    #[tokio::test]
    async fn an_order_that_dynamodb_does_not_know_is_in_the_way() {
        let sale = Sale::of(10, 0).await;
        let intent = sale.hold("ann", "k", vec![places(2)]).await;
        let phantom = intent.into_order(&HoldTime::default(), now());
        let settled = sale.inventory.settle(&Settle::of(&phantom, EPOCH, false)).await.unwrap();
        assert_eq!(settled, Settled::Applied);
        assert!(!end(&sale, EPOCH, &phantom, later()).await);
        assert_eq!(sold_and_left(&sale).await, (2, 8));
    }

    #[tokio::test]
    async fn who_can_not_be_ended_now_keeps_no_other_in_the_way() {
        let sale = Sale::of(10, 0).await;
        let mut orders = Vec::new();
        for fan in ["ann", "ben"] {
            let intent = sale.hold(fan, "k", vec![places(2)]).await;
            orders.push(sale.persist(&intent, LONG).await);
        }
        let wanted = orders.iter().map(|order| (order.customer.key(), order.id));
        let wanted: Vec<_> = wanted.collect();
        let partitions = sale.partition_cache();
        let Sale { orders, inventory, wire, .. } = &sale;
        let expiry = Expiry { orders, partitions: &partitions, inventory, epoch: EPOCH };
        let too_much = || Fault::cancelled(&["ThrottlingError", "None", "None"]);
        (0..2).for_each(|_| wire.next("TransactWriteItems", too_much()));
        expiry.end_overdue(&wanted, later()).await.unwrap_err();
        assert_eq!(sold_and_left(&sale).await, (4, 6));

        wire.next("TransactWriteItems", too_much());
        assert!(expiry.end_overdue(&wanted, later()).await.unwrap());
        assert_eq!(sold_and_left(&sale).await, (2, 8));
    }

    #[tokio::test]
    async fn in_another_epoch_than_the_known_one_who_is_in_the_way_is_asked_again() {
        let sale = Sale::of(10, 0).await;
        let order = sold(&sale).await;
        assert!(end(&sale, Epoch(2), &order, later()).await);
    }

    #[tokio::test]
    async fn an_order_of_an_older_epoch_is_settled_as_it_was_read_now() {
        let sale = Sale::of(10, 0).await;
        let intent = sale.hold("ann", "k", vec![places(2)]).await;
        let pending = intent.into_order(&HoldTime::default(), now());
        let paid = Order { state: OrderState::Paid, pay_by: None, ..pending };
        sale.orders.order_persist(&paid, &partitions(), PATIENT).await.unwrap();
        sale.open_epoch(Epoch(2), 10, 0).await;
        assert!(end(&sale, Epoch(2), &paid, later()).await);
        assert_eq!(sold_and_left(&sale).await, (2, 8));
    }
}
