//! Whether units could be had.

use std::sync::LazyLock;

use domain::Wanted;
use redis::Script;

use super::reserve::reservation;
use super::{Inventory, on, script};
use crate::error::RedisStoreError;
use crate::reply::Reply;
use crate::types::{Look, Reservation};

static SCRIPT: LazyLock<Script> = script!("prelude.lua", "shortage.lua", "look.lua");
const NAME: &str = "look";

impl Inventory {
    /// What keeps a customer from units beside those that the customer has of them; none:
    /// all the others are free. Nothing is taken.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn look(&self, look: &Look) -> Result<Option<Reservation>, RedisStoreError> {
        let mut call = on(&SCRIPT, &look.event, look.epoch);
        call.arg(look.epoch.0).arg(look.customer.0.as_slice()).arg(look.line.ticket_type.as_str());
        match &look.line.wanted {
            Wanted::Quantity(quantity) => {
                call.arg(*quantity);
            }
            Wanted::Seats(seats) => {
                call.arg(0);
                for seat in seats {
                    call.arg(seat.as_str());
                }
            }
        }
        let reply = Reply::new(NAME, self.redis.run(NAME, &call).await?)?;
        match reply.is_empty() {
            true => Ok(None),
            false => reservation(reply).map(Some),
        }
    }
}
