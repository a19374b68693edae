//! The order's item: pk the customer's key ([`domain::CustomerKey`], as hex), sk
//! the order id. The key and not the id: Redis keeps only keys, and an order
//! that only Redis names must be found (`order_fetch_by_key`). The customer's id
//! is an attribute.

use domain::Order;

use crate::StoreError;

/// The order in an image of the orders table's stream.
///
/// # Errors
/// When the image is no order.
pub fn order_of_image(image: serde_dynamo::Item) -> Result<Order, StoreError> {
    todo!()
}
