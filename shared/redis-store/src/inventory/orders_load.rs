//! Loading orders into an epoch that is being built.

use std::sync::LazyLock;

use domain::{Epoch, EventId};
use redis::Script;

use super::{Inventory, on, script, written};
use crate::error::RedisStoreError;
use crate::packed::Packed;
use crate::types::{LoadedOrder, Written};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "lines.lua", "orders_load.lua");
const NAME: &str = "orders_load";

/// A command has at most 3,999 arguments; and other commands wait for this one.
const ORDERS_AT_ONCE: usize = 200;

impl Inventory {
    /// Loads orders with their units into an epoch that is being built, in chunks.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn orders_load(
        &self,
        event: &EventId,
        epoch: Epoch,
        orders: &[LoadedOrder],
    ) -> Result<Written, RedisStoreError> {
        for chunk in orders.chunks(ORDERS_AT_ONCE) {
            let mut call = on(&SCRIPT, event, epoch);
            call.arg(epoch.0);
            for order in chunk {
                call.arg(packed(order)?);
            }
            if written(NAME, self.redis.run(NAME, &call).await?)? == Written::StaleEpoch {
                return Ok(Written::StaleEpoch);
            }
        }
        Ok(Written::Applied)
    }
}

fn packed(order: &LoadedOrder) -> Result<Vec<u8>, RedisStoreError> {
    Packed::default()
        .bytes(&order.customer.0)
        .bytes(order.order.as_bytes())
        .bytes(&order.fingerprint.short())
        .number("version", 4, order.version)
        .instant("pay-by", order.standing.pay_by())
        .number("state", 1, order.standing.code())
        .lines(&order.lines)
        .finish()
}
