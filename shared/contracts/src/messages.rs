//! What the functions send each other through queues.

mod traces;

use domain::{
    ChainStep, Currency, CustomerId, Epoch, EventId, Fingerprint, HoldTime, Intent,
    MAX_UNITS_PER_ORDER, Money, Order, OrderId, OrderLine, OrderState, Rejection,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use traces::IntentTraces;

/// An intent whose units are held in Redis and want to be persisted.
/// Queue: order-intents; group: the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderIntent {
    /// The order.
    pub order: OrderId,
    /// Who owns it.
    pub customer: CustomerId,
    /// Which event.
    pub event: EventId,
    /// The epoch of the hold.
    pub epoch: Epoch,
    /// What was asked for (hex of the fingerprint, version 1).
    #[serde(with = "fingerprint_hex")]
    pub fingerprint: Fingerprint,
    /// The units and the prices they were held at.
    pub lines: Vec<OrderLine>,
    /// The event's currency.
    pub currency: Currency,
    /// When the units were held.
    pub held_at: Timestamp,
    /// When the hold lapses.
    pub expires_at: Timestamp,
}

impl OrderIntent {
    /// Who wants what, under which id.
    #[must_use]
    pub fn intent(&self) -> Intent {
        Intent {
            order: self.order,
            customer: self.customer.clone(),
            event: self.event.clone(),
            fingerprint: self.fingerprint,
        }
    }

    /// Whether it wants what a till holds: some units on each line, no more in all than
    /// an order may have, each at a price that is one. And whether both stores give
    /// back what it says: an order that one of them can't keep would own its units for
    /// ever.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let units: usize = self.lines.iter().map(|line| line.units.len()).sum();
        let is_line = |line: &OrderLine| {
            !line.units.is_empty()
                && Money::price(line.unit_amount, self.currency).is_ok()
                && line.price_version <= OrderLine::LAST_PRICE_VERSION
        };
        (1..=MAX_UNITS_PER_ORDER).contains(&units)
            && self.lines.iter().all(is_line)
            && self.epoch <= Epoch::LAST
            && [self.held_at, self.expires_at].into_iter().all(Order::keeps)
    }

    /// All but what was held.
    #[must_use]
    pub fn head(&self) -> IntentHead {
        IntentHead {
            order: self.order,
            customer: self.customer.clone(),
            event: self.event.clone(),
            epoch: self.epoch,
            fingerprint: self.fingerprint,
            currency: self.currency,
            held_at: self.held_at,
        }
    }

    /// The order this intent becomes when it is persisted now.
    #[must_use]
    pub fn into_order(self, time: &HoldTime, now: Timestamp) -> Order {
        Order {
            id: self.order,
            customer: self.customer,
            event: self.event,
            epoch: self.epoch,
            state: OrderState::Pending,
            rejection: None,
            version: 1,
            fingerprint: self.fingerprint,
            total: Money { amount: Order::sum(&self.lines), currency: self.currency },
            lines: self.lines,
            created_at: self.held_at,
            updated_at: now,
            pay_by: Some(time.pay_by(now)),
        }
    }
}

/// What is known of an intent whose order is to be ended: all but what was held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentHead {
    /// The order.
    pub order: OrderId,
    /// Who owns it.
    pub customer: CustomerId,
    /// Which event.
    pub event: EventId,
    /// The epoch of the hold.
    pub epoch: Epoch,
    /// What was asked for.
    pub fingerprint: Fingerprint,
    /// The event's currency.
    pub currency: Currency,
    /// When the units were held.
    pub held_at: Timestamp,
}

impl IntentHead {
    /// The end of an order that held and was not persisted. Its fan waits since
    /// then, unlike one who was refused at once.
    #[must_use]
    pub fn refusal(&self, rejection: Rejection, now: Timestamp) -> Order {
        let intent = Intent {
            order: self.order,
            customer: self.customer.clone(),
            event: self.event.clone(),
            fingerprint: self.fingerprint,
        };
        Order {
            created_at: self.held_at,
            ..Order::refusal(intent, self.epoch, rejection, self.currency, now)
        }
    }
}

/// Why an intent's message was given up.
/// Travels as the attribute `reason` of the dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUp {
    /// It is no intent.
    Unreadable,
    /// It can't be written as an order.
    Unwritable,
    /// It failed as often as its queue allows. The queue itself gave it up, and
    /// says nothing.
    TooManyReceives,
}

impl GivenUp {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unreadable, Self::Unwritable, Self::TooManyReceives];

    /// The word that travels.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Unwritable => "unwritable",
            Self::TooManyReceives => "too_many_receives",
        }
    }

    /// The reason that a word stands for.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// An order whose item Redis could not be made to agree with at once.
