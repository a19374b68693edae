//! Following the live log.

use std::sync::LazyLock;

use domain::{Epoch, EventId, LogPosition};
use redis::Script;

use super::{Inventory, on, script, unit_state};
use crate::error::RedisStoreError;
use crate::reply::Reply;
use crate::types::{Changes, UnitChange};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "changes.lua");
const NAME: &str = "changes";

/// Type index, state, and the unit in three bytes.
const CHANGE_SIZE: usize = 5;

impl Inventory {
    /// What changed after a position; gives back lapsed holds first.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn changes(
        &self,
        event: &EventId,
        epoch: Epoch,
        after: LogPosition,
        limit: u32,
    ) -> Result<Changes, RedisStoreError> {
        // A position of another log lies beyond the end of this one.
        let sequence = if after.epoch == epoch.0 { after.sequence } else { MOST_SEQUENCE };
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0).arg(sequence.min(MOST_SEQUENCE)).arg(limit.max(1));
        let mut reply = Reply::new(NAME, self.redis.run(NAME, &call).await?)?;
        let position = |sequence| LogPosition { epoch: epoch.0, sequence };
        match reply.next::<String>()?.as_str() {
            "unavailable" | "stale_epoch" => Ok(Changes::Unavailable),
            "gap" => Ok(Changes::Gap { now: position(reply.next()?) }),
            "changes" => {
                let (to, more, counts) = (position(reply.next()?), reply.next()?, reply.next()?);
                let units = reply.rest(unit_changes)?.concat();
                Ok(Changes::Entries { to, units, counts, more })
            }
            _ => Err(reply.unexpected()),
        }
    }
}

/// The largest integer that Lua's numbers tell from the next.
const MOST_SEQUENCE: u64 = (1 << 53) - 1;

fn unit_changes(reply: &mut Reply) -> Result<Vec<UnitChange>, RedisStoreError> {
    let packed: Vec<u8> = reply.next()?;
    let (changes, rest) = packed.as_chunks::<CHANGE_SIZE>();
    let read = |&[type_index, state, high, middle, low]: &[u8; CHANGE_SIZE]| {
        let unit_index = u32::from_be_bytes([0, high, middle, low]);
        unit_state(state).map(|state| UnitChange { type_index, unit_index, state })
    };
    match changes.iter().map(read).collect::<Option<Vec<_>>>() {
        Some(changes) if rest.is_empty() => Ok(changes),
        _ => Err(reply.unexpected()),
    }
}
