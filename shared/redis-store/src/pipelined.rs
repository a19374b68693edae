//! Calls for those who pipeline them on a connection of their own: benchmarks.

use domain::{CustomerKey, EventId};
use redis::ScriptInvocation;

use crate::error::RedisStoreError;
use crate::types::Reserve;
use crate::{inventory, waiting_room};

/// The call of [`Inventory::reserve`](crate::Inventory::reserve).
///
/// # Errors
/// When a number is larger than Redis keeps it.
pub fn reserve(reserve: &Reserve) -> Result<ScriptInvocation<'static>, RedisStoreError> {
    inventory::reserve::call_of(reserve)
}

/// The call of [`WaitingRoom::join`](crate::WaitingRoom::join).
#[must_use]
pub fn join(event: &EventId, customer: &CustomerKey) -> ScriptInvocation<'static> {
    waiting_room::join_call(event, customer, None)
}
