//! Reading orders by their id.

use std::collections::BTreeSet;

use domain::{CustomerId, CustomerKey, Order, OrderId};

use super::record::{order_key, order_of};
use super::{OrderStore, UnitOwner};
use crate::StoreError;
use crate::table::Key;

/// As many as one request can name.
const BATCH: usize = 100;

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
        let item = self.orders.get(&order_key(&customer.key(), order), true).await?;
        item.map(order_of).transpose()
    }

    /// The order by what Redis keeps of its customer; consistent. For whoever has to
    /// look at an order that only Redis named: one that was not paid in time, or that
    /// contradicts another.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn order_fetch_by_key(
        &self,
        customer: &CustomerKey,
        order: &OrderId,
    ) -> Result<Option<Order>, StoreError> {
        let item = self.orders.get(&order_key(customer, order), true).await?;
        item.map(order_of).transpose()
    }

    /// The orders of these owners, in no particular order, without those that
    /// don't exist; consistent. For building an inventory from its units.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn orders_fetch(&self, owners: &[UnitOwner]) -> Result<Vec<Order>, StoreError> {
        let owners: BTreeSet<&UnitOwner> = owners.iter().collect();
        let key = |owner: &UnitOwner| order_key(&owner.customer.key(), &owner.order);
        let keys: Vec<Key> = owners.into_iter().map(key).collect();
        let mut orders = Vec::with_capacity(keys.len());
        for batch in keys.chunks(BATCH) {
            let items = self.orders.get_batch(batch).await?;
            for item in items {
                orders.push(order_of(item)?);
            }
        }
        Ok(orders)
    }
}
