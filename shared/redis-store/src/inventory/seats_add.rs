//! Adding seats to a type.

use std::sync::LazyLock;

use domain::{Epoch, EventId, SeatLabel, TicketTypeId};
use redis::Script;

use super::{Inventory, on, script, written};
use crate::error::RedisStoreError;
use crate::types::Written;

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "seats_add.lua");
const NAME: &str = "seats_add";

/// A command has at most 3,999 arguments; and other commands wait for this one.
const SEATS_AT_ONCE: usize = 1_000;

impl Inventory {
    /// Adds a contiguous range of seats, in chunks.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn seats_add(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TicketTypeId,
        first: u32,
        seats: &[SeatLabel],
    ) -> Result<Written, RedisStoreError> {
        let mut all = Written::Ignored;
        for (at, chunk) in seats.chunks(SEATS_AT_ONCE).enumerate() {
            let mut call = on(&SCRIPT, event, epoch);
            let index = u64::from(first) + (at * SEATS_AT_ONCE) as u64;
            call.arg(epoch.0).arg(ticket_type.as_str()).arg(index);
            for seat in chunk {
                call.arg(seat.as_str());
            }
            match written(NAME, self.redis.run(NAME, &call).await?)? {
                Written::Applied => all = Written::Applied,
                Written::Ignored => {}
                Written::StaleEpoch => return Ok(Written::StaleEpoch),
            }
        }
        Ok(all)
    }
}
