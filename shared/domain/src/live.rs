//! Live updates: who watches, and how far they were told.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{ConnectionId, CustomerId, EventId, SectionId};

/// A place in an event's live log.
///
/// Sequences of two log epochs say nothing about each other: who changes the
/// epoch starts from a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition {
    /// Which log; a new inventory starts a new one.
    pub epoch: u64,
    /// The last entry that is known; 0 before the first.
    pub sequence: u64,
}

/// An open WebSocket and who opened it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Named by the gateway.
    pub id: ConnectionId,
    /// The customer of the token it was opened with; none: somebody who only watches.
    pub customer: Option<CustomerId>,
    /// When it was opened.
    pub connected_at: Timestamp,
}

/// What one connection wants to be told about one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The event.
    pub event: EventId,
    /// The sections; empty: all of them.
    pub sections: Vec<SectionId>,
}

/// A connection that watches an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    /// The connection.
    pub connection: ConnectionId,
    /// The sections it wants; empty: all of them.
    pub sections: Vec<SectionId>,
}

/// One tick of a chain: each sends the next, so an event that somebody watches
/// is looked at again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainStep {
    /// Which chain.
    pub chain: String,
    /// Which tick of it, from 1.
    pub step: u64,
}

impl ChainStep {
    /// The first tick of a new chain.
    #[must_use]
    pub fn first(chain: impl Into<String>) -> Self {
        Self { chain: chain.into(), step: 1 }
    }

    /// The tick after this one.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { chain: self.chain.clone(), step: self.step.saturating_add(1) }
    }
}

/// What was last said to an event's watchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastTold {
    /// The position it began at; none: it was "fetch a snapshot".
    pub from: Option<LogPosition>,
    /// When it was first said.
    pub at: Timestamp,
    /// How often it was said again.
    pub repeats: u8,
}

/// How the ticks of an event stand. One item per event that was ever watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticker {
    /// The last tick that was begun of the chain that counts. It stays when the
    /// chain ends, so that a late tick of it is known as such.
    pub at: ChainStep,
    /// When the next tick is due; none: the chain ended, as nobody watched.
    pub due: Option<Timestamp>,
    /// When somebody last looked at the log.
    pub looked_at: Option<Timestamp>,
    /// Up to where all watchers were told; none: nothing was ever said.
    pub position: Option<LogPosition>,
    /// What was last said.
    pub told: Option<LastTold>,
}
