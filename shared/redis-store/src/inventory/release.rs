//! Giving back a hold.

use std::sync::LazyLock;

use domain::{CustomerKey, Epoch, EventId, OrderId};
use fault_points::{REDIS_RELEASED, reached};
use redis::Script;

use super::{Inventory, on, script};
use crate::error::RedisStoreError;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "release.lua");
const NAME: &str = "release";

impl Inventory {
    /// Gives back a hold that was not persisted; whether there was one.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn release(
        &self,
        event: &EventId,
        epoch: Epoch,
        order: &OrderId,
        customer: &CustomerKey,
    ) -> Result<bool, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0).arg(&customer.0[..]).arg(&order.as_bytes()[..]);
        let released = self.redis.run(NAME, &call).await?;
        reached(REDIS_RELEASED).await;
        Ok(released)
    }
}