/// Queue: settle-retries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettleRetry {
    /// The order.
    pub order: OrderId,
    /// Who owns it.
    pub customer: CustomerId,
    /// Which event.
    pub event: EventId,
}

/// Something that watchers of an event should see.
/// Queue: live-updates; group: the event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LiveUpdate {
    /// Seats may have changed: look at the log.
    Tick {
        /// Which event.
        event: EventId,
        /// The tick of a chain that this is; none: a nudge from outside the chain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ticker: Option<ChainStep>,
    },
    /// An order has a new state: tell its owner.
    Order {
        /// Which event.
        event: EventId,
        /// Who owns it.
        customer: CustomerId,
        /// The order.
        order: OrderId,
        /// Its state.
        state: OrderState,
        /// Why it was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Its version.
        version: u64,
    },
}

impl LiveUpdate {
    /// Tells an order's owner what it is now.
    #[must_use]
    pub fn order(order: &Order) -> Self {
        Self::Order {
            event: order.event.clone(),
            customer: order.customer.clone(),
            order: order.id,
            state: order.state,
            reason: order.rejection.as_ref().map(|why| why.reason().to_owned()),
            version: order.version,
        }
    }

    /// Nudges an event's watchers.
    #[must_use]
    pub fn tick(event: &EventId) -> Self {
        Self::Tick { event: event.clone(), ticker: None }
    }

    /// The event it is about.
    #[must_use]
    pub fn event(&self) -> &EventId {
        match self {
            Self::Tick { event, .. } | Self::Order { event, .. } => event,
        }
    }
}

mod fingerprint_hex {
    use domain::Fingerprint;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        fingerprint: &Fingerprint,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&fingerprint.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Fingerprint, D::Error> {
        let text = String::deserialize(deserializer)?;
        Fingerprint::from_hex(&text).ok_or_else(|| D::Error::custom("not a fingerprint"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{TicketTypeId, UnitId};

    fn intent() -> OrderIntent {
        OrderIntent {
            order: OrderId::from_bytes([7; 16]),
            customer: CustomerId::parse("fan").unwrap(),
            event: EventId::parse("show").unwrap(),
            epoch: Epoch(1),
            fingerprint: Fingerprint([7; 32]),
            lines: vec![line(2), line(1)],
            currency: Currency::parse("TWD").unwrap(),
            held_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::from_second(60).unwrap(),
        }
    }

    fn line(units: u32) -> OrderLine {
        OrderLine {
            ticket_type: TicketTypeId::parse("floor").unwrap(),
            unit_amount: 500,
            price_version: 1,
            units: (0..units).map(UnitId::Serial).collect(),
        }
    }

    const BEFORE_1970: Timestamp = Timestamp::constant(-1, 0);

    /// The intent with one change.
    fn with(change: impl FnOnce(&mut OrderIntent)) -> OrderIntent {
        let mut intent = intent();
        change(&mut intent);
        intent
    }

    #[test]
    fn what_a_till_writes_is_whole() {
        let most = u32::try_from(MAX_UNITS_PER_ORDER).unwrap();
        let bounds = [
            intent(),
            with(|intent| intent.lines = vec![line(most)]),
            with(|intent| intent.lines[1].unit_amount = Money::MAX_AMOUNT),
            with(|intent| intent.lines[1].price_version = OrderLine::LAST_PRICE_VERSION),
            with(|intent| intent.epoch = Epoch::LAST),
        ];
        for intent in bounds {
            assert!(intent.is_whole(), "{intent:?}");
        }
    }

    #[test]
    fn what_no_till_writes_is_not_whole() {
        let most = u32::try_from(MAX_UNITS_PER_ORDER).unwrap();
        let damaged = [
            with(|intent| intent.lines.clear()),
            with(|intent| intent.lines[1].units.clear()),
            with(|intent| intent.lines = vec![line(most), line(1)]),
            with(|intent| intent.lines[1].unit_amount = -1),
            with(|intent| intent.lines[1].unit_amount = Money::MAX_AMOUNT + 1),
            with(|intent| intent.lines[1].price_version = OrderLine::LAST_PRICE_VERSION + 1),
            with(|intent| intent.epoch = Epoch(Epoch::LAST.0 + 1)),
            with(|intent| intent.held_at = BEFORE_1970),
            with(|intent| intent.expires_at = BEFORE_1970),
        ];
        for intent in damaged {
            assert!(!intent.is_whole(), "{intent:?}");
        }
    }

    #[test]
    fn who_held_and_is_refused_waits_since_the_hold() {
        let head = intent().head();
        let now = Timestamp::from_second(60).unwrap();
        let refusal = head.refusal(Rejection::HoldExpired, now);
        assert_eq!((refusal.created_at, refusal.updated_at), (head.held_at, now));
        assert_eq!(refusal.rejection, Some(Rejection::HoldExpired));
    }
}
