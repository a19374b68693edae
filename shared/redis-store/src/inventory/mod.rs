//! The inventory of an event: one script per operation, beside its typed
//! function. `prelude.lua` says what the keys hold and what is always true.

use std::sync::LazyLock;

use domain::{Epoch, EventId, UnitState};
use redis::{Script, ScriptInvocation};

use crate::client::Redis;
use crate::error::RedisStoreError;
use crate::keys;
use crate::types::{SettleStanding, Written};

mod activate;
mod build_begin;
mod changes;
mod counts;
mod look;
mod mark_raise;
mod orders_load;
mod pointer;
mod record;
mod release;
pub(crate) mod reserve;
mod sale_set;
mod seat_states;
mod seat_status;
mod seats_add;
mod session_end;
mod settle;
mod type_set;

/// The inventory of events on a Redis.
#[derive(Debug, Clone)]
pub struct Inventory {
    redis: Redis,
}

impl Inventory {
    /// On that Redis.
    #[must_use]
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }
}

/// A script with the prelude in front of it, and other parts before or between.
macro_rules! script {
    ($($part:literal),+) => {
        std::sync::LazyLock::new(|| redis::Script::new(concat!($(include_str!($part), "\n"),+)))
    };
}
use script;

/// A call of a script on the inventory of an event in an epoch.
fn on<'a>(script: &'a LazyLock<Script>, event: &EventId, epoch: Epoch) -> ScriptInvocation<'a> {
    let mut invocation = script.prepare_invoke();
    invocation.key(keys::gate(event)).key(keys::customers(event, epoch));
    invocation
}

/// Reads the reply of a versioned write.
fn written(script: &'static str, code: i64) -> Result<Written, RedisStoreError> {
    match code {
        1 => Ok(Written::Applied),
        0 => Ok(Written::Ignored),
        -1 => Ok(Written::StaleEpoch),
        _ => Err(RedisStoreError::UnexpectedReply { script }),
    }
}

/// The state of a unit in its slot. What a recovery withholds can't be had now
/// and may come back: watchers see it as held.
fn unit_state(code: u8) -> Option<UnitState> {
    const WITHHELD: u8 = 4;
    match code {
        WITHHELD => Some(UnitState::Held),
        code => UnitState::from_code(code),
    }
}

impl SettleStanding {
    /// The state of an order in the scripts.
    fn code(self) -> u64 {
        match self {
            Self::Live { .. } => 2,
            Self::Withdrawn => 3,
            Self::Ended => 5,
        }
    }

    fn pay_by(self) -> Option<jiff::Timestamp> {
        match self {
            Self::Live { pay_by } => pay_by,
            Self::Withdrawn | Self::Ended => None,
        }
    }
}
