//! The counts of every type.

use std::sync::LazyLock;

use domain::{Epoch, EventId};
use redis::Script;

use super::{Inventory, on, script};
use crate::error::RedisStoreError;
use crate::reply::Reply;
use crate::types::TypeCounts;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "counts.lua");
const NAME: &str = "counts";

impl Inventory {
    /// The counts of every type; none without such an active inventory.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn counts(
        &self,
        event: &EventId,
        epoch: Epoch,
    ) -> Result<Option<Vec<TypeCounts>>, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0);
        let mut reply = Reply::new(NAME, self.redis.run(NAME, &call).await?)?;
        if reply.is_empty() {
            return Ok(None);
        }
        reply.counts().map(Some)
    }
}
