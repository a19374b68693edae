//! A model: what is sold, who wants it, what may go wrong how often, and which
//! rules are left out.

use std::sync::LazyLock;

use domain::{HoldTime, Line, OrderLines, TicketTypeId, Wanted};
use jiff::{SignedDuration, Timestamp};

use crate::rule::Rule;
use crate::words::{OrderNo, Set};

/// What an order wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// So many places, whichever.
    Places(u8),
    /// These seats.
    Seats(Set),
}

/// How often things may happen that need not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// A fan repeats a request, with the same key.
    pub repeats: u8,
    /// A fan asks what became of an order.
    pub reads: u8,
    /// An order is ended without anybody's wanting its units.
    pub ends: u8,
    /// A process dies, a reply is lost, a call to Redis fails.
    pub crashes: u8,
    /// A message or a record comes twice.
    pub duplicates: u8,
    /// A message is given up by its queue.
    pub dead_letters: u8,
    /// Redis is emptied.
    pub losses: u8,
    /// Redis loses what it knew of one order.
    pub lost_writes: u8,
}

/// The model.
#[derive(Debug, Clone)]
pub struct Sale {
    /// How many units there are.
    pub units: u8,
    /// What each order wants; each is another fan's.
    pub wishes: Vec<Wish>,
    /// What may go wrong.
    pub budget: Budget,
    /// Orders that can't be written as they are.
    pub poison: Set,
    /// Rules that this model does without.
    pub without: Vec<Rule>,
}

/// So long is a tick: persistence that began before it ends before the next.
const TICK: SignedDuration = SignedDuration::from_secs(5);

static ONE_LINE: LazyLock<Option<OrderLines>> = LazyLock::new(|| {
    let ticket_type = TicketTypeId::parse("floor").ok()?;
    OrderLines::new(vec![Line { ticket_type, wanted: Wanted::Quantity(1) }]).ok()
});

impl Sale {
    /// A hold, in ticks: one in which it can be persisted, one in which it is too late.
    pub(crate) const HOLD: u8 = 2;
    /// The time to pay, in ticks.
    pub(crate) const PAY: u8 = 1;

    /// Nothing goes wrong.
    #[must_use]
    pub fn of(units: u8, wishes: &[Wish]) -> Self {
        Self {
            units,
            wishes: wishes.to_vec(),
            budget: Budget::default(),
            poison: Set::NONE,
            without: Vec::new(),
        }
    }

    /// The same, where so much may happen.
    #[must_use]
    pub fn with(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The same without these rules.
    #[must_use]
    pub fn without(self, rules: &[Rule]) -> Self {
        Self { without: rules.to_vec(), ..self }
    }

    /// Whether a rule is kept.
    #[must_use]
    pub fn keeps(&self, rule: Rule) -> bool {
        !self.without.contains(&rule)
    }

    /// All units.
    #[must_use]
    pub fn all(&self) -> Set {
        Set::first(self.units)
    }

    /// All orders.
    pub fn orders(&self) -> impl Iterator<Item = OrderNo> {
        (0..).take(self.wishes.len()).map(OrderNo)
    }

    /// What an order wants.
    #[must_use]
    pub fn wish(&self, order: OrderNo) -> Wish {
        self.wishes[order.at()]
    }

    /// Lines of an order, for the verdict on a reply; which they are plays no part.
    #[must_use]
    pub fn lines() -> Option<&'static OrderLines> {
        ONE_LINE.as_ref()
    }

    /// The product's own answer to whether it is too late to begin to persist a
    /// hold of which so much is left.
    #[must_use]
    pub fn is_too_late(&self, left: u8) -> bool {
        // A hold of two ticks, a margin of one.
        let time = HoldTime::new(10, 0).unwrap_or_default();
        let expires_at = Timestamp::UNIX_EPOCH + TICK * i32::from(left);
        self.keeps(Rule::IsNeverTooLate) && time.is_too_late(expires_at, Timestamp::UNIX_EPOCH)
    }
}
