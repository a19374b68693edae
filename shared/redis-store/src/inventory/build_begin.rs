//! Beginning to build an epoch.

use std::sync::LazyLock;

use domain::{Epoch, EventId};
use redis::Script;

use super::{Inventory, script};
use crate::error::RedisStoreError;
use crate::keys;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "build_begin.lua");
const NAME: &str = "build_begin";

impl Inventory {
    /// Begins to build an epoch, where a lower one is there or none; whether it
    /// is being built now. Nothing is sold until it is activated.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn build_begin(
        &self,
        event: &EventId,
        epoch: Epoch,
    ) -> Result<bool, RedisStoreError> {
        let mut call = SCRIPT.prepare_invoke();
        call.key(keys::gate(event)).arg(epoch.0);
        self.redis.run(NAME, &call).await
    }
}
