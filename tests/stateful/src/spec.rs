//! The model, one whole process at a time.

use domain::OrderState;
use model::properties::promises;
use model::{
    Action, Budget, Call, Decision, EndCall, Fault, Gate, Image, Intent, Item, ORDERS, OrderNo,
    People, Persist, Persisting, Project, RecordState, Recovery, Sale, Set, Settling, Step, UNITS,
    World,
};
use stateright::Model;

use crate::command::Redis;

/// What a fan is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Its units are held and its intent is under way.
    Queued(Set),
    /// It is stored so.
    Stored(OrderState, Decision),
    /// Nothing was decided; to be asked again.
    Undecided,
    /// Nothing is known of it.
    Unknown,
    /// The key was used for other content.
    OtherContent,
}

/// What Redis knows of an order. Whether it lapsed or ended makes no difference to
/// anybody, and may not have been noticed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// These units are held.
    Held(Set),
    /// These are owned.
    Live(Set),
    /// It has none any more.
    Over,
}

/// All that both must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The stored orders.
    pub orders: [Option<Item>; ORDERS],
    /// The owners of units.
    pub units: [Option<OrderNo>; UNITS],
    /// What the pointer says.
    pub gate: Gate,
    /// What Redis knows of each order.
    pub known: [Option<Known>; ORDERS],
    /// Intents under way, and whether it is too late for them.
    pub queue: Vec<(OrderNo, u8, Set, bool)>,
    /// Records of the stream.
    pub stream: Vec<Image>,
    /// Orders to be settled again.
    pub retries: Set,
}

/// The model and where it is.
#[derive(Debug)]
pub struct Spec {
    sale: Sale,
    /// Where it is.
    pub world: World,
    /// The epoch as the projector remembers it.
    remembered: Option<u8>,
}

impl Spec {
    /// Before anything happened; anything may, as often as one likes.
    #[must_use]
    pub fn of(sale: &Sale) -> Self {
        let always = u8::MAX;
        let sale = sale.clone().with(Budget {
            repeats: always,
            reads: always,
            ends: always,
            crashes: always,
            duplicates: always,
            dead_letters: always,
            losses: always,
            lost_writes: always,
        });
        Self { world: World::new(&sale), sale, remembered: None }
    }

    fn act(&mut self, action: Action) {
        self.world = self.sale.next_state(&self.world, action).expect("a next world");
    }

    fn step(&mut self, step: Step) {
        self.act(Action::Product(step));
    }

    /// The promises are kept where it is.
    pub fn keeps_its_promises(&self) {
        for promise in promises() {
            assert!((promise.condition)(&self.sale, &self.world), "not so: {}", promise.name);
        }
    }

    /// A fan asks; of places, it gets these if it gets some.
    pub fn place(&mut self, order: OrderNo, pick: Set) -> Answer {
        let queued = self.world.queue.len();
        self.act(Action::People(People::Place(order)));
        while let Some(placing) = self.world.placing.first() {
            if let Call::Send(intent) = placing.next
                && self.world.queue.len() == queued
            {
                self.step(Step::Reservation(placing, pick));
                return Answer::Queued(intent.units);
            }
            self.step(Step::Reservation(placing, pick));
        }
        self.world.tables.order_fetch(order).map_or(Answer::Undecided, stored)
    }

    /// A fan asks what became of an order.
    pub fn read(&mut self, order: OrderNo) -> Answer {
        self.act(Action::People(People::Read(order)));
        while let Some(reading) = self.world.reading.first() {
            self.step(Step::Orders(reading));
        }
        let World { tables, inventory, .. } = &self.world;
        match (tables.order_fetch(order), inventory.record(tables.epoch, order)) {
            (Some(item), _) => stored(item),
            (None, Some(held)) => Answer::Queued(held.units),
            (None, None) if inventory.gate == Gate::Active(tables.epoch) => Answer::Unknown,
            (None, None) => Answer::Undecided,
        }
    }

    /// Whether the content of an order is known anywhere.
    #[must_use]
    pub fn knows(&self, order: OrderNo) -> bool {
        let held = self.world.inventory.record(self.world.tables.epoch, order);
        self.world.tables.order_fetch(order).is_some() || held.is_some()
    }

    /// An intent is delivered.
    pub fn deliver(&mut self, intent: Intent, again: bool, redis: Redis) {
        let before = self.world.queue.len();
        self.step(Step::Receive(intent));
        while let Some(persisting) = self.world.persisting.first() {
            match redis {
                Redis::Up => self.step(Step::Persistence(persisting)),
                Redis::Away => self.persist_without_redis(persisting),
            }
        }
        if again && self.world.queue.len() < before {
            self.world.queue.put(intent);
        }
    }

    fn persist_without_redis(&mut self, persisting: Persisting) {
        match persisting.next {
            Persist::Settle(..) => self.act(Action::Fault(Fault::SettleFails(persisting))),
            Persist::OrderPersist
            | Persist::OrderFetch
            | Persist::OwnerFetch(_)
            | Persist::Reread(..)
            | Persist::SettleReread(..)
            | Persist::OrderRefuse(_) => self.step(Step::Persistence(persisting)),
        }
    }

