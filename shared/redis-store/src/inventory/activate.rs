//! Letting an epoch sell.

use std::sync::LazyLock;

use domain::{Epoch, EventId};
use redis::Script;

use super::{Inventory, on, script};
use crate::error::RedisStoreError;
use crate::keys;
use crate::types::LoadedCounts;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "activate.lua");
const NAME: &str = "activate";

impl Inventory {
    /// Lets an epoch sell, where all of it has arrived; whether it sells now.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn activate(
        &self,
        event: &EventId,
        epoch: Epoch,
        expected: LoadedCounts,
    ) -> Result<bool, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.key(keys::ended_sessions(event));
        call.arg(epoch.0).arg(expected.units).arg(expected.orders);
        self.redis.run(NAME, &call).await
    }
}
