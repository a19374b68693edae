//! Reading orders by their id.

use domain::{CustomerId, Order, OrderId};

use super::{OrderStore, UnitOwner};
use crate::StoreError;

impl OrderStore {
    /// The order; consistent. It is read under its customer: nobody reaches
    /// another's.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn order_fetch(
        &self,
        customer: &CustomerId,
        order: &OrderId,
    ) -> Result<Option<Order>, StoreError> {
        todo!()
    }

    /// The orders of these owners, in no particular order, without those that
    /// don't exist; consistent. For building an inventory from its units.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn orders_fetch(&self, owners: &[UnitOwner]) -> Result<Vec<Order>, StoreError> {
        todo!()
    }
}
