//! What can happen next.

use crate::ending::Ending;
use crate::inventory::{Gate, Inventory};
use crate::letters::Compensating;
use crate::persistence::{Persist, Persisting};
use crate::projector::{Image, Settling};
use crate::reading::Reading;
use crate::recovery::{self, Recovery};
use crate::rule::Rule;
use crate::sale::{Sale, Wish};
use crate::till::{Call, Placing};
use crate::words::{Intent, ORDERS, OrderNo, Set};
use crate::world::World;

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// What people do.
    People(People),
    /// What the product does by itself.
    Product(Step),
    /// What goes wrong.
    Fault(Fault),
}

/// What people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum People {
    /// A fan asks for tickets, or asks again with the same key.
    Place(OrderNo),
    /// A fan asks what became of an order.
    Read(OrderNo),
    /// Somebody ends an order.
    End(OrderNo),
}

/// What the product does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// `reservation` does its next call; the places it gets if it gets some.
    Reservation(Placing, Set),
    /// `orders` does its next call.
    Orders(Reading),
    /// Whoever ends an order does the next call.
    Ending(Ending),
    /// `order-persistence` receives an intent, or `dead-letters` a dead one.
    Receive(Intent),
    /// `order-persistence` does its next call.
    Persistence(Persisting),
    /// `dead-letters` does its next call.
    Letters(Compensating),
    /// `order-projector` receives a record of the stream.
    Project(Image),
    /// `order-projector` receives a retry.
    Retry(OrderNo),
    /// `order-projector` does its next call.
    Projector(Settling),
    /// The recovery does its next call.
    Recover,
    /// Time passes.
    Tick,
}

/// What goes wrong. Whoever dies does so before the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The message comes twice.
    Duplicate(Intent),
    /// The record comes twice.
    DuplicateRecord(Image),
    /// The queue gives the message up.
    DeadLetter(Intent),
    /// `reservation` dies.
    ReservationDies(Placing),
    /// `order-persistence` dies.
    PersistenceDies(Persisting),
    /// `dead-letters` dies.
    LettersDie(Compensating),
    /// `order-projector` dies.
    ProjectorDies(Settling),
    /// Whoever ends an order dies.
    EndingDies(Ending),
    /// The recovery dies.
    RecoveryDies,
    /// The transaction lands, and its reply is lost.
    OrderPersistUnheard(Persisting),
    /// Redis can't be reached for a settle.
    SettleFails(Persisting),
    /// Redis is emptied.
    RedisLost,
    /// Redis loses what it knew of an order.
    WritesLost(OrderNo),
}

impl World {
    /// What people may do.
    pub(crate) fn people(&self, sale: &Sale, actions: &mut Vec<Action>) {
        let mut may = |people| actions.push(Action::People(people));
        for order in sale.orders() {
            if self.unasked.has(order.0) {
                // Of those who want the same, which is first makes no difference.
                let is_like = |other: u8| sale.wish(OrderNo(other)) == sale.wish(order);
                if !self.unasked.iter().any(|other| other < order.0 && is_like(other)) {
                    may(People::Place(order));
                }
                continue;
            }
            if self.budget.repeats > 0 {
                may(People::Place(order));
            }
            if self.budget.reads > 0 {
                may(People::Read(order));
            }
            if self.budget.ends > 0 && self.tables.order_fetch(order).is_some() {
                may(People::End(order));
            }
        }
    }

    /// What the product may do.
    pub(crate) fn steps(&self, sale: &Sale, actions: &mut Vec<Action>) {
        let mut may = |step| actions.push(Action::Product(step));
        for placing in self.placing.distinct() {
            self.picks(sale, placing).for_each(|pick| may(Step::Reservation(*placing, pick)));
        }
        self.reading.distinct().for_each(|one| may(Step::Orders(*one)));
        self.ending.distinct().for_each(|one| may(Step::Ending(*one)));
        self.queue.distinct().filter(|one| !one.dead).for_each(|one| may(Step::Receive(*one)));
        self.letters.distinct().for_each(|one| may(Step::Letters(*one)));
        self.persisting.distinct().for_each(|one| may(Step::Persistence(*one)));
        self.stream.distinct().for_each(|one| may(Step::Project(*one)));
        self.settling.distinct().for_each(|one| may(Step::Projector(*one)));
        if recovery::is_due(self) {
            may(Step::Recover);
        } else {
            // Before that, retries and letters would only come back.
            self.queue.distinct().filter(|one| one.dead).for_each(|one| may(Step::Receive(*one)));
            self.retries.iter().for_each(|order| may(Step::Retry(OrderNo(order))));
        }
        let is_timeout_due = self.persisting.iter().any(|persisting| persisting.aged);
        if self.waits_for_time() && !is_timeout_due {
            may(Step::Tick);
        }
    }

    /// Which places a request's next call may give it; one empty set if none.
    fn picks(&self, sale: &Sale, placing: &Placing) -> impl Iterator<Item = Set> {
        let free = self.inventory.free(sale);
        let (of, count) = match (placing.next, sale.wish(placing.order)) {
            (Call::Reserve, Wish::Places(count)) if free.len() >= u32::from(count) => (free, count),
            _ => (Set::NONE, 0),
        };
        of.subsets(u32::from(count))
    }

    /// What may go wrong.
    pub(crate) fn faults(&self, sale: &Sale, actions: &mut Vec<Action>) {
        let mut may = |fault| actions.push(Action::Fault(fault));
        if self.budget.duplicates > 0 {
            self.queue.distinct().for_each(|one| may(Fault::Duplicate(*one)));
            self.stream.distinct().for_each(|one| may(Fault::DuplicateRecord(*one)));
        }
        if self.budget.dead_letters > 0 {
            let alive = self.queue.distinct().filter(|intent| !intent.dead);
            alive.for_each(|one| may(Fault::DeadLetter(*one)));
        }
        if self.budget.losses > 0 && self.inventory.gate != Gate::Missing {
            may(Fault::RedisLost);
        }
        if self.budget.lost_writes > 0 {
            let known = sale.orders().filter(|order| self.inventory.records[order.at()].is_some());
            known.for_each(|order| may(Fault::WritesLost(order)));
        }
        if self.budget.crashes > 0 {
            self.crashes(may);
        }
    }

