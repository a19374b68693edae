//! Events, ticket types, sections, marks, withdrawals, queue settings and keys.

mod attempt;
mod cache;
mod capacity;
mod event;
mod key;
mod mark;
mod queue;
mod resize;
mod sale_command;
mod section;
mod ticket_type;
mod units;
mod withdrawal;

pub use cache::{EventCache, PartitionCache};
pub use capacity::CapacityWritten;
pub use event::{EpochRaised, EventActivated, EventCreated, EventUpdated};
pub use key::StoredKey;
pub use queue::{GenerationRaised, QueuePut, QueueRecord};
pub use resize::TicketTypeResized;
pub use sale_command::SaleCommanded;
pub use section::SectionPut;
pub use ticket_type::{TicketTypeCreated, TicketTypeUpdated};
pub use units::{NoSuchUnit, UnitCache};
pub use withdrawal::{Withdrawal, WithdrawalCreated, WithdrawalState, WithdrawalUpdated};

use aws_sdk_dynamodb::Client;
use domain::EventId;

use crate::StoreError;
use crate::table::{Key, TableClient};

/// How fresh a read must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// Sees every write that was answered before: for whatever decides.
    Strong,
    /// May be a moment old, at half the price: for what is only shown.
    Eventual,
}

impl Consistency {
    pub(crate) fn is_strong(self) -> bool {
        self == Self::Strong
    }
}

/// The catalogue table.
#[derive(Debug, Clone)]
pub struct CatalogStore {
    table: TableClient,
}

impl CatalogStore {
    /// The store over this table.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { table: TableClient::new(client, table) }
    }

    /// Reads nothing, where no event is: the connection to DynamoDB is what this
    /// is for.
    ///
    /// # Errors
    /// When DynamoDB fails.
    pub fn catalog_reach(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let table = self.table.clone();
        // Of the partitions that a function may read.
        async move { table.get(&Key::new("event#", "event"), false).await.map(drop) }
    }
}

/// The partition of an event: all that belongs to it but its orders and units.
fn partition(event: &EventId) -> String {
    format!("event#{event}")
}

fn key(event: &EventId, sort: impl Into<String>) -> Key {
    Key::new(partition(event), sort)
}
