//! The order's item: pk the customer, sk the order id.

use domain::Order;

use crate::StoreError;

/// The order in an image of the orders table's stream.
///
/// # Errors
/// When the image is no order.
pub fn order_of_image(image: serde_dynamo::Item) -> Result<Order, StoreError> {
    todo!()
}
