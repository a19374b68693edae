//! A customer's orders, newest first.

use std::fmt;

use domain::{CustomerId, InvalidId, Order};

use super::OrderStore;
use crate::StoreError;

/// One page of a customer's orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPage {
    /// Newest first.
    pub orders: Vec<Order>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<PageCursor>,
}

/// Where a page begins: after this order. Opaque to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCursor {
    text: String,
}

impl PageCursor {
    /// Reads a cursor that a client gave back.
    ///
    /// # Errors
    /// When it is none of ours.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        todo!()
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl OrderStore {
    /// The most orders of one page.
    pub const MAX_PAGE: usize = 100;

    /// A page of the customer's orders (refusals included), newest first, at
    /// most `limit` (1 to [`Self::MAX_PAGE`]). Not consistent: for showing.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn orders_list(
        &self,
        customer: &CustomerId,
        limit: usize,
        after: Option<&PageCursor>,
    ) -> Result<OrderPage, StoreError> {
        todo!()
    }
}
