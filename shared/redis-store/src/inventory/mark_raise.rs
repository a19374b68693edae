//! Raising the mark that serials are issued below.

use std::sync::LazyLock;

use domain::{Epoch, EventId, TicketTypeId};
use redis::Script;

use super::{Inventory, on, script, written};
use crate::error::RedisStoreError;
use crate::types::Written;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "mark_raise.lua");
const NAME: &str = "mark_raise";

impl Inventory {
    /// Lets serials below the mark be issued. It must be durable before.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn mark_raise(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TicketTypeId,
        mark: u32,
    ) -> Result<Written, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0).arg(ticket_type.as_str()).arg(mark);
        written(NAME, self.redis.run(NAME, &call).await?)
    }
}
