//! DynamoDB: the orders and the units, with the conditions of `dynamo-store`.

use domain::OrderState;
use receipts::Reason;

use crate::rule::Rule;
use crate::sale::Sale;
use crate::words::{Item, ORDERS, OrderNo, Set, UNITS};

/// The tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tables {
    /// The event's epoch.
    pub epoch: u8,
    /// The orders.
    pub orders: [Option<Item>; ORDERS],
    /// The owner of each unit.
    pub units: [Option<OrderNo>; UNITS],
}

/// What ending an order came to: `dynamo_store::Ended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It ended now; these units were deleted.
    Ended(Item, Set),
    /// It is this by now.
    Lost(Item),
    /// There is no such order.
    Missing,
}

impl Tables {
    /// Of an event in its first epoch.
    #[must_use]
    pub fn new() -> Self {
        Self { epoch: 1, orders: [None; ORDERS], units: [None; UNITS] }
    }

    /// `OrderStore::order_fetch`: consistent.
    #[must_use]
    pub fn order_fetch(&self, order: OrderNo) -> Option<Item> {
        self.orders[order.at()]
    }

    /// `OrderStore::order_persist`: puts the order and its units, or nothing; then
    /// the reasons, by position.
    pub fn order_persist(&mut self, sale: &Sale, order: OrderNo, item: Item) -> Vec<Reason> {
        let guarded = |rule, is_there: bool| match sale.keeps(rule) && is_there {
            true => Reason::ConditionFailed,
            false => Reason::None,
        };
        let mut reasons = vec![guarded(Rule::OrderIsAbsent, self.orders[order.at()].is_some())];
        for unit in item.units.iter() {
            let is_owned = self.units[usize::from(unit)].is_some();
            reasons.push(guarded(Rule::UnitIsAbsent, is_owned));
        }
        if sale.poison.has(order.0) && reasons.iter().all(|reason| *reason == Reason::None) {
            reasons[0] = Reason::Invalid;
        }
        if reasons.iter().all(|reason| *reason == Reason::None) {
            self.orders[order.at()] = Some(item);
            item.units.iter().for_each(|unit| self.units[usize::from(unit)] = Some(order));
            return Vec::new();
        }
        reasons
    }

    /// `OrderStore::order_refuse`: the item that was there; none: stored.
    pub fn order_refuse(&mut self, sale: &Sale, order: OrderNo, refusal: Item) -> Option<Item> {
        match self.orders[order.at()] {
            Some(present) if sale.keeps(Rule::RefusalIsAbsent) => Some(present),
            _ => {
                self.orders[order.at()] = Some(refusal);
                None
            }
        }
    }

    /// `OrderStore::order_end`: ends the order as it was read, and frees its units.
    /// (What finds a unit that is not the order's leaves it out in a second round.)
    pub fn order_end(
        &mut self,
        sale: &Sale,
        order: OrderNo,
        as_read: Item,
        to: OrderState,
    ) -> Ended {
        if !as_read.is_live() {
            return Ended::Lost(as_read);
        }
        match self.orders[order.at()] {
            None => return Ended::Missing,
            Some(present) if sale.keeps(Rule::EndsAsRead) && present != as_read => {
                return Ended::Lost(present);
            }
            Some(_) => {}
        }
        let ended = Item { state: to, version: as_read.version + 1, ..as_read };
        self.orders[order.at()] = Some(ended);
        let mut deleted = Set::NONE;
        for unit in as_read.units.iter() {
            let owner = &mut self.units[usize::from(unit)];
            if !sale.keeps(Rule::DeletesOwnUnits) || *owner == Some(order) {
                *owner = None;
                deleted = deleted.or(Set::one(unit));
            }
        }
        Ended::Ended(ended, deleted)
    }

    /// `OrderStore::units_list`: who owns something.
    #[must_use]
    pub fn units_list(&self) -> Set {
        let owners = self.units.iter().flatten();
        owners.fold(Set::NONE, |set, owner| set.or(Set::one(owner.0)))
    }

    /// `OrderStore::orders_fetch`, and only the live ones.
    #[must_use]
    pub fn orders_fetch(&self, owners: Set) -> [Option<Item>; ORDERS] {
        let mut orders = self.orders;
        for (number, order) in (0..).zip(&mut orders) {
            *order = order.filter(|item| owners.has(number) && item.is_live());
        }
        orders
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}
