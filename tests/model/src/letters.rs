//! The function `dead-letters`: `Compensation::compensate`, call by call.

use crate::inventory::{Settle, Settled};
use crate::sale::Sale;
use crate::words::{Intent, Item, Why};
use crate::world::World;

/// A dead letter that is seen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Compensating {
    /// The intent in it.
    pub intent: Intent,
    /// The event's epoch, read before the order.
    pub epoch: u8,
    /// The next call.
    pub next: Compensate,
}

/// The calls of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compensate {
    /// Ends the order where it has no item.
    OrderRefuse,
    /// Makes Redis agree with the item there is.
    Settle(Item),
}

impl Compensating {
    /// One that begins.
    #[must_use]
    pub fn of(intent: Intent, world: &World) -> Self {
        Self { intent, epoch: world.tables.epoch, next: Compensate::OrderRefuse }
    }

    /// One call. The letter is parked when nothing is left to be done.
    pub fn step(self, sale: &Sale, world: &mut World) {
        let Self { intent: Intent { order, .. }, epoch, .. } = self;
        match self.next {
            Compensate::OrderRefuse => {
                let refusal = Item::refusal(Why::Unprocessable, self.intent.epoch);
                let item = world.order_refuse(sale, order, refusal).unwrap_or(refusal);
                world.letters.put(Self { next: Compensate::Settle(item), ..self });
            }
            Compensate::Settle(item) => {
                let settled = world.settle(sale, &Settle { epoch, order, item, reread: true });
                if settled == Settled::StaleEpoch {
                    world.queue.put(self.intent);
                }
            }
        }
    }
}
