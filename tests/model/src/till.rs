//! The function `reservation`: `Till::find_or_place`, call by call.

use redis_store::{Hold, Reservation};
use reservation::verdict::{Remedy, Verdict, verdict_of};

use jiff::Timestamp;

use crate::ending::Ending;
use crate::inventory::Reply;
use crate::rule::Rule;
use crate::sale::Sale;
use crate::words::{Decision, Intent, Item, OrderNo, Set, Why};
use crate::world::World;

/// A request under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placing {
    /// Its order.
    pub order: OrderNo,
    /// The next call.
    pub next: Call,
    /// The event's epoch as it is known here.
    epoch: u8,
    /// Orders to be ended before the inventory is asked again.
    overdue: Set,
    /// Whether the epoch may be read again, and overdue orders ended.
    patience: (bool, bool),
    /// The order was decided before the request began.
    was_decided: bool,
}

/// The calls of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// Looks for a stored order.
    OrderFetch,
    /// Asks the inventory.
    Reserve,
    /// Reads the event's epoch again.
    EventRenewed,
    /// Ends orders that were not paid in time.
    EndOverdue(Ending),
    /// Sends the intent.
    Send(Intent),
    /// Stores a refusal.
    OrderRefuse(Why),
}

impl Placing {
    /// A request that begins.
    #[must_use]
    pub fn of(order: OrderNo, world: &World) -> Self {
        Self {
            order,
            next: Call::OrderFetch,
            epoch: world.tables.epoch,
            overdue: Set::NONE,
            patience: (true, true),
            was_decided: world.tables.order_fetch(order).is_some(),
        }
    }

    /// One call. `pick` says which places it gets, where it gets some.
    pub fn step(self, sale: &Sale, world: &mut World, pick: Set) {
        let next = match self.next {
            Call::OrderFetch => self.order_fetch(sale, world),
            Call::Reserve => self.reserve(sale, world, pick),
            Call::EventRenewed => {
                Some(Self { epoch: world.tables.epoch, next: Call::Reserve, ..self })
            }
            Call::EndOverdue(ending) => Some(self.end_overdue(ending.step(sale, world))),
            Call::Send(intent) => {
                world.queue.put(intent);
                let is_whole = world.redis_lost_nothing(sale);
                world.seen.queued(self.order, intent.units, self.was_decided, is_whole);
                None
            }
            Call::OrderRefuse(why) => {
                self.order_refuse(sale, world, why);
                None
            }
        };
        if let Some(next) = next {
            world.placing.put(next);
        }
    }

    fn order_fetch(self, sale: &Sale, world: &mut World) -> Option<Self> {
        match world.tables.order_fetch(self.order) {
            Some(item) if sale.keeps(Rule::LooksForTheReceipt) => {
                world.seen.told(self.order, item.decision());
                None
            }
            _ => Some(Self { next: Call::Reserve, ..self }),
        }
    }

    fn reserve(self, sale: &Sale, world: &mut World, pick: Set) -> Option<Self> {
        let (epoch, order) = (self.epoch, self.order);
        let reply = world.inventory.reserve(sale, epoch, order, pick, &world.pay_left);
        let lines = Sale::lines()?;
        match verdict_of(script_reply(reply), lines) {
            // One that was held before is looked for once more, so as to send less. Here
            // it is sent always, which has to do no harm.
            Ok(Verdict::Held(_) | Verdict::Replayed(_)) => {
                let Reply::Held(units, left) = reply else { return None };
                let intent = Intent { order, epoch, units, left, dead: false };
                Some(Self { next: Call::Send(intent), ..self })
            }
            Ok(Verdict::Refused(rejection)) => {
                Some(Self { next: Call::OrderRefuse(Why::from(&rejection)), ..self })
            }
            Ok(Verdict::Over) => Some(Self { next: Call::OrderRefuse(Why::HoldExpired), ..self }),
            Err(Remedy::Epoch) if self.patience.0 => {
                let patience = (false, self.patience.1);
                Some(Self { next: Call::EventRenewed, patience, ..self })
            }
            Err(Remedy::Overdue(_)) if self.patience.1 => {
                let Reply::Overdue(overdue) = reply else { return None };
                let patience = (self.patience.0, false);
                Some(Self { overdue, patience, ..self }.end_overdue(None))
            }
            // The fan is told to come again.
            Ok(Verdict::Undecided(_)) | Err(_) => None,
        }
    }

    /// Goes on with ending an order, or with the next one, or asks again.
    fn end_overdue(self, under_way: Option<Ending>) -> Self {
        if let Some(ending) = under_way {
            return Self { next: Call::EndOverdue(ending), ..self };
        }
        let Some(first) = self.overdue.iter().next() else {
            return Self { next: Call::Reserve, ..self };
        };
        let ending = Ending::of(OrderNo(first), self.epoch, true);
        let overdue = self.overdue.less(Set::one(first));
        Self { overdue, next: Call::EndOverdue(ending), ..self }
    }

    fn order_refuse(self, sale: &Sale, world: &mut World, why: Why) {
        let present = world.order_refuse(sale, self.order, Item::refusal(why, self.epoch));
        let decision = present.map_or(Decision::Refused(why), |item| item.decision());
        world.seen.told(self.order, decision);
    }
}

/// The reply as the product's own code reads it. What it passes on unread (units,
/// orders) is left out.
fn script_reply(reply: Reply) -> Reservation {
    let hold = Hold { lines: Vec::new(), expires_at: Timestamp::UNIX_EPOCH };
    match reply {
        Reply::Held(..) => Reservation::Held(hold),
        Reply::Lapsed => Reservation::Lapsed,
        Reply::Ended => Reservation::Ended,
        Reply::Unavailable => Reservation::Unavailable,
        Reply::StaleEpoch => Reservation::StaleEpoch { active: domain::Epoch(0) },
        Reply::Overdue(_) => Reservation::Overdue(Vec::new()),
        Reply::SoldOut => Reservation::SoldOut { line: 0 },
        Reply::SeatTaken => Reservation::SeatTaken { line: 0, seats: Vec::new() },
    }
}
