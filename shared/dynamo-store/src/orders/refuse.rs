//! Storing a refusal.

use domain::Order;

use super::OrderStore;
use crate::StoreError;

/// What storing a refusal came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// This is the order's decision now.
    Stored,
    /// It was decided before, so; that is the answer.
    Present(Order),
}

impl OrderStore {
    /// Puts a refusal ([`Order::refusal`]) where the order has no decision yet.
    /// Repeating the same one is `Stored` again.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown, repeating is safe.
    pub async fn order_refuse(&self, refusal: &Order) -> Result<Refused, StoreError> {
        todo!()
    }
}
