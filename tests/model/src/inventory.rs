//! Redis: the inventory of one event, a function for each script of
//! `redis-store/src/inventory`.
//!
//! Not modelled: sessions, windows, limits, marks, and lapses that are noticed
//! late (a script gives back what lapsed before it looks).

use crate::rule::Rule;
use crate::sale::{Sale, Wish};
use crate::words::{Item, ORDERS, OrderNo, Set};

/// What the pointer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Nothing: the inventory is lost.
    Missing,
    /// An epoch is being built.
    Building(u8),
    /// An epoch sells.
    Active(u8),
}

/// The state of an order's record: `redis_store::RecordState`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordState {
    /// Held, not persisted.
    Held,
    /// Persisted.
    Live,
    /// Its hold lapsed.
    Lapsed,
    /// Ended.
    Ended,
}

/// What Redis knows of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Record {
    /// Its state.
    pub state: RecordState,
    /// Its units.
    pub units: Set,
    /// Of a hold: how much of it is left, in ticks.
    pub left: u8,
    /// The last version applied.
    pub version: u8,
}

/// The inventory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Inventory {
    /// The pointer.
    pub gate: Gate,
    /// A record for each order.
    pub records: [Option<Record>; ORDERS],
}

/// The replies of `reserve.lua` that this model can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Held, now or before: the units, and how much of the hold is left.
    Held(Set, u8),
    /// The hold has lapsed.
    Lapsed,
    /// The order has ended.
    Ended,
    /// There is no inventory, or one is being built.
    Unavailable,
    /// Another epoch sells.
    StaleEpoch,
    /// Short, but these orders are overdue.
    Overdue(Set),
    /// Not enough places.
    SoldOut,
    /// Others have seats.
    SeatTaken,
}

/// What settling did: `redis_store::Settled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Redis agrees now.
    Applied,
    /// It knew that, or better.
    Ignored,
    /// A unit is another's who is live here.
    Conflict(OrderNo),
    /// A live order of this epoch is unknown here.
    Lost,
    /// Of an older epoch: to be read again.
    Reread,
    /// Another epoch sells.
    StaleEpoch,
    /// There is no inventory, or one is being built.
    Unavailable,
}

/// What an order is to be settled with: `redis_store::Settle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settle {
    /// The epoch that the caller saw.
    pub epoch: u8,
    /// The order.
    pub order: OrderNo,
    /// Its item.
    pub item: Item,
    /// Whether that was read after the epoch was seen.
    pub reread: bool,
}

impl Inventory {
    /// One that sells in the first epoch.
    #[must_use]
    pub fn new() -> Self {
        Self { gate: Gate::Active(1), records: [None; ORDERS] }
    }

    fn refused<T>(&self, epoch: u8, unavailable: T, stale: T) -> Option<T> {
        match self.gate {
            Gate::Missing | Gate::Building(_) => Some(unavailable),
            Gate::Active(active) => (active != epoch).then_some(stale),
        }
    }

    fn holders(&self, units: Set) -> impl Iterator<Item = (u8, Record)> {
        let records = (0..).zip(self.records);
        records
            .filter_map(|(number, record)| record.map(|record| (number, record)))
            .filter(move |(_, record)| !record.units.and(units).is_empty())
    }

    /// What nobody has.
    #[must_use]
    pub fn free(&self, sale: &Sale) -> Set {
        let taken = self.records.iter().flatten();
        taken.fold(sale.all(), |free, record| free.less(record.units))
    }

    /// `reserve.lua`. Of places, `pick` says which of the free ones it is (the
    /// script takes fresh ones first, then any that came back). `pay_left` says how
    /// long each persisted order has still to be paid.
    pub fn reserve(
        &mut self,
        sale: &Sale,
        epoch: u8,
        order: OrderNo,
        pick: Set,
        pay_left: &[u8; ORDERS],
    ) -> Reply {
        if let Some(reply) = self.refused(epoch, Reply::Unavailable, Reply::StaleEpoch) {
            return reply;
        }
        match self.records[order.at()].map(|record| (record.state, record)) {
            Some((RecordState::Held, record)) => return Reply::Held(record.units, record.left),
            Some((RecordState::Live, record)) => {
                return Reply::Held(record.units, pay_left[order.at()]);
            }
            Some((RecordState::Lapsed, _)) if sale.keeps(Rule::LapsesForGood) => {
                return Reply::Lapsed;
            }
            Some((RecordState::Ended, _)) => return Reply::Ended,
            Some((RecordState::Lapsed, _)) | None => {}
        }
        let free = self.free(sale);
        let (contested, units, refusal) = match sale.wish(order) {
            Wish::Seats(seats) => (seats, seats, Reply::SeatTaken),
            Wish::Places(_) => (sale.all(), pick, Reply::SoldOut),
        };
        let is_short = match sale.wish(order) {
            Wish::Seats(seats) => !seats.less(free).is_empty(),
            Wish::Places(count) => free.len() < u32::from(count),
        };
        if is_short {
            let late = self.holders(contested).filter(|(number, record)| {
                record.state == RecordState::Live && pay_left[usize::from(*number)] == 0
            });
            let late = late.fold(Set::NONE, |late, (number, _)| late.or(Set::one(number)));
            return if late.is_empty() { refusal } else { Reply::Overdue(late) };
        }
        let left = Sale::HOLD;
        self.records[order.at()] =
            Some(Record { state: RecordState::Held, units, left, version: 0 });
        Reply::Held(units, left)
    }

