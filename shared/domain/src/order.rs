//! Orders: the receipt of one purchase intent and the state it is in.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{CustomerId, Epoch, EventId, Fingerprint, OrderId, SeatLabel, TicketTypeId};
use crate::money::{Currency, Money};
use crate::unit::{OwnedUnit, UnitId};

/// The state of a stored order. (`queued`, which fans also read, is no stored
/// state: it is a hold whose intent is still on its way.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderState {
    /// Persisted, not paid.
    Pending,
    /// Paid.
    Paid,
    /// Being paid back.
    Refunding,
    /// Paid back.
    Refunded,
    /// Given up by the fan.
    Cancelled,
    /// Not paid in time.
    Expired,
    /// Refused; the reason is stored beside it.
    Rejected,
    /// Not an order of a fan: units an operator took out of sale.
    Withdrawn,
}

/// Whether an order owns its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Owns them.
    Live,
    /// Owns nothing any more, or never did.
    Ended,
}

impl OrderState {
    /// Whether an order in this state owns its units.
    #[must_use]
    pub fn standing(self) -> Standing {
        match self {
            Self::Pending | Self::Paid | Self::Refunding | Self::Withdrawn => Standing::Live,
            Self::Refunded | Self::Cancelled | Self::Expired | Self::Rejected => Standing::Ended,
        }
    }

    /// The word of the public interface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Refunding => "refunding",
            Self::Refunded => "refunded",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// Why an order was refused, for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Rejection {
    /// Not enough left of a type.
    SoldOut {
        /// The type.
        ticket_type: TicketTypeId,
    },
    /// Seats that others have.
    SeatTaken {
        /// Those seats.
        seats: Vec<SeatLabel>,
    },
    /// More than one customer can have.
    OverLimit {
        /// The type whose limit it is; none: the limit over all types.
        ticket_type: Option<TicketTypeId>,
        /// The limit.
        limit: u32,
    },
    /// The hold ended before the order was persisted.
    HoldExpired,
    /// The unit was given away again after a loss of Redis.
    Recovery,
    /// The intent could not be read or carried out.
    Unprocessable,
}

impl Rejection {
    /// The machine-readable reason of the public interface.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::SoldOut { .. } => "sold_out",
            Self::SeatTaken { .. } => "seat_taken",
            Self::OverLimit { .. } => "over_limit",
            Self::HoldExpired => "hold_expired",
            Self::Recovery => "recovery",
            Self::Unprocessable => "unprocessable",
        }
    }
}

/// One line of an order, with what it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    /// The ticket type.
    pub ticket_type: TicketTypeId,
    /// The price of one unit when it was held, in minor units.
    pub unit_amount: i64,
    /// The version of the type that set the price.
    pub price_version: u64,
    /// The units.
    pub units: Vec<UnitId>,
}

impl OrderLine {
    /// The last version of a price: Redis keeps four bytes of it.
    pub const LAST_PRICE_VERSION: u64 = u32::MAX as u64;
}

/// One purchase intent: who wants what, under which order id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Derived from customer, operation, event and key.
    pub order: OrderId,
    /// Who.
    pub customer: CustomerId,
    /// Which event.
    pub event: EventId,
    /// What, as a hash.
    pub fingerprint: Fingerprint,
}

/// An order as DynamoDB keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Derived from the intent.
    pub id: OrderId,
    /// Who owns it.
    pub customer: CustomerId,
    /// Which event it is for.
    pub event: EventId,
    /// The epoch its units were held in.
    pub epoch: Epoch,
    /// Its state.
    pub state: OrderState,
    /// Why it was refused; there exactly when the state is `rejected`.
    pub rejection: Option<Rejection>,
    /// Starts at 1 and grows by one with each change.
    pub version: u64,
    /// What was asked for.
    pub fingerprint: Fingerprint,
    /// The lines with their units; empty for a refusal.
    pub lines: Vec<OrderLine>,
    /// The sum of the lines.
    pub total: Money,
    /// When it was decided.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// By when a pending order must be paid.
    pub pay_by: Option<Timestamp>,
}

