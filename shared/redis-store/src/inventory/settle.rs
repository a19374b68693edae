//! Making Redis agree with an order in DynamoDB.

use std::sync::LazyLock;

use fault_points::{REDIS_SETTLED, reached};
use redis::Script;

use super::{Inventory, on, script};
use crate::error::RedisStoreError;
use crate::packed::Packed;
use crate::reply::Reply;
use crate::types::{Settle, SettleStanding, Settled};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "lines.lua", "settle.lua");
const NAME: &str = "settle";

impl Inventory {
    /// Makes Redis agree with an order's item.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn settle(&self, settle: &Settle) -> Result<Settled, RedisStoreError> {
        let mut call = on(&SCRIPT, &settle.event, settle.epoch);
        call.arg(packed(settle)?);
        let reply = self.redis.run(NAME, &call).await?;
        reached(REDIS_SETTLED).await;
        let mut reply = Reply::new(NAME, reply)?;
        Ok(match reply.next::<String>()?.as_str() {
            "applied" => Settled::Applied,
            "ignored" => Settled::Ignored,
            "conflict" => Settled::Conflict { customer: reply.customer()?, order: reply.order()? },
            "lost" => Settled::Lost,
            "reread" => Settled::Reread,
            "stale_epoch" => Settled::StaleEpoch { active: reply.epoch()? },
            "unavailable" => Settled::Unavailable,
            _ => return Err(reply.unexpected()),
        })
    }
}

fn packed(settle: &Settle) -> Result<Vec<u8>, RedisStoreError> {
    let packed = Packed::default()
        .number("epoch", 7, settle.epoch.0)
        .number("epoch", 7, settle.order_epoch.0)
        .bytes(&settle.customer.0)
        .bytes(settle.order.as_bytes())
        .bytes(&settle.fingerprint.short())
        .number("version", 4, settle.version)
        .instant("pay-by", settle.standing.pay_by())
        .number("state", 1, settle.standing.code())
        .number("reread", 1, settle.reread.into());
    match settle.standing {
        SettleStanding::Ended => packed.finish(),
        SettleStanding::Live { .. } | SettleStanding::Withdrawn => {
            packed.lines(&settle.lines).finish()
        }
    }
}
