//! The durable truth on DynamoDB: catalogue, orders, units, connections.
//!
//! One method per operation, named noun first (`order_persist`), so one search
//! finds all operations of a thing. [`OPERATIONS`] says for each of them what it
//! may do to which table; each function's policy in `template.yaml` is the union
//! of what it calls, and a test holds the two together.
//!
//! **Architecture invariant:** the conditions here keep a unit from having two
//! owners and an order from being decided twice, whatever Redis, queues and
//! callers do. Each condition is a constant beside the item it guards.
//!
//! **Architecture invariant:** no SDK type stands in an operation's signature.
//! What is expected (present already, another version) is a value; what failed
//! is a [`StoreError`].

mod catalog;
mod connections;
mod operations;
mod orders;
mod table;

pub use catalog::{
    CapacityWritten, CatalogStore, Consistency, EpochRaised, EventActivated, EventCache,
    EventCreated, EventUpdated, GenerationRaised, NoSuchUnit, PartitionCache, QueuePut,
    QueueRecord, SaleCommanded, SectionPut, StoredKey, TicketTypeCreated, TicketTypeResized,
    TicketTypeUpdated, UnitCache, Withdrawal, WithdrawalCreated, WithdrawalState,
    WithdrawalUpdated,
};
pub use connections::{
    Connection, ConnectionStore, LastTold, Look, MAX_EVENTS_PER_CONNECTION, Subscribed, Subscriber,
    Subscription, Ticker,
};
pub use operations::{OPERATIONS, Operation, Table};
pub use orders::{
    Ended, InvalidCursor, OrderPage, OrderStore, PageCursor, PartitionCounts, Persisted, Refused,
    TakenUnit, UnitOwner, UnitRecord, order_of_image,
};

pub use receipts::{Error as StoreError, Patience};

use aws_config::SdkConfig;
use aws_sdk_dynamodb::{Client, config::Builder};

/// The client all stores of a function share. Dual-stack endpoints are off, also
/// where the rest of a function uses them: the VPC's gateway endpoint serves
/// DynamoDB's ordinary addresses only.
#[must_use]
pub fn client(config: &SdkConfig) -> Client {
    Client::from_conf(Builder::from(config).use_dual_stack(false).build())
}
