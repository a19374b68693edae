//! Ending orders that were not paid in time, where their units are wanted now.

use domain::{CustomerKey, Event, Order, OrderId, OrderState};
use dynamo_store::{Ended, StoreError};
use fault_points::{RESERVATION_OVERDUE_ENDED, reached};
use futures::future;
use lambda_kit::clock;
use lambda_kit::http::Failure;
use redis_store::Settle;

use crate::till::Till;

impl Till {
    /// Ends these orders in DynamoDB and then frees their units in Redis. Those
    /// that turn out to be paid, or ended by another, are only settled.
    pub(crate) async fn end_overdue(
        &self,
        event: &Event,
        orders: &[(CustomerKey, OrderId)],
    ) -> Result<(), Failure> {
        let ends = orders.iter().map(|(customer, order)| self.end_one(event, customer, order));
        future::try_join_all(ends).await.map(|_| ())
    }

    async fn end_one(
        &self,
        event: &Event,
        customer: &CustomerKey,
        order: &OrderId,
    ) -> Result<(), Failure> {
        let read = self.orders.order_fetch_by_key(customer, order).await;
        let Some(order_now) = read.map_err(Failure::unavailable)? else {
            // The stream and the audit deal with what Redis alone believes.
            tracing::error!(%order, metric = "order_unknown_to_dynamodb", "Redis names no order");
            return Ok(());
        };
        let order_now = self.expired(order_now).await.map_err(Failure::unavailable)?;
        reached(RESERVATION_OVERDUE_ENDED).await;
        let settle = Settle::of(&order_now, event.epoch, true);
        self.inventory.settle(&settle).await.map_err(Failure::unavailable)?;
        Ok(())
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
