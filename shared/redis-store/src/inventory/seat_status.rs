//! One seat.

use std::sync::LazyLock;

use domain::{Epoch, EventId, SeatLabel, TicketTypeId, UnitState};
use redis::Script;

use super::{Inventory, on, script, unit_state};
use crate::error::RedisStoreError;
use crate::reply::Reply;
use crate::types::SeatStatus;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "seat_status.lua");
const NAME: &str = "seat_status";

impl Inventory {
    /// One seat.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn seat_status(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TicketTypeId,
        seat: &SeatLabel,
    ) -> Result<SeatStatus, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0).arg(ticket_type.as_str()).arg(seat.as_str());
        let mut reply = Reply::new(NAME, self.redis.run(NAME, &call).await?)?;
        let word: redis::Value = reply.next()?;
        let redis::Value::Int(code) = word else {
            return match redis::from_redis_value::<String>(word).as_deref() {
                Ok("unknown") => Ok(SeatStatus::Unknown),
                Ok("unavailable") => Ok(SeatStatus::Unavailable),
                _ => Err(reply.unexpected()),
            };
        };
        let state = u8::try_from(code).ok().and_then(unit_state);
        match (state.ok_or_else(|| reply.unexpected())?, reply.is_empty()) {
            (UnitState::Free, _) => Ok(SeatStatus::Free),
            (UnitState::Sold, _) => Ok(SeatStatus::Sold),
            (UnitState::Withdrawn, _) => Ok(SeatStatus::Withdrawn),
            (UnitState::Held, true) => Err(reply.unexpected()),
            (UnitState::Held, false) => Ok(SeatStatus::Held {
                until: reply.instant()?,
                remaining: std::time::Duration::from_millis(reply.next()?),
            }),
        }
    }
}