    fn crashes(&self, mut may: impl FnMut(Fault)) {
        self.placing.distinct().for_each(|one| may(Fault::ReservationDies(*one)));
        self.ending.distinct().for_each(|one| may(Fault::EndingDies(*one)));
        self.letters.distinct().for_each(|one| may(Fault::LettersDie(*one)));
        self.settling.distinct().for_each(|one| may(Fault::ProjectorDies(*one)));
        if self.recovery != Recovery::Idle {
            may(Fault::RecoveryDies);
        }
        for one in self.persisting.distinct() {
            may(Fault::PersistenceDies(*one));
            if one.next == Persist::OrderPersist {
                may(Fault::OrderPersistUnheard(*one));
            }
            if matches!(one.next, Persist::Settle(..)) {
                may(Fault::SettleFails(*one));
            }
        }
    }

    /// Lets it happen.
    pub(crate) fn act(&mut self, sale: &Sale, action: Action) {
        match action {
            Action::People(people) => self.ask(sale, people),
            Action::Product(step) => self.step(sale, step),
            Action::Fault(fault) => self.fail(sale, fault),
        }
    }

    /// Whoever asks does the first call at once: before it, nothing has begun.
    fn ask(&mut self, sale: &Sale, people: People) {
        match people {
            People::Place(order) => {
                if self.unasked.has(order.0) {
                    self.unasked = self.unasked.less(Set::one(order.0));
                } else {
                    self.budget.repeats -= 1;
                }
                Placing::of(order, self).step(sale, self, Set::NONE);
            }
            People::Read(order) => {
                self.budget.reads -= 1;
                Reading::of(order, self).step(sale, self);
            }
            People::End(order) => {
                self.budget.ends -= 1;
                self.ending.put(Ending::of(order, self.tables.epoch, false));
            }
        }
    }

    fn step(&mut self, sale: &Sale, step: Step) {
        match step {
            Step::Reservation(placing, pick) => {
                self.placing.take(&placing);
                placing.step(sale, self, pick);
            }
            Step::Orders(reading) => {
                self.reading.take(&reading);
                reading.step(sale, self);
            }
            Step::Ending(ending) => {
                self.ending.take(&ending);
                let next = ending.step(sale, self);
                next.into_iter().for_each(|next| self.ending.put(next));
            }
            Step::Receive(intent) => {
                self.queue.take(&intent);
                if intent.dead {
                    self.letters.put(Compensating::of(intent, self));
                } else {
                    self.persisting.put(Persisting::of(sale, intent));
                }
            }
            Step::Persistence(persisting) => {
                self.persisting.take(&persisting);
                persisting.step(sale, self);
            }
            Step::Letters(letter) => {
                self.letters.take(&letter);
                letter.step(sale, self);
            }
            Step::Project(image) => {
                self.stream.take(&image);
                if sale.keeps(Rule::StreamSettles) {
                    self.settling.put(Settling::of_record(image, self));
                }
            }
            Step::Retry(order) => {
                self.retries = self.retries.less(Set::one(order.0));
                self.settling.put(Settling::of_retry(order, self));
            }
            Step::Projector(settling) => {
                self.settling.take(&settling);
                settling.step(sale, self);
            }
            Step::Recover => recovery::step(self),
            Step::Tick => self.tick(),
        }
    }

    fn fail(&mut self, sale: &Sale, fault: Fault) {
        let left = match fault {
            Fault::Duplicate(_) | Fault::DuplicateRecord(_) => &mut self.budget.duplicates,
            Fault::DeadLetter(_) => &mut self.budget.dead_letters,
            Fault::RedisLost => &mut self.budget.losses,
            Fault::WritesLost(_) => &mut self.budget.lost_writes,
            Fault::ReservationDies(_)
            | Fault::PersistenceDies(_)
            | Fault::LettersDie(_)
            | Fault::ProjectorDies(_)
            | Fault::EndingDies(_)
            | Fault::RecoveryDies
            | Fault::OrderPersistUnheard(_)
            | Fault::SettleFails(_) => &mut self.budget.crashes,
        };
        *left -= 1;
        match fault {
            Fault::Duplicate(intent) => self.queue.put(intent),
            Fault::DuplicateRecord(image) => self.stream.put(image),
            Fault::DeadLetter(intent) => {
                self.queue.take(&intent);
                self.queue.put(intent.given_up());
            }
            Fault::RedisLost => {
                self.inventory = Inventory { gate: Gate::Missing, records: [None; ORDERS] };
            }
            Fault::WritesLost(order) => self.inventory.records[order.at()] = None,
            Fault::ReservationDies(placing) => {
                self.placing.take(&placing);
            }
            Fault::EndingDies(ending) => {
                self.ending.take(&ending);
            }
            Fault::LettersDie(letter) => {
                self.letters.take(&letter);
                self.queue.put(letter.intent);
            }
            Fault::RecoveryDies => self.recovery = Recovery::Idle,
            Fault::ProjectorDies(settling) => {
                self.settling.take(&settling);
                settling.die(self);
            }
            Fault::PersistenceDies(persisting)
            | Fault::OrderPersistUnheard(persisting)
            | Fault::SettleFails(persisting) => {
                self.persisting.take(&persisting);
                persisting.fail(sale, self, fault);
            }
        }
    }
}
