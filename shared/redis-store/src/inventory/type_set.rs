//! Making and editing ticket types.

use std::sync::LazyLock;

use domain::{Epoch, EventId, TicketKind};
use redis::Script;

use super::{Inventory, on, script, written};
use crate::error::RedisStoreError;
use crate::packed::Packed;
use crate::types::{TypeControl, Written};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "type_set.lua");
const NAME: &str = "type_set";

impl Inventory {
    /// Sets a type; price and limit where they are newer.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn type_set(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TypeControl,
    ) -> Result<Written, RedisStoreError> {
        let amount = u64::try_from(ticket_type.amount).unwrap_or(u64::MAX);
        Packed::default()
            .number("amount", 4, amount)
            .number("price version", 4, ticket_type.version)
            .number("ceiling", 3, ticket_type.ceiling.into())
            .finish()?;
        let kind = match ticket_type.kind {
            TicketKind::GeneralAdmission => 0,
            TicketKind::ReservedSeating => 1,
        };
        let mut call = on(&SCRIPT, event, epoch);
        call.arg(epoch.0)
            .arg(ticket_type.id.as_str())
            .arg(ticket_type.index)
            .arg(kind)
            .arg(amount)
            .arg(ticket_type.version)
            .arg(ticket_type.limit_per_customer.unwrap_or(0))
            .arg(ticket_type.ceiling)
            .arg(ticket_type.mark);
        written(NAME, self.redis.run(NAME, &call).await?)
    }
}