    /// Why a live item can't be applied: `doubt` and `conflict`.
    fn objection(&self, sale: &Sale, wish: &Settle) -> Option<Settled> {
        let record = self.records[wish.order.at()];
        let is_of_epoch = wish.item.epoch >= wish.epoch;
        if is_of_epoch && record.is_none() {
            return Some(Settled::Lost);
        }
        let is_known = record.is_some_and(|record| {
            record.version > 0 || is_of_epoch && record.state == RecordState::Held
        });
        if !is_known && !wish.reread && sale.keeps(Rule::RereadsWhenInDoubt) {
            return Some(Settled::Reread);
        }
        let mut rivals = self.holders(wish.item.units).filter(|(number, record)| {
            *number != wish.order.0 && record.state == RecordState::Live
        });
        let rival = rivals.next().filter(|_| sale.keeps(Rule::SparesLiveOrders));
        rival.map(|(number, _)| Settled::Conflict(OrderNo(number)))
    }

    /// Takes these units from whoever has them.
    fn take(&mut self, units: Set, except: OrderNo) {
        for (number, record) in (0..).zip(&mut self.records) {
            let Some(record) = record.as_mut().filter(|_| number != except.0) else { continue };
            if record.units.and(units).is_empty() {
                continue;
            }
            if record.state == RecordState::Held {
                let state = RecordState::Lapsed;
                *record = Record { state, units: Set::NONE, left: 0, ..*record };
            } else {
                record.units = record.units.less(units);
            }
        }
    }

    /// `settle.lua`.
    pub fn settle(&mut self, sale: &Sale, wish: &Settle) -> Settled {
        if let Some(reply) = self.refused(wish.epoch, Settled::Unavailable, Settled::StaleEpoch) {
            return reply;
        }
        let Settle { order, item, .. } = *wish;
        let known = self.records[order.at()];
        if known.is_some_and(|known| item.version <= known.version)
            && sale.keeps(Rule::SettlesNewerVersions)
        {
            return Settled::Ignored;
        }
        let (state, units) = if item.is_live() {
            if let Some(objection) = self.objection(sale, wish) {
                return objection;
            }
            self.take(item.units, order);
            (RecordState::Live, item.units)
        } else {
            if !sale.keeps(Rule::FreesOwnUnits) {
                self.take(item.units, order);
            }
            (RecordState::Ended, Set::NONE)
        };
        self.records[order.at()] = Some(Record { state, units, left: 0, version: item.version });
        Settled::Applied
    }

    /// `release.lua`: whether another epoch is the active one.
    pub fn release(&mut self, epoch: u8, order: OrderNo) -> bool {
        let record = self.records[order.at()].as_mut();
        if self.gate == Gate::Active(epoch)
            && let Some(record) = record.filter(|record| record.state == RecordState::Held)
        {
            *record = Record { state: RecordState::Ended, units: Set::NONE, left: 0, ..*record };
        }
        matches!(self.gate, Gate::Active(active) if active != epoch)
    }

    /// `record.lua`.
    #[must_use]
    pub fn record(&self, epoch: u8, order: OrderNo) -> Option<Record> {
        self.records[order.at()].filter(|_| self.gate == Gate::Active(epoch))
    }

    /// `build_begin.lua`: whether this epoch is being built now.
    pub fn build_begin(&mut self, epoch: u8) -> bool {
        match self.gate {
            Gate::Building(other) if other > epoch => return false,
            Gate::Active(other) if other >= epoch => return false,
            Gate::Building(_) | Gate::Active(_) | Gate::Missing => {}
        }
        *self = Self { gate: Gate::Building(epoch), records: [None; ORDERS] };
        true
    }

    /// `orders_load.lua`, and `activate.lua` if all were loaded.
    pub fn orders_load(&mut self, epoch: u8, orders: &[Option<Item>; ORDERS]) {
        if self.gate != Gate::Building(epoch) {
            return;
        }
        let mut is_whole = true;
        for (record, item) in self.records.iter_mut().zip(orders) {
            *record = item.map(|item| Record {
                state: RecordState::Live,
                units: item.units,
                left: 0,
                version: item.version,
            });
        }
        for (at, item) in orders.iter().enumerate() {
            let others = orders.iter().enumerate().filter(|(other, _)| *other != at);
            let mut others = others.filter_map(|(_, other)| *other);
            let Some(item) = item else { continue };
            is_whole &= others.all(|other| other.units.and(item.units).is_empty());
        }
        if is_whole {
            self.gate = Gate::Active(epoch);
        }
    }

    /// A tick: holds come nearer to their end, and lapse.
    pub fn tick(&mut self) {
        for record in self.records.iter_mut().flatten() {
            if record.state == RecordState::Held {
                record.left -= 1;
                if record.left == 0 {
                    (record.state, record.units) = (RecordState::Lapsed, Set::NONE);
                }
            }
        }
    }
}

impl Default for Inventory {
    fn default() -> Self {
        Self::new()
    }
}
