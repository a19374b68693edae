//! Giving back a hold.

use std::sync::LazyLock;

use domain::{CustomerKey, Epoch, EventId, OrderId};
use fault_points::{REDIS_RELEASED, reached};
use redis::Script;

use super::{Inventory, on, script};
use crate::error::RedisStoreError;
use crate::reply::Reply;
use crate::types::Released;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "release.lua");
const NAME: &str = "release";

impl Inventory {
    /// Gives back a hold that was not persisted.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn release(
        &self,
        event: &EventId,
        epoch: Epoch,
        order: &OrderId,
        customer: &CustomerKey,
    ) -> Result<Released, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0).arg(&customer.0[..]).arg(&order.as_bytes()[..]);
        let reply = self.redis.run(NAME, &call).await?;
        reached(REDIS_RELEASED).await;
        let mut reply = Reply::new(NAME, reply)?;
        Ok(match reply.next::<String>()?.as_str() {
            "given_back" => Released::GivenBack,
            "no_hold" => Released::NoHold,
            "unknown" => Released::Unknown,
            "stale_epoch" => Released::StaleEpoch { active: reply.epoch()? },
            "unavailable" => Released::Unavailable,
            _ => return Err(reply.unexpected()),
        })
    }
}
