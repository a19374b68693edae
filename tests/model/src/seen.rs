//! What an onlooker keeps of the past: enough to see a promise broken, and no
//! more, as each thing kept multiplies the states.

use crate::words::{Decision, ORDERS, OrderNo, Set};

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The units of the first intent that was sent of each order: with it, its fan
    /// may have been told 202.
    pub queued: [Option<Set>; ORDERS],
    /// What was told of an order first, as its decision.
    pub told: [Option<Decision>; ORDERS],
    /// The units that each order has freed.
    freed: [Set; ORDERS],
    /// What must never be seen.
    pub broken: Option<Broken>,
}

/// What must never be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Broken {
    /// Two different decisions of one intent were told.
    DecidedTwice,
    /// A repeat of a decided intent was queued as if it were undecided.
    QueuedAfterDecision,
    /// A repeat was queued with other units, although Redis had lost nothing.
    QueuedOtherUnits,
    /// A unit was released twice for one order, or by an order that did not own it.
    ReleasedTwice,
    /// An order was persisted after its hold had lapsed.
    PersistedTooLate,
}

impl Seen {
    fn breaks(&mut self, how: Broken) {
        self.broken = self.broken.or(Some(how));
    }

    /// A fan was told a decision.
    pub fn told(&mut self, order: OrderNo, decision: Decision) {
        let first = *self.told[order.at()].get_or_insert(decision);
        if first != decision {
            self.breaks(Broken::DecidedTwice);
        }
    }

    /// An intent was sent.
    pub fn queued(&mut self, order: OrderNo, units: Set, was_decided: bool, redis_is_whole: bool) {
        let first = *self.queued[order.at()].get_or_insert(units);
        if was_decided {
            self.breaks(Broken::QueuedAfterDecision);
        } else if first != units && redis_is_whole {
            self.breaks(Broken::QueuedOtherUnits);
        }
    }

    /// An order was persisted when so much of its hold was left.
    pub fn persisted(&mut self, left: u8) {
        if left == 0 {
            self.breaks(Broken::PersistedTooLate);
        }
    }

    /// An order freed these of its units in the tables.
    pub fn freed(&mut self, order: OrderNo, units: Set, were_own: Set) {
        let before = &mut self.freed[order.at()];
        let again = !before.and(units).is_empty() || !units.less(were_own).is_empty();
        *before = before.or(units);
        if again {
            self.breaks(Broken::ReleasedTwice);
        }
    }
}
