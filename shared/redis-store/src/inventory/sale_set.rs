//! Saying when the sale is on.

use std::sync::LazyLock;

use domain::{Epoch, EventId, SaleSwitch};
use redis::Script;

use super::{Inventory, on, script, written};
use crate::error::RedisStoreError;
use crate::types::{SaleControl, Written};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "sale_set.lua");
const NAME: &str = "sale_set";

impl Inventory {
    /// Sets the sale, where it is newer.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn sale_set(
        &self,
        event: &EventId,
        epoch: Epoch,
        sale: &SaleControl,
    ) -> Result<Written, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0).arg(sale.version).arg(switch_code(sale.switch));
        for instant in [sale.window.opens_at, sale.window.closes_at] {
            call.arg(instant.as_millisecond().clamp(0, LATEST));
        }
        call.arg(sale.limit_per_customer.unwrap_or(0));
        written(NAME, self.redis.run(NAME, &call).await?)
    }
}

/// As far as the script's six bytes of milliseconds go: the year 10889.
const LATEST: i64 = (1 << 48) - 1;

fn switch_code(switch: SaleSwitch) -> u8 {
    match switch {
        SaleSwitch::Scheduled => 0,
        SaleSwitch::Open => 1,
        SaleSwitch::Paused => 2,
        SaleSwitch::Closed => 3,
    }
}
