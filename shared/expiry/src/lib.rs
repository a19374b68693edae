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
    /// When a store fails. Some may have been ended.
    pub async fn end_overdue(
        &self,
        orders: &[(CustomerKey, OrderId)],
        now: Timestamp,
    ) -> Result<bool, ExpiryError> {
        let ends = orders.iter().map(|(customer, order)| self.end_one(customer, order, now));
        Ok(future::try_join_all(ends).await?.contains(&true))
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
