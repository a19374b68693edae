//! All seats, and what remains, at one instant.

use std::sync::LazyLock;

use domain::{Epoch, EventId, LogPosition, UnitState};
use redis::Script;

use super::{Inventory, on, script, unit_state};
use crate::error::RedisStoreError;
use crate::reply::Reply;
use crate::types::{SeatRange, Snapshot};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "seat_states.lua");
const NAME: &str = "seat_states";

impl Inventory {
    /// All seats of some ranges and the counts of every type at one instant; none
    /// without such an active inventory.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn seat_states(
        &self,
        event: &EventId,
        epoch: Epoch,
        ranges: &[SeatRange],
    ) -> Result<Option<Snapshot>, RedisStoreError> {
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0);
        for range in ranges {
            call.arg(range.ticket_type.as_str()).arg(range.first).arg(range.count);
        }
        let mut reply = Reply::new(NAME, self.redis.run(NAME, &call).await?)?;
        if reply.is_empty() {
            return Ok(None);
        }
        let position = LogPosition { epoch: epoch.0, sequence: reply.next()? };
        let counts = reply.array()?.counts()?;
        let states = reply.rest(|reply| {
            let codes: Vec<u8> = reply.next()?;
            let states: Option<Vec<UnitState>> = codes.into_iter().map(unit_state).collect();
            states.ok_or_else(|| reply.unexpected())
        })?;
        Ok(Some(Snapshot { position, counts, states }))
    }
}
