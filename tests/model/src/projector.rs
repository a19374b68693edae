//! The function `order-projector`: a record of the stream or a retry, call by call.

use domain::OrderState;

use crate::inventory::{Settle, Settled};
use crate::sale::Sale;
use crate::words::{Item, OrderNo, Set};
use crate::world::World;

/// A record of the orders table's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Image {
    /// The order.
    pub order: OrderNo,
    /// Its item, as it was written.
    pub item: Item,
}

/// An order on its way to agreement: `Case`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Settling {
    /// The order.
    pub order: OrderNo,
    /// The next call.
    pub next: Project,
    /// Where it came from; none: from the retries.
    pub record: Option<Item>,
    /// The event's epoch as it is known here.
    epoch: u8,
    /// The item was read after that was seen.
    reread: bool,
    /// Orders that contradicted it.
    contradictors: Set,
}

/// The calls of settling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Project {
    /// `settle_stored`: reads the order of a retry.
    OrderFetchByKey,
    /// Makes Redis agree.
    Settle(Item),
    /// `give_back`: of a refusal, Redis can have no more than a hold.
    GiveBack(Item),
    /// `reread`: reads the order again.
    Reread,
    /// `renewed`: reads the event again.
    Renew(Item),
    /// `settle_other`: reads who contradicts.
    OtherFetch(OrderNo),
    /// Makes Redis agree with that one.
    OtherSettle(OrderNo, Item),
}

impl Settling {
    /// A record that is worked off.
    #[must_use]
    pub fn of_record(image: Image, world: &World) -> Self {
        let next = Project::of(image.item);
        Self { record: Some(image.item), ..Self::beginning(image.order, next, world) }
    }

    /// A retry that is worked off.
    #[must_use]
    pub fn of_retry(order: OrderNo, world: &World) -> Self {
        Self::beginning(order, Project::OrderFetchByKey, world)
    }

    /// The same with the event as it is remembered.
    #[must_use]
    pub fn knowing(self, epoch: u8) -> Self {
        Self { epoch, ..self }
    }

    fn beginning(order: OrderNo, next: Project, world: &World) -> Self {
        let epoch = world.tables.epoch;
        Self { order, next, record: None, epoch, reread: false, contradictors: Set::NONE }
    }

    /// One call.
    pub fn step(self, sale: &Sale, world: &mut World) {
        let epoch = self.epoch;
        let next = match self.next {
            Project::OrderFetchByKey => {
                let item = world.tables.order_fetch(self.order);
                item.map(|item| Self { next: Project::of(item), ..self })
            }
            Project::Settle(item) => {
                let wish = Settle { epoch, order: self.order, item, reread: self.reread };
                let settled = world.settle(sale, &wish);
                self.resolve(world, settled, item)
            }
            Project::GiveBack(item) => {
                let is_stale = world.inventory.release(epoch, self.order);
                is_stale.then_some(Self { next: Project::Renew(item), ..self })
            }
            Project::Reread => {
                let item = world.tables.order_fetch(self.order);
                item.map(|item| Self { next: Project::Settle(item), reread: true, ..self })
            }
            Project::Renew(item) => self.renew(world, item),
            Project::OtherFetch(other) => {
                let item = world.tables.order_fetch(other);
                let next = item.map_or(Project::Reread, |item| Project::OtherSettle(other, item));
                Some(Self { next, ..self })
            }
            Project::OtherSettle(order, item) => {
                world.settle(sale, &Settle { epoch, order, item, reread: true });
                Some(Self { next: Project::Reread, ..self })
            }
        };
        if let Some(next) = next {
            world.settling.put(next);
        }
    }

    fn resolve(self, world: &mut World, settled: Settled, item: Item) -> Option<Self> {
        match settled {
            Settled::Applied | Settled::Ignored => None,
            Settled::Unavailable => self.later(world),
            Settled::Lost if self.reread => {
                world.lost_writes = true;
                self.later(world)
            }
            // The record may be older than what made Redis forget the order.
            Settled::Lost | Settled::Reread if !self.reread => {
                Some(Self { next: Project::Reread, ..self })
            }
            Settled::Lost | Settled::Reread => self.later(world),
            Settled::StaleEpoch => Some(Self { next: Project::Renew(item), ..self }),
            Settled::Conflict(other) if self.contradictors.has(other.0) => self.later(world),
            Settled::Conflict(other) => {
                let contradictors = self.contradictors.or(Set::one(other.0));
                Some(Self { next: Project::OtherFetch(other), contradictors, ..self })
            }
        }
    }

    fn renew(self, world: &mut World, item: Item) -> Option<Self> {
        let epoch = world.tables.epoch;
        if epoch == self.epoch {
            return self.later(world);
        }
        Some(Self { next: Project::of(item), epoch, reread: false, ..self })
    }

    /// `Settlement::Later`: a message to settle-retries.
    fn later(self, world: &mut World) -> Option<Self> {
        world.retries = world.retries.or(Set::one(self.order.0));
        None
    }

    /// What becomes of what it works off when the process dies.
    pub fn die(self, world: &mut World) {
        match self.record {
            Some(item) => world.stream.put(Image { order: self.order, item }),
            None => world.retries = world.retries.or(Set::one(self.order.0)),
        }
    }
}

impl Project {
    fn of(item: Item) -> Self {
        if item.state == OrderState::Rejected { Self::GiveBack(item) } else { Self::Settle(item) }
    }
}
