//! Orders and the units they own.

mod end;
mod fetch;
mod list;
mod packed;
mod persist;
mod record;
mod refuse;
mod unit;

pub use end::Ended;
pub use list::{InvalidCursor, OrderPage, PageCursor};
pub use persist::{Persisted, TakenUnit};
pub use record::order_of_image;
pub use refuse::Refused;
pub use unit::{PartitionCounts, UnitOwner, UnitRecord};

use aws_sdk_dynamodb::Client;
use receipts::Receipts;

use crate::table::TableClient;

/// The tables of orders and units.
#[derive(Debug, Clone)]
pub struct OrderStore {
    orders: TableClient,
    /// Each order is the receipt of its intent.
    receipts: Receipts,
    units: TableClient,
}

impl OrderStore {
    /// The store over these two tables. A function that only reads orders names
    /// no units table: an empty name is fine there.
    #[must_use]
    pub fn new(
        client: Client,
        orders_table: impl Into<String>,
        units_table: impl Into<String>,
    ) -> Self {
        let orders_table = orders_table.into();
        Self {
            receipts: Receipts::new(client.clone(), &orders_table),
            orders: TableClient::new(client.clone(), orders_table),
            units: TableClient::new(client, units_table),
        }
    }
}
