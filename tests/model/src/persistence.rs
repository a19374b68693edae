//! The function `order-persistence`: one intent, call by call.
//!
//! Copies of one message in one batch are merged there; here each is one more
//! invocation, which is harder.

use domain::OrderState;
use receipts::{Reason, Verdict};

use crate::action::Fault;
use crate::inventory::{Settle, Settled};
use crate::rule::Rule;
use crate::sale::{Sale, Wish};
use crate::words::{Intent, Item, OrderNo, Why};
use crate::world::World;

/// An intent being worked off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Persisting {
    /// The intent.
    pub intent: Intent,
    /// The next call.
    pub next: Persist,
    /// It began a tick ago: it ends before the next one, as its timeout is shorter.
    pub aged: bool,
}

/// The calls of an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Persist {
    /// The transaction.
    OrderPersist,
    /// Its outcome is unknown: reads the order.
    OrderFetch,
    /// A unit was another's: reads that order.
    OwnerFetch(OrderNo),
    /// Makes Redis agree with an order, live or ended; if it is another's, this one is refused then.
    Settle(OrderNo, Item),
    /// Reads that order again, as Redis asks for, which was of this epoch.
    Reread(OrderNo, u8),
    /// Makes Redis of this epoch agree with what was read again.
    SettleReread(OrderNo, Item, u8),
    /// Stores a refusal.
    OrderRefuse(Why),
}

impl Persisting {
    /// An intent that was received now.
    #[must_use]
    pub fn of(sale: &Sale, intent: Intent) -> Self {
        let next = if sale.is_too_late(intent.left) {
            Persist::OrderRefuse(Why::HoldExpired)
        } else {
            Persist::OrderPersist
        };
        Self { intent, next, aged: false }
    }

    /// One call. The message is deleted when nothing is left to be done.
    pub fn step(self, sale: &Sale, world: &mut World) {
        let order = self.intent.order;
        let next = match self.next {
            Persist::OrderPersist => self.order_persist(sale, world),
            Persist::OrderFetch => match world.tables.order_fetch(order) {
                Some(present) => Some(self.follow(present)),
                None => Some(Persist::OrderPersist),
            },
            Persist::OwnerFetch(owner) => match world.tables.order_fetch(owner) {
                Some(item) => Some(Persist::Settle(owner, item)),
                None => Some(Persist::OrderRefuse(self.why_taken(sale))),
            },
            Persist::Settle(of, item) => self.settle(sale, world, of, item),
            Persist::Reread(of, epoch) => {
                let item = world.tables.order_fetch(of);
                item.map(|item| Persist::SettleReread(of, item, epoch))
            }
            Persist::SettleReread(of, item, epoch) => {
                world.settle(sale, &Settle { epoch, order: of, item, reread: true });
                self.settled(sale, of)
            }
            Persist::OrderRefuse(why) => Some(self.order_refuse(sale, world, why)),
        };
        if let Some(next) = next {
            world.persisting.put(Self { next, ..self });
        }
    }

    fn order_persist(self, sale: &Sale, world: &mut World) -> Option<Persist> {
        let Intent { order, epoch, units, left, .. } = self.intent;
        let state = OrderState::Pending;
        let item = Item { state, why: None, version: 1, epoch, units };
        let reasons = world.tables.order_persist(sale, order, item);
        if reasons.is_empty() {
            world.pay_left[order.at()] = Sale::PAY;
            world.seen.persisted(left);
            world.written(order);
            return Some(Persist::Settle(order, item));
        }
        match Verdict::of(&reasons) {
            Verdict::ReceiptPresent => {
                world.tables.order_fetch(order).map(|present| self.follow(present))
            }
            Verdict::WorkRefused => {
                let failed = units.iter().zip(reasons.iter().skip(1));
                let mut failed = failed.filter(|(_, why)| **why == Reason::ConditionFailed);
                let owner =
                    failed.next().and_then(|(unit, _)| world.tables.units[usize::from(unit)]);
                Some(owner.map_or(Persist::OrderRefuse(self.why_taken(sale)), Persist::OwnerFetch))
            }
            // It is buried, and that is all.
            Verdict::Invalid => {
                world.queue.put(self.intent.given_up());
                None
            }
            // It is tried again.
            Verdict::Undecided => Some(Persist::OrderPersist),
        }
    }

    fn follow(self, present: Item) -> Persist {
        Persist::Settle(self.intent.order, present)
    }

    fn why_taken(self, sale: &Sale) -> Why {
        match sale.wish(self.intent.order) {
            Wish::Seats(_) => Why::SeatTaken,
            Wish::Places(_) => Why::Recovery,
        }
    }

    /// The epoch is read right before.
    fn settle(self, sale: &Sale, world: &mut World, of: OrderNo, item: Item) -> Option<Persist> {
        let epoch = world.tables.epoch;
        let settled = world.settle(sale, &Settle { epoch, order: of, item, reread: false });
        if settled == Settled::Reread {
            return Some(Persist::Reread(of, epoch));
        }
        self.settled(sale, of)
    }

    fn settled(self, sale: &Sale, of: OrderNo) -> Option<Persist> {
        (of != self.intent.order).then(|| Persist::OrderRefuse(self.why_taken(sale)))
    }

    fn order_refuse(self, sale: &Sale, world: &mut World, why: Why) -> Persist {
        let Intent { order, epoch, .. } = self.intent;
        let refusal = Item::refusal(why, epoch);
        self.follow(world.order_refuse(sale, order, refusal).unwrap_or(refusal))
    }

    /// It meets a fault at its next call.
    pub(crate) fn fail(self, sale: &Sale, world: &mut World, fault: Fault) {
        // A commit stands, and the stream settles; a hold that is over soon is left to lapse.
        let is_done = matches!(self.next, Persist::Settle(of, item) if of == self.intent.order
            && (item.is_live() || sale.is_too_late(self.intent.left)));
        if matches!(fault, Fault::OrderPersistUnheard(_)) {
            self.order_persist(sale, world);
            world.persisting.put(Self { next: Persist::OrderFetch, ..self });
        } else if sale.keeps(Rule::AcknowledgesLast)
            && !(matches!(fault, Fault::SettleFails(_)) && is_done)
        {
            world.queue.put(self.intent);
        }
    }
}
