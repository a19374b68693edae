//! Ending an order and freeing its units, in one transaction.

use domain::{Order, OrderState, TicketTypeId, UnitId};
use jiff::Timestamp;

use super::{OrderStore, PartitionCounts};
use crate::StoreError;

/// What ending an order came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It ended now, and what it owned is free.
    Ended {
        /// As it is now.
        order: Order,
        /// Units in its lines that it did not own: an alarm, and no release.
        foreign: Vec<(TicketTypeId, UnitId)>,
    },
    /// It changed in the meantime; this is what it is. Ended by another: done.
    Lost(Order),
    /// There is no such order.
    Missing,
}

impl OrderStore {
    /// Ends `order`, as it was read, with the state `to` (one that owns nothing),
    /// and frees its units: for cancelling, expiring, returning a withdrawal.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown, repeating is safe.
    pub async fn order_end(
        &self,
        order: &Order,
        to: OrderState,
        now: Timestamp,
        partitions: &PartitionCounts,
    ) -> Result<Ended, StoreError> {
        todo!()
    }
}
