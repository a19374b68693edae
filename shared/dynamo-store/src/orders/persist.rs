//! Persisting an order with its units, in one transaction.

use domain::{ItemFailure, Order};

use super::{OrderStore, PartitionCounts, UnitOwner};
use crate::StoreError;

/// What persisting came to. A failed write whose outcome is unknown is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Persisted {
    /// The order is there and owns its units.
    New,
    /// Nothing was written.
    Cancelled {
        /// Why, by position: the order's item first, then its units as
        /// [`Order::units`] gives them. For [`domain::classify_persist`].
        reasons: Vec<ItemFailure>,
        /// The order that was there, where the order's own condition failed.
        present: Option<Order>,
        /// Who owns the first unit whose condition failed.
        unit_owner: Option<UnitOwner>,
    },
}

impl OrderStore {
    /// Puts the order where it is absent and each of its units where it is
    /// unowned: all or nothing, in one transaction.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown: read the order first.
    pub async fn order_persist(
        &self,
        order: &Order,
        partitions: &PartitionCounts,
    ) -> Result<Persisted, StoreError> {
        todo!()
    }
}
