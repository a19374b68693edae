//! A customer's orders, newest first.

use std::cmp::Reverse;
use std::fmt;

use domain::{CustomerId, Order, OrderId};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::OrderStore;
use super::record::{order_of, partition_of};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCursor {
    created_at: i64,
    order: OrderId,
}

/// A cursor that is none of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be the `next` of the page before")]
pub struct InvalidCursor;

impl PageCursor {
    /// Reads a cursor that a client gave back.
    ///
    /// # Errors
    /// When it is none of ours.
    pub fn parse(text: &str) -> Result<Self, InvalidCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let (created_at, order) = bytes.split_first_chunk::<8>().ok_or(InvalidCursor)?;
        let order = order.try_into().map_err(|_| InvalidCursor)?;
        Ok(Self { created_at: i64::from_be_bytes(*created_at), order: OrderId::from_bytes(order) })
    }

    fn at(order: &Order) -> Self {
        Self { created_at: order.created_at.as_millisecond(), order: order.id }
    }

    fn is_before(&self, order: &Order) -> bool {
        (order.created_at.as_millisecond(), order.id) < (self.created_at, self.order)
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.created_at.to_be_bytes().to_vec();
        bytes.extend(self.order.as_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
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
        let items = self.orders.query(&partition_of(&customer.key()), "", false).await?;
        let mut orders = items.into_iter().map(order_of).collect::<Result<Vec<_>, _>>()?;
        orders.retain(|order| after.is_none_or(|cursor| cursor.is_before(order)));
        orders.sort_by_key(|order| Reverse((order.created_at, order.id)));
        let limit = limit.clamp(1, Self::MAX_PAGE);
        let more = orders.len() > limit;
        orders.truncate(limit);
        let next = orders.last().filter(|_| more).map(PageCursor::at);
        Ok(OrderPage { orders, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = PageCursor { created_at: -1, order: OrderId::from_bytes([9; 16]) };
        assert_eq!(PageCursor::parse(&cursor.to_string()), Ok(cursor));
        for bad in ["", "AAAA", "no cursor", &"A".repeat(40)] {
            assert_eq!(PageCursor::parse(bad), Err(InvalidCursor), "{bad}");
        }
    }
}
