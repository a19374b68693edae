// DYNAMO HELPER: leave this file and its operations to the live helper (they follow /work/notes/live.md,
// with your Connection/Subscription/Subscriber types kept); everything else in connections/ stays yours.
//! The ticker of an event: pk `ticker#<event>`, sk `lease`. One chain of delayed
//! messages ticks for an event; whoever claims the lease begins a new chain only
//! when none is alive.

use std::time::Duration;

use domain::EventId;
use jiff::Timestamp;

use super::ConnectionStore;
use crate::StoreError;

/// How far the ticks have come, and since when there was nothing new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TickerPosition {
    /// The log's epoch.
    pub log_epoch: u64,
    /// The last sequence that was sent.
    pub sequence: u64,
    /// The sequence before the last change that was sent: where a repeat begins.
    pub repeat_from: u64,
    /// When the last change was sent.
    pub changed_at: Timestamp,
}

/// What claiming the lease came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TickerClaim {
    /// The caller ticks until the lease ends; this is where the ticks have come
    /// to, if they ever began.
    Claimed(Option<TickerPosition>),
    /// Another one ticks.
    Held {
        /// Who.
        ticker: String,
        /// Until then, unless prolonged.
        until: Timestamp,
    },
}

impl ConnectionStore {
    /// Claims or prolongs the lease for `ticker`: where nobody has it, where it
    /// has run out, or where `ticker` has it.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn ticker_claim(
        &self,
        event: &EventId,
        ticker: &str,
        now: Timestamp,
        lease: Duration,
    ) -> Result<TickerClaim, StoreError> {
        todo!()
    }

    /// Records how far the ticks have come; false: `ticker` has the lease no more.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn ticker_advance(
        &self,
        event: &EventId,
        ticker: &str,
        position: &TickerPosition,
    ) -> Result<bool, StoreError> {
        todo!()
    }

    /// Gives the lease back, where `ticker` has it; the position stays.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn ticker_release(&self, event: &EventId, ticker: &str) -> Result<(), StoreError> {
        todo!()
    }
}
