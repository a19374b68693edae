//! Ending orders that were not paid in time, where their units are wanted now.

use domain::{CustomerKey, Event, Order, OrderId, OrderState};
use dynamo_store::{Ended, StoreError};
use fault_points::{RESERVATION_OVERDUE_ENDED, reached};
use futures::future;
use lambda_kit::clock;
use lambda_kit::http::Failure;
use redis_store::{Settle, Settled};
use store_failures::OrFail;

use crate::till::Till;

impl Till {
    /// Ends these orders in DynamoDB and then frees their units in Redis. Those
    /// that turn out to be paid, or ended by another, are only settled. Whether any
    /// of them is out of the way now: if none is, asking again would name the same.
    pub(crate) async fn end_overdue(
        &self,
        event: &Event,
        orders: &[(CustomerKey, OrderId)],
    ) -> Result<bool, Failure> {
        let ends = orders.iter().map(|(customer, order)| self.end_one(event, customer, order));
        let ended = future::try_join_all(ends).await?;
        Ok(ended.contains(&true))
    }

    async fn end_one(
        &self,
        event: &Event,
        customer: &CustomerKey,
        order: &OrderId,
    ) -> Result<bool, Failure> {
        let read = self.orders.order_fetch_by_key(customer, order).await;
        let Some(order_now) = read.or_fail()? else {
            // The stream and the audit deal with what Redis alone believes.
            tracing::error!(%order, metric = "order_unknown_to_dynamodb", "Redis names no order");
            return Ok(false);
        };
        let order_now = self.expired(order_now).await.or_fail()?;
        reached(RESERVATION_OVERDUE_ENDED).await;
        let settle = Settle::of(&order_now, event.epoch, true);
        let settled = self.inventory.settle(&settle).await.or_fail()?;
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
    async fn expired(&self, order: Order) -> Result<Order, StoreError> {
        let now = clock::now();
        if !order.is_overdue(now) {
            return Ok(order);
        }
        let partitions = self.partitions.partitions_cached(&order.event, &order.lines).await?;
        match self.orders.order_end(&order, OrderState::Expired, now, &partitions).await? {
            Ended::Ended { order, foreign } => {
                if !foreign.is_empty() {
                    tracing::error!(
                        order = %order.id,
                        metric = "foreign_units",
                        ?foreign,
                        "an order named units that it did not own"
                    );
                }
                Ok(order)
            }
            Ended::Lost(order) => Ok(order),
            Ended::Missing => Ok(order),
        }
    }
}
