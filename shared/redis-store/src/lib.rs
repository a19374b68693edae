//! The inventory and the waiting room on Redis: one script per operation, each
//! `.lua` beside its typed function.

mod client;
mod error;
mod inventory;
mod keys;
mod packed;
pub mod pipelined;
mod reply;
mod types;
mod waiting_room;

pub use client::{Redis, RedisMode};
pub use error::RedisStoreError;
pub use inventory::Inventory;
pub use types::*;
pub use waiting_room::{Entry, Joining, Leaving, WaitingRoom};