    /// An intent is given up by its queue, and its letter is seen to.
    pub fn give_up(&mut self, intent: Intent) {
        self.act(Action::Fault(Fault::DeadLetter(intent)));
        self.step(Step::Receive(intent.given_up()));
        while let Some(letter) = self.world.letters.first() {
            self.step(Step::Letters(letter));
        }
    }

    /// Records of one order are delivered; the last one counts.
    pub fn project(&mut self, images: &[Image], again: bool, redis: Redis) {
        let Some(last) = images.iter().max_by_key(|image| image.item.version).copied() else {
            return;
        };
        for image in images {
            self.world.stream.take(image);
        }
        self.world.stream.put(last);
        self.step(Step::Project(last));
        self.settle(redis);
        if again {
            images.iter().for_each(|image| self.world.stream.put(*image));
        }
    }

    /// A retry is delivered.
    pub fn retry(&mut self, order: OrderNo) {
        self.step(Step::Retry(order));
        self.settle(Redis::Up);
    }

    fn settle(&mut self, redis: Redis) {
        let known = *self.remembered.get_or_insert(self.world.tables.epoch);
        self.each_settling(|settling| settling.knowing(known));
        while let Some(settling) = self.world.settling.first() {
            if redis == Redis::Away {
                self.world.settling.take(&settling);
                self.world.retries = self.world.retries.or(Set::one(settling.order.0));
                return;
            }
            if matches!(settling.next, Project::Renew(_)) {
                self.remembered = Some(self.world.tables.epoch);
            }
            self.step(Step::Projector(settling));
        }
    }

    fn each_settling(&mut self, change: impl Fn(Settling) -> Settling) {
        self.world.settling.change(|settling| *settling = change(*settling));
    }

    /// An order is given up.
    pub fn end(&mut self, order: OrderNo, settles: bool) {
        self.act(Action::People(People::End(order)));
        while let Some(ending) = self.world.ending.first() {
            if matches!(ending.next, EndCall::Settle(_)) && !settles {
                self.act(Action::Fault(Fault::EndingDies(ending)));
            } else {
                self.step(Step::Ending(ending));
            }
        }
    }

    /// Its hold lapses, and its intents come too late.
    pub fn lapse(&mut self, order: OrderNo) {
        if let Some(record) = &mut self.world.inventory.records[order.at()]
            && record.state == RecordState::Held
        {
            (record.state, record.units, record.left) = (RecordState::Lapsed, Set::NONE, 0);
        }
        self.world.queue.change(|intent| {
            if intent.order == order {
                intent.left = 0;
            }
        });
    }

    /// Whether an order waits to be paid.
    #[must_use]
    pub fn is_unpaid(&self, order: OrderNo) -> bool {
        let item = self.world.tables.order_fetch(order);
        item.is_some_and(|item| item.state == OrderState::Pending)
    }

    /// It is not paid in time.
    pub fn fall_due(&mut self, order: OrderNo) {
        self.world.pay_left[order.at()] = 0;
    }

    /// The functions start anew.
    pub fn restart(&mut self) {
        self.remembered = None;
    }

    /// Redis is emptied.
    pub fn lose_redis(&mut self) {
        if self.world.inventory.gate != Gate::Missing {
            self.act(Action::Fault(Fault::RedisLost));
        }
    }

    /// Redis forgets an order.
    pub fn forget(&mut self, order: OrderNo) {
        self.act(Action::Fault(Fault::WritesLost(order)));
    }

    /// The inventory is built again. What was only held is forgotten, as in a loss.
    pub fn recover(&mut self, dies: bool) {
        self.lose_redis();
        loop {
            self.step(Step::Recover);
            match self.world.recovery {
                Recovery::Idle => return,
                Recovery::BuildBegun(_) if dies => {
                    return self.act(Action::Fault(Fault::RecoveryDies));
                }
                Recovery::BuildBegun(_)
                | Recovery::EpochRaised(_)
                | Recovery::UnitsListed(..)
                | Recovery::OrdersFetched(..) => {}
            }
        }
    }

    /// All that can be looked at.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let World { tables, inventory, .. } = &self.world;
        let mut known = [None; ORDERS];
        for order in self.sale.orders() {
            let record = inventory.record(tables.epoch, order);
            known[order.at()] = record.map(|record| match record.state {
                RecordState::Held => Known::Held(record.units),
                RecordState::Live => Known::Live(record.units),
                RecordState::Lapsed | RecordState::Ended => Known::Over,
            });
        }
        let queue = self.world.queue.iter();
        let mut queue: Vec<_> = queue
            .map(|intent| (intent.order, intent.epoch, intent.units, intent.left == 0))
            .collect();
        queue.sort_unstable();
        Picture {
            orders: tables.orders,
            units: tables.units,
            gate: inventory.gate,
            known,
            queue,
            stream: self.world.stream.iter().copied().collect(),
            retries: self.world.retries,
        }
    }
}

/// A stored order as it is told.
fn stored(item: Item) -> Answer {
    Answer::Stored(item.state, item.decision())
}
