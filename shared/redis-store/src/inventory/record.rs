//! What is known of an order.

use std::sync::LazyLock;

use domain::{CustomerKey, Epoch, EventId, OrderId};
use redis::Script;

use super::{Inventory, on, script};
use crate::error::RedisStoreError;
use crate::reply::Reply;
use crate::types::{OrderRecord, RecordState, Recorded};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "record.lua");
const NAME: &str = "record";

impl Inventory {
    /// What Redis knows of an order.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn record(
        &self,
        event: &EventId,
        epoch: Epoch,
        order: &OrderId,
        customer: &CustomerKey,
    ) -> Result<Recorded, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0).arg(&customer.0[..]).arg(&order.as_bytes()[..]);
        let mut reply = Reply::new(NAME, self.redis.run(NAME, &call).await?)?;
        Ok(match reply.next::<String>()?.as_str() {
            "known" => Recorded::Known(order_record(&mut reply)?),
            "unknown" => Recorded::Unknown,
            "stale_epoch" => Recorded::StaleEpoch { active: reply.epoch()? },
            "unavailable" => Recorded::Unavailable,
            _ => return Err(reply.unexpected()),
        })
    }
}

fn order_record(reply: &mut Reply) -> Result<OrderRecord, RedisStoreError> {
    let state = match reply.next()? {
        1 => RecordState::Held,
        2 => RecordState::Live,
        3 => RecordState::Withdrawn,
        4 => RecordState::Lapsed,
        5 => RecordState::Ended,
        _ => return Err(reply.unexpected()),
    };
    Ok(OrderRecord {
        state,
        fingerprint: reply.bytes()?,
        expires_at: reply.instant()?,
        lines: reply.lines()?,
    })
}
