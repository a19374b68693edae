//! Reading orders by their id.

use domain::{CustomerId, CustomerKey, Order, OrderId};

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

    /// The order by what Redis keeps of its customer, and what the partition key
    /// is made of; consistent. For whoever has to look at an order that only
    /// Redis named: one that was not paid in time, or that contradicts another.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn order_fetch_by_key(
        &self,
        customer: &CustomerKey,
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
