//! The small values that everything else is made of.

use std::cmp::Ordering;
use std::fmt;

use domain::{OrderState, Rejection, Standing};

/// The most orders of one model.
pub const ORDERS: usize = 4;
/// The most units of one model.
pub const UNITS: usize = 4;

/// An order, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderNo(pub u8);

impl OrderNo {
    /// As an index.
    #[must_use]
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Debug for OrderNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order {}", self.0)
    }
}

/// A set of small numbers: of units, or of orders.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set(u8);

impl Set {
    /// The empty one.
    pub const NONE: Self = Self(0);

    /// The first so many numbers.
    #[must_use]
    pub const fn first(count: u8) -> Self {
        Self((1 << count) - 1)
    }

    /// Of one number.
    #[must_use]
    pub const fn one(number: u8) -> Self {
        Self(1 << number)
    }

    /// Whether it is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the number is in it.
    #[must_use]
    pub const fn has(self, number: u8) -> bool {
        self.0 & (1 << number) != 0
    }

    /// How many are in it.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// What is in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in this and not in the other.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its numbers, the smallest first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..8).filter(move |number| self.has(*number))
    }

    /// All its subsets of so many.
    pub fn subsets(self, count: u32) -> impl Iterator<Item = Self> {
        (0..=self.0).map(Self).filter(move |set| set.less(self).is_empty() && set.len() == count)
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Why an order was refused: [`Rejection`] without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// Not enough left.
    SoldOut,
    /// Another has the seat.
    SeatTaken,
    /// More than one customer can have.
    OverLimit,
    /// The hold ended first.
    HoldExpired,
    /// The place was given away again.
    Recovery,
    /// It can't be carried out.
    Unprocessable,
}

impl From<&Rejection> for Why {
    fn from(rejection: &Rejection) -> Self {
        match rejection {
            Rejection::SoldOut { .. } => Self::SoldOut,
            Rejection::SeatTaken { .. } => Self::SeatTaken,
            Rejection::OverLimit { .. } => Self::OverLimit,
            Rejection::HoldExpired => Self::HoldExpired,
            Rejection::Recovery => Self::Recovery,
            Rejection::Unprocessable => Self::Unprocessable,
        }
    }
}

/// An order's item in DynamoDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Item {
    /// Its state.
    pub state: OrderState,
    /// Why it was refused.
    pub why: Option<Why>,
    /// Its version.
    pub version: u8,
    /// The epoch its units were held in.
    pub epoch: u8,
    /// Its units.
    pub units: Set,
}

impl Item {
    /// A stored refusal.
    #[must_use]
    pub fn refusal(why: Why, epoch: u8) -> Self {
        Self { state: OrderState::Rejected, why: Some(why), version: 1, epoch, units: Set::NONE }
    }

    /// Whether it owns its units.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.state.standing() == Standing::Live
    }

    /// What was decided, whatever became of it later.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.why.map_or(Decision::Accepted(self.units), Decision::Refused)
    }

    fn key(&self) -> (u8, &'static str, Option<Why>, u8, Set) {
        (self.version, self.state.as_str(), self.why, self.epoch, self.units)
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// The one final answer to a purchase intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It has these units.
    Accepted(Set),
    /// It has none, for this reason.
    Refused(Why),
}

/// A message of order-intents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Intent {
    /// The order.
    pub order: OrderNo,
    /// The epoch of its hold.
    pub epoch: u8,
    /// The units held.
    pub units: Set,
    /// How much of the hold is left, in ticks.
    pub left: u8,
    /// It was moved to the dead-letter queue.
    pub dead: bool,
}

impl Intent {
    /// The same in the dead-letter queue, where its time plays no part.
    #[must_use]
    pub fn given_up(self) -> Self {
        Self { dead: true, left: 0, ..self }
    }
}

/// A collection in which only the number of equal things counts.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bag<T>(Vec<T>);

impl<T> Default for Bag<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: fmt::Debug> fmt::Debug for Bag<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

impl<T: Ord + Copy> Bag<T> {
    /// Puts one in.
    pub fn put(&mut self, one: T) {
        let at = self.0.partition_point(|other| *other < one);
        self.0.insert(at, one);
    }

    /// Takes one out; whether it was there.
    pub fn take(&mut self, one: &T) -> bool {
        let at = self.0.iter().position(|other| other == one);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// The least.
    #[must_use]
    pub fn first(&self) -> Option<T> {
        self.0.first().copied()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Each different one once.
    pub fn distinct(&self) -> impl Iterator<Item = &T> {
        self.0
            .iter()
            .enumerate()
            .filter(|(at, one)| *at == 0 || self.0[at - 1] != **one)
            .map(|(_, one)| one)
    }

    /// Changes all.
    pub fn change(&mut self, change: impl FnMut(&mut T)) {
        self.0.iter_mut().for_each(change);
        self.0.sort_unstable();
    }
}
