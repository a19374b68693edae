//! Which inventory an event has.

use std::sync::LazyLock;

use domain::{Epoch, EventId};
use redis::Script;

use super::{Inventory, script};
use crate::error::RedisStoreError;
use crate::keys;
use crate::reply::Reply;
use crate::types::Pointer;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "pointer.lua");
const NAME: &str = "pointer";

impl Inventory {
    /// Which inventory the event has.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn pointer(&self, event: &EventId) -> Result<Option<Pointer>, RedisStoreError> {
        let mut call = SCRIPT.prepare_invoke();
        call.key(keys::gate(event));
        let mut reply = Reply::new(NAME, self.redis.run(NAME, &call).await?)?;
        if reply.is_empty() {
            return Ok(None);
        }
        match (reply.epoch()?, reply.next()?) {
            (Epoch(epoch), 0) => Ok(Some(Pointer::Active(Epoch(epoch)))),
            (Epoch(epoch), 1) => Ok(Some(Pointer::Building(Epoch(epoch)))),
            _ => Err(reply.unexpected()),
        }
    }
}