impl Order {
    /// Every unit of the order with its type.
    pub fn units(&self) -> impl Iterator<Item = OwnedUnit<'_>> {
        self.lines.iter().flat_map(|line| {
            line.units.iter().map(|unit| OwnedUnit { ticket_type: &line.ticket_type, unit })
        })
    }

    /// The sum of lines, in minor units.
    #[must_use]
    pub fn sum(lines: &[OrderLine]) -> i64 {
        lines
            .iter()
            .map(|line| {
                let count = i64::try_from(line.units.len()).unwrap_or(i64::MAX);
                line.unit_amount.saturating_mul(count)
            })
            .fold(0, i64::saturating_add)
    }

    /// Whether an order can have this instant: its item keeps milliseconds since 1970,
    /// and gives back no other.
    #[must_use]
    pub fn keeps(instant: Timestamp) -> bool {
        let millisecond = instant.as_millisecond();
        millisecond >= 0 && Timestamp::from_millisecond(millisecond).is_ok()
    }

    /// A stored refusal: the final answer to an intent that got nothing.
    #[must_use]
    pub fn refusal(
        intent: Intent,
        epoch: Epoch,
        rejection: Rejection,
        currency: Currency,
        now: Timestamp,
    ) -> Self {
        Self {
            id: intent.order,
            customer: intent.customer,
            event: intent.event,
            epoch,
            state: OrderState::Rejected,
            rejection: Some(rejection),
            version: 1,
            fingerprint: intent.fingerprint,
            lines: Vec::new(),
            total: Money { amount: 0, currency },
            created_at: now,
            updated_at: now,
            pay_by: None,
        }
    }

    /// Whether a pending order was not paid in time.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.state == OrderState::Pending && self.pay_by.is_some_and(|pay_by| pay_by <= now)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, StrDeserializer};

    use super::*;
    use crate::{IdempotencyKey, Operation};

    fn order(state: OrderState, pay_by: Option<i64>) -> Order {
        let customer = CustomerId::parse("fan-1").unwrap();
        let event = EventId::parse("show").unwrap();
        let key = IdempotencyKey::parse("k").unwrap();
        let intent = Intent {
            order: OrderId::derive(&customer, Operation::PlaceOrder, &event, &key),
            customer,
            event,
            fingerprint: Fingerprint([7; 32]),
        };
        let currency = Currency::parse("TWD").unwrap();
        let refusal = Order::refusal(
            intent,
            Epoch(1),
            Rejection::HoldExpired,
            currency,
            Timestamp::UNIX_EPOCH,
        );
        Order { state, pay_by: pay_by.map(at), ..refusal }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn line(ticket_type: &str, unit_amount: i64, serials: &[u32]) -> OrderLine {
        OrderLine {
            ticket_type: TicketTypeId::parse(ticket_type).unwrap(),
            unit_amount,
            price_version: 1,
            units: serials.iter().copied().map(UnitId::Serial).collect(),
        }
    }

    #[test]
    fn states_and_reasons_have_the_words_of_the_interface() {
        use OrderState::{
            Cancelled, Expired, Paid, Pending, Refunded, Refunding, Rejected, Withdrawn,
        };
        let states = [Pending, Paid, Refunding, Refunded, Cancelled, Expired, Rejected, Withdrawn];
        let words = states.map(OrderState::as_str).join(" ");
        assert_eq!(words, "pending paid refunding refunded cancelled expired rejected withdrawn");
        for state in states {
            let stored = StrDeserializer::<Error>::new(state.as_str());
            assert_eq!(OrderState::deserialize(stored), Ok(state), "as it is stored");
        }
        let floor = TicketTypeId::parse("floor").unwrap();
        let reasons = [
            Rejection::SoldOut { ticket_type: floor },
            Rejection::SeatTaken { seats: Vec::new() },
            Rejection::OverLimit { ticket_type: None, limit: 4 },
            Rejection::HoldExpired,
            Rejection::Recovery,
            Rejection::Unprocessable,
        ];
        let words = reasons.each_ref().map(Rejection::reason).join(" ");
        assert_eq!(words, "sold_out seat_taken over_limit hold_expired recovery unprocessable");
    }

    #[test]
    fn units_and_sum_are_those_of_all_lines() {
        let lines = vec![line("floor", 8_800, &[1, 2]), line("stalls", 12_000, &[9])];
        assert_eq!(Order::sum(&lines), 29_600);
        assert_eq!(Order::sum(&[line("floor", i64::MAX, &[1, 2])]), i64::MAX);
        let order = Order { lines, ..order(OrderState::Pending, None) };
        let units: Vec<(&str, &UnitId)> =
            order.units().map(|owned| (owned.ticket_type.as_str(), owned.unit)).collect();
        let [one, two, nine] = [1, 2, 9].map(UnitId::Serial);
        assert_eq!(units, [("floor", &one), ("floor", &two), ("stalls", &nine)]);
    }

    #[test]
    fn an_instant_is_kept_if_its_millisecond_is_one_and_none_before_1970_is() {
        let last = Timestamp::from_second(Timestamp::MAX.as_second()).unwrap();
        assert!(Order::keeps(Timestamp::UNIX_EPOCH) && Order::keeps(last));
        assert_eq!(Timestamp::from_millisecond(last.as_millisecond()).unwrap(), last);
        let before = Timestamp::from_millisecond(-1).unwrap();
        for never in [before, Timestamp::MIN, Timestamp::MAX] {
            assert!(!Order::keeps(never), "{never}");
        }
    }

    #[test]
    fn only_a_pending_order_is_overdue_and_from_the_instant_it_was_to_be_paid_by() {
        let pending = order(OrderState::Pending, Some(100));
        assert_eq!([99, 100, 101].map(|now| pending.is_overdue(at(now))), [false, true, true]);
        assert!(!order(OrderState::Paid, Some(100)).is_overdue(at(101)));
        assert!(!order(OrderState::Pending, None).is_overdue(at(101)));
    }
}
