//! Live updates: the log of an event, and the chain of ticks that follows it.

use serde::{Deserialize, Serialize};

use crate::event::TicketType;

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

impl LogPosition {
    /// Where the map of an event with these types stands while there is no inventory:
    /// whatever is added or edited makes it another position.
    #[must_use]
    pub fn before_the_first_sale(types: &[TicketType]) -> Self {
        Self { epoch: 0, sequence: types.iter().map(|of| of.version).sum() }
    }
}

/// One tick of a chain: each sends the next, so an event that somebody watches
/// is looked at again and again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

    /// A new chain whose first tick is still on its way.
    #[must_use]
    pub fn before_first(chain: impl Into<String>) -> Self {
        Self { chain: chain.into(), step: 0 }
    }

    /// The tick after this one.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { chain: self.chain.clone(), step: self.step.saturating_add(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_counts_from_one() {
        let first = ChainStep::first("c");
        assert_eq!(ChainStep::before_first("c").next(), first);
        assert_eq!((first.step, first.next().step), (1, 2));
        assert_eq!(first.next().chain, "c");
    }
}
