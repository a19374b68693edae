//! Storing a refusal.

use domain::Order;

use super::OrderStore;
use super::record::{is_same_item, item_of, order_of};
use crate::StoreError;
use crate::table::{ABSENT, Guard, Written, no_item};

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
        match self.orders.put_if(item_of(refusal)?, &Guard::new(ABSENT)).await? {
            Written::Done(_) => Ok(Refused::Stored),
            Written::Refused(present) => {
                let present = order_of(present.ok_or_else(no_item)?)?;
                // The same: the reply to our write was lost and the SDK sent it again.
                let ours = is_same_item(&present, refusal);
                Ok(if ours { Refused::Stored } else { Refused::Present(present) })
            }
        }
    }
}
