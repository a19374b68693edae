//! Ending an order: `Expiry::end_one` for one that was not paid in time, and the
//! same for one that is given up.

use domain::OrderState;

use crate::inventory::Settle;
use crate::sale::Sale;
use crate::tables::Ended;
use crate::words::{Item, OrderNo};
use crate::world::World;

/// Somebody who ends an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ending {
    /// The order.
    pub order: OrderNo,
    /// The event's epoch, seen before the order was read.
    pub epoch: u8,
    /// Whether it is ended only if it was not paid in time.
    pub if_overdue: bool,
    /// The next call.
    pub next: EndCall,
}

/// The calls of ending an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndCall {
    /// Reads it.
    OrderFetch,
    /// Ends it as it was read.
    OrderEnd(Item),
    /// Makes Redis agree.
    Settle(Item),
}

impl Ending {
    /// Beginning with an event as it was read.
    #[must_use]
    pub fn of(order: OrderNo, epoch: u8, if_overdue: bool) -> Self {
        Self { order, epoch, if_overdue, next: EndCall::OrderFetch }
    }

    /// One call; then what is still to be done.
    #[must_use]
    pub fn step(self, sale: &Sale, world: &mut World) -> Option<Self> {
        match self.next {
            EndCall::OrderFetch => self.order_fetch(world),
            EndCall::OrderEnd(item) => self.order_end(sale, world, item),
            EndCall::Settle(item) => {
                let Self { order, epoch, .. } = self;
                world.settle(sale, &Settle { epoch, order, item, reread: true });
                None
            }
        }
    }

    fn order_fetch(self, world: &World) -> Option<Self> {
        let item = world.tables.order_fetch(self.order)?;
        let is_overdue = item.state == OrderState::Pending && world.pay_left[self.order.at()] == 0;
        let ends = if self.if_overdue { is_overdue } else { item.is_live() };
        let next = if ends { EndCall::OrderEnd(item) } else { EndCall::Settle(item) };
        Some(Self { next, ..self })
    }

    fn order_end(self, sale: &Sale, world: &mut World, item: Item) -> Option<Self> {
        let to = if self.if_overdue { OrderState::Expired } else { OrderState::Cancelled };
        let now = match world.tables.order_end(sale, self.order, item, to) {
            Ended::Ended(item, deleted) => {
                world.seen.freed(self.order, deleted, item.units);
                world.written(self.order);
                item
            }
            Ended::Lost(item) => item,
            Ended::Missing => return None,
        };
        Some(Self { next: EndCall::Settle(now), ..self })
    }
}
