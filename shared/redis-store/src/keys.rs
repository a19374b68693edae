//! The names of all keys: nothing else formats one.
//!
//! All keys of one script carry one hash tag, so that a cluster keeps them on one
//! node. The till (`{i:…}`) and the line (`{q:…}`) of an event have different
//! tags: a rush in the line does not slow the till.

use domain::{Epoch, EventId};

/// The keys of an event's line, in the order its scripts name them.
pub(crate) fn line(event: &EventId) -> [String; 6] {
    ["control", "places", "called", "active", "left", "late"]
        .map(|part| format!("{{q:{event}}}:{part}"))
}

/// The event's inventory: its epoch, its sale and its counts.
pub(crate) fn gate(event: &EventId) -> String {
    format!("{{i:{event}}}:gate")
}

/// The customers of an epoch's inventory. The scripts derive the epoch's other
/// keys from this one: `inventory/prelude.lua` lists them.
pub(crate) fn customers(event: &EventId, epoch: Epoch) -> String {
    format!("{{i:{event}}}:{epoch}:customers")
}

/// Shopping sessions that have ended, whatever the epoch.
pub(crate) fn ended_sessions(event: &EventId) -> String {
    format!("{{i:{event}}}:ended")
}
