//! Ending orders that were not paid in time, where a withdrawal wants their units.

use domain::{CustomerKey, Order, OrderId, OrderState};
use dynamo_store::{Consistency, Ended, PartitionCounts};
use futures::future;
use lambda_kit::clock;
use lambda_kit::http::Failure;
use redis_store::{Settle, Settled};
use store_failures::OrFail;

use super::chunk::Taker;

impl Taker<'_> {
    /// Ends these orders and frees their units. Those that turn out to be paid, or
    /// ended by another, are only settled. Whether any of them is out of the way now:
    /// if none is, asking again would name the same.
    pub(super) async fn end_overdue(
        &self,
        orders: &[(CustomerKey, OrderId)],
    ) -> Result<bool, Failure> {
        let (store, id) = (&self.catalogue.store, &self.event.id);
        // An order may have units of several types.
        let types = store.ticket_types_list(id, Consistency::Strong).await.or_fail()?;
        let partitions = PartitionCounts::of(&types);
        let ends =
            orders.iter().map(|(customer, order)| self.end_one(customer, order, &partitions));
        Ok(future::try_join_all(ends).await?.contains(&true))
    }

    async fn end_one(
        &self,
        customer: &CustomerKey,
        order: &OrderId,
        partitions: &PartitionCounts,
    ) -> Result<bool, Failure> {
        let read = self.catalogue.orders.order_fetch_by_key(customer, order).await.or_fail()?;
        let Some(read) = read else {
            // The stream and the audit deal with what Redis alone believes.
            tracing::error!(%order, metric = "order_unknown_to_dynamodb", "Redis names no order");
            return Ok(false);
        };
        let order = self.expired(read, partitions).await?;
        let settle = Settle::of(&order, self.event.epoch, true);
        Ok(match self.catalogue.inventory.settle(&settle).await.or_fail()? {
            Settled::Applied => true,
            // Another settled it first, unless it is not overdue by our clock.
            Settled::Ignored => order.state != OrderState::Pending,
            Settled::StaleEpoch { .. }
            | Settled::Conflict { .. }
            | Settled::Lost
            | Settled::Reread
            | Settled::Unavailable => false,
        })
    }

    /// The order, expired if it was overdue by our clock too.
    async fn expired(&self, order: Order, partitions: &PartitionCounts) -> Result<Order, Failure> {
        let now = clock::now();
        if !order.is_overdue(now) {
            return Ok(order);
        }
        let to = OrderState::Expired;
        let ended = self.catalogue.orders.order_end(&order, to, now, partitions).await;
        Ok(match ended.or_fail()? {
            Ended::Ended { order, foreign } => {
                if !foreign.is_empty() {
                    tracing::error!(order = %order.id, ?foreign, "owned units it did not own");
                }
                order
            }
            Ended::Lost(order) => order,
            Ended::Missing => order,
        })
    }
}
