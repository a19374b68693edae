//! Ending a shopping session.

use std::sync::LazyLock;

use domain::{CustomerKey, EventId, SessionId};
use jiff::Timestamp;
use redis::Script;

use super::{Inventory, script};
use crate::error::RedisStoreError;
use crate::keys;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "session_end.lua");
const NAME: &str = "session_end";

impl Inventory {
    /// Ends a customer's shopping session: nothing is bought in it any more.
    /// `until` is an instant that no token of it outlives.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn session_end(
        &self,
        event: &EventId,
        customer: &CustomerKey,
        session: &SessionId,
        until: Timestamp,
    ) -> Result<(), RedisStoreError> {
        let mut call = SCRIPT.prepare_invoke();
        call.key(keys::gate(event)).key(keys::ended_sessions(event));
        call.arg(&customer.0[..]).arg(&session.short()[..]).arg(until.as_millisecond().max(0));
        match self.redis.run(NAME, &call).await? {
            1 => Ok(()),
            _ => Err(RedisStoreError::UnexpectedReply { script: NAME }),
        }
    }
}
