//! The function `orders`: `Reader::order`, call by call.

use crate::inventory::RecordState;
use crate::sale::Sale;
use crate::words::{Item, OrderNo, Why};
use crate::world::World;

/// A fan's look at an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reading {
    /// The order.
    pub order: OrderNo,
    /// The event's epoch as it is known here.
    pub epoch: u8,
    /// The next call.
    pub next: Look,
}

/// The calls of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Look {
    /// Among the stored orders.
    OrderFetch,
    /// In Redis.
    Record,
    /// Its hold is over: that is stored before it is told.
    OrderRefuse,
}

impl Reading {
    /// One that begins.
    #[must_use]
    pub fn of(order: OrderNo, world: &World) -> Self {
        Self { order, epoch: world.tables.epoch, next: Look::OrderFetch }
    }

    /// One call.
    pub fn step(self, sale: &Sale, world: &mut World) {
        let order = self.order;
        match self.next {
            Look::OrderFetch => match world.tables.order_fetch(order) {
                Some(item) => world.seen.told(order, item.decision()),
                None => world.reading.put(Self { next: Look::Record, ..self }),
            },
            Look::Record => {
                let record = world.inventory.record(self.epoch, order);
                let next = match record.map(|record| record.state) {
                    Some(RecordState::Lapsed | RecordState::Ended) => Look::OrderRefuse,
                    Some(RecordState::Live) => Look::OrderFetch,
                    Some(RecordState::Held) | None => return,
                };
                world.reading.put(Self { next, ..self });
            }
            Look::OrderRefuse => {
                let refusal = Item::refusal(Why::HoldExpired, self.epoch);
                let present = world.order_refuse(sale, order, refusal);
                let decision = present.unwrap_or(refusal).decision();
                world.seen.told(order, decision);
            }
        }
    }
}
