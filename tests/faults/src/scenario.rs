//! What can become of an order, step by step.

#![expect(clippy::expect_used, reason = "only tests come here")]

use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{Line, Order, OrderState};
use serde_json::{Value, json};
use test_sale::{now, places, seats};
use test_support::wire::Fault;

use crate::{House, LONG};

/// What is sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Two places of general admission.
    Places,
    /// Two seats.
    Seats,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Places, Self::Seats];

    /// A request for two of them.
    #[must_use]
    pub fn body(self) -> Value {
        match self {
            Self::Places => json!({"lines": [{"ticket_type": "floor", "quantity": 2}]}),
            Self::Seats => {
                json!({"lines": [{"ticket_type": "stalls", "seats": ["A-1-0", "A-1-1"]}]})
            }
        }
    }

    /// A request for one of them.
    #[must_use]
    pub fn other_body(self) -> Value {
        match self {
            Self::Places => json!({"lines": [{"ticket_type": "floor", "quantity": 1}]}),
            Self::Seats => json!({"lines": [{"ticket_type": "stalls", "seats": ["A-1-1"]}]}),
        }
    }

    /// A line of two of them.
    #[must_use]
    pub fn line(self) -> Line {
        match self {
            Self::Places => places(2),
            Self::Seats => seats([0, 1]),
        }
    }
}

/// Until an intent's hold is over.
pub async fn lapsed(intent: &OrderIntent) {
    while now() <= intent.expires_at {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What can become of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// There is enough: it is persisted.
    Bought,
    /// Another has it all.
    SoldOut,
    /// Another had it all, and did not pay in time.
    Overdue,
    /// Another has it all, and Redis gave it back all the same.
    Taken,
    /// DynamoDB won't have it as it is.
    Poisoned,
    /// Redis has no inventory when the stream comes.
    Deferred,
}

/// A step: one invocation of one function, or several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The fan orders.
    Order,
    /// Intents are persisted.
    Deliver,
    /// Dead letters are seen to.
    Letters,
    /// The stream is projected.
    Stream,
    /// The same, without an inventory.
    StreamWithoutInventory,
    /// Retries are settled.
    Retry,
}

/// How many there are of what is sold: what one order takes.
pub const CAPACITY: u32 = 2;
/// Who orders.
pub const FAN: &str = "fan";
/// Under which key.
pub const KEY: &str = "key";

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Bought, Self::SoldOut, Self::Overdue, Self::Taken, Self::Poisoned, Self::Deferred];

    /// A house where it is about to happen.
    ///
    /// # Panics
    /// When an engine fails.
    pub async fn house(self, kind: Kind) -> House {
        let house = House::of(CAPACITY, CAPACITY).await;
        match self {
            Self::Bought | Self::Deferred => {}
            Self::SoldOut => {
                let rival = house.rival(kind).await;
                house.sale.persist(&rival, LONG).await;
            }
            Self::Overdue => {
                let rival = house.rival(kind).await;
                house.sale.persist(&rival, Duration::ZERO).await;
            }
            Self::Taken => {
                let rival = house.rival(kind).await;
                house.sale.persist_unsettled(&rival, LONG).await;
                house.sale.release(&rival).await;
            }
            Self::Poisoned => {
                let fault = Fault::error(400, "ValidationException", "the item is no item");
                house.sale.wire.next("TransactWriteItems", fault);
            }
        }
        house
    }

    /// Its steps, in order.
    #[must_use]
    pub fn steps(self) -> &'static [Step] {
        match self {
            Self::Deferred => &[
                Step::Order,
                Step::Deliver,
                Step::StreamWithoutInventory,
                Step::Retry,
                Step::Stream,
            ],
            Self::Poisoned => {
                &[Step::Order, Step::Deliver, Step::Letters, Step::Stream, Step::Retry]
            }
            Self::Bought | Self::SoldOut | Self::Overdue | Self::Taken => {
                &[Step::Order, Step::Deliver, Step::Stream, Step::Retry]
            }
        }
    }

    /// Whether the fan's order may end like this, whatever died on the way.
    #[must_use]
    pub fn may_end(self, order: &Order) -> bool {
        let reason = order.rejection.as_ref().map(domain::Rejection::reason);
        match (self, order.state, reason) {
            (Self::Bought | Self::Deferred | Self::Overdue, OrderState::Pending, None) => true,
            (Self::SoldOut, OrderState::Rejected, Some("sold_out" | "seat_taken")) => true,
            // Once the owner is settled, the hold is gone: a fan who repeats before the
            // intent comes again learns that first.
            (
                Self::Taken,
                OrderState::Rejected,
                Some("seat_taken" | "recovery" | "hold_expired"),
            ) => true,
            // What died may have taken the fault with it.
            (Self::Poisoned, OrderState::Rejected, Some("unprocessable")) => true,
            (Self::Poisoned, OrderState::Pending, None) => true,
            _ => false,
        }
    }
}

impl House {
    /// Takes a step.
    pub async fn take(&self, step: Step, kind: Kind) {
        match step {
            Step::Order => {
                self.order(FAN, KEY, &kind.body()).await;
            }
            Step::Deliver => {
                self.deliver().await;
            }
            Step::Letters => self.see_to_letters().await,
            Step::Stream => self.stream().await,
            Step::StreamWithoutInventory => self.stream_without_inventory().await,
            Step::Retry => self.retry().await,
        }
    }

    async fn rival(&self, kind: Kind) -> OrderIntent {
        self.sale.hold("rival", "key", vec![kind.line()]).await
    }

    /// The fan's order.
    ///
    /// # Panics
    /// When there is none.
    pub async fn fans_order(&self) -> Order {
        let orders = self.orders().await.into_iter();
        let mut own = orders.filter(|order| order.customer.as_str() == FAN);
        let order = own.next().expect("an order");
        assert!(own.next().is_none(), "P2: one key, one order");
        order
    }
}
