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
pub use list::{OrderPage, PageCursor};
pub use persist::Persisted;
pub use record::order_of_image;
pub use refuse::Refused;
pub use unit::{PartitionCounts, UnitOwner, UnitRecord};

use aws_sdk_dynamodb::Client;

/// The tables of orders and units.
#[derive(Debug, Clone)]
pub struct OrderStore {
    client: Client,
    orders: String,
    units: String,
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
        Self { client, orders: orders_table.into(), units: units_table.into() }
    }
}
