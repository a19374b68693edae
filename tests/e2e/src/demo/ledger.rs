//! What the fans experienced: every purchase with every answer it got. The
//! account at the end is made from this and from what the stores say.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use domain::OrderId;

/// One purchase intent: one fan, one key.
#[derive(Debug, Clone)]
pub struct Purchase {
    /// Whose it is.
    pub customer: String,
    /// How many tickets were asked for.
    pub wanted: usize,
    /// Every order id that any answer named. One key has one order, ever.
    pub orders: BTreeSet<OrderId>,
    /// When the request was sent that was accepted.
    pub sent_at: Instant,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a purchase ended, as its fan saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Refused for good.
    Refused {
        /// Why.
        reason: String,
    },
    /// Accepted, and persisted.
    Persisted {
        /// Its units, each as `type/unit`.
        units: Vec<String>,
        /// From reading the first 202 to reading the order as `pending`.
        after: Duration,
    },
    /// Persisted, and not paid in time: others may have its units now.
    Expired,
    /// Accepted, and then rejected with a reason.
    Rejected {
        /// Why.
        reason: String,
    },
    /// Accepted, and nobody ever said how it ended.
    Lost,
    /// Never decided: only answers that ask for a repetition.
    Undecided,
}

impl Purchase {
    /// The units it owns, as `type/unit`.
    #[must_use]
    pub fn units(&self) -> &[String] {
        match &self.outcome {
            Outcome::Persisted { units, .. } => units,
            Outcome::Refused { .. }
            | Outcome::Expired
            | Outcome::Rejected { .. }
            | Outcome::Lost
            | Outcome::Undecided => &[],
        }
    }

    /// Whether one key was served more than once: two orders, or other units
    /// than were asked for.
    #[must_use]
    pub fn is_double(&self) -> bool {
        let owns_too_many = self.units().len() > self.wanted;
        self.orders.len() > 1 || owns_too_many
    }
}
