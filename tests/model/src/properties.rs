//! The promises, as something that holds at every instant.

use domain::OrderState;
use stateright::Property;

use crate::inventory::{Gate, RecordState};
use crate::sale::Sale;
use crate::seen::Broken;
use crate::words::{Item, OrderNo, Set, Why};
use crate::world::World;

/// P1.
pub const ONE_OWNER: &str = "a unit has one owner";
/// P1, in Redis.
pub const ONE_HOLDER: &str = "Redis gives a unit to one order at a time";
/// P2.
pub const ONE_DECISION: &str = "an intent has one decision, and every repeat gets it";
/// P4.
pub const READABLE: &str = "at rest, every accepted order is in a state its fan can read";
/// P5.
pub const RELEASED_ONCE: &str = "a unit is released once, by its owner";
/// Of the design's section 5.
pub const IN_TIME: &str = "a hold persists before it lapses, or never";
/// What every fault run must leave behind: nothing.
pub const NOTHING_LEFT: &str = "at rest, nothing is left without an owner and a deadline";
/// Redis decides faster, but the same.
pub const AGREEMENT: &str = "at rest, Redis agrees with DynamoDB";

/// An example: an order is persisted.
pub const PERSISTED: &str = "an order is persisted";
/// An example: it was not paid in time, and another wanted its unit.
pub const EXPIRED: &str = "an order expires";
/// An example: an intent came too late.
pub const TOO_LATE: &str = "a hold expires before its order is persisted";
/// An example: Redis gave a unit away twice, and DynamoDB did not.
pub const LOST_ITS_UNIT: &str = "an accepted order loses its unit to another";
/// An example: a dead letter is seen to.
pub const GIVEN_UP: &str = "an order ends because its intent was given up";
/// An example: the inventory is recovered.
pub const BUILT_AGAIN: &str = "a lost inventory sells again";

/// The promises, and examples that show that the model gets anywhere.
pub(crate) fn all() -> Vec<Property<Sale>> {
    let mut all = promises();
    all.extend(examples());
    all
}

/// The promises.
#[must_use]
pub fn promises() -> Vec<Property<Sale>> {
    vec![
        Property::always(ONE_OWNER, one_owner),
        Property::always(ONE_HOLDER, one_holder),
        Property::always(ONE_DECISION, |_, world: &World| {
            let is_twice = matches!(
                world.seen.broken,
                Some(Broken::DecidedTwice | Broken::QueuedAfterDecision | Broken::QueuedOtherUnits)
            );
            !is_twice && is_as_told(world)
        }),
        Property::always(READABLE, |sale, world: &World| {
            !world.is_at_rest() || sale.orders().all(|order| is_readable(world, order))
        }),
        Property::always(RELEASED_ONCE, |_, world: &World| {
            world.seen.broken != Some(Broken::ReleasedTwice)
        }),
        Property::always(IN_TIME, |_, world: &World| {
            world.seen.broken != Some(Broken::PersistedTooLate)
        }),
        Property::always(NOTHING_LEFT, |sale, world: &World| {
            !world.is_at_rest() || nothing_is_left(sale, world)
        }),
        Property::always(AGREEMENT, |sale, world: &World| {
            !world.is_at_rest() || sale.orders().all(|order| agrees(sale, world, order))
        }),
    ]
}

fn examples() -> Vec<Property<Sale>> {
    vec![
        Property::sometimes(PERSISTED, |_, world: &World| {
            world.is_at_rest() && some(world, |item| item.state == OrderState::Pending)
        }),
        Property::sometimes(EXPIRED, |_, world: &World| {
            world.is_at_rest() && some(world, |item| item.state == OrderState::Expired)
        }),
        Property::sometimes(TOO_LATE, |_, world: &World| {
            world.is_at_rest() && some(world, |item| item.why == Some(Why::HoldExpired))
        }),
        Property::sometimes(GIVEN_UP, |_, world: &World| {
            world.is_at_rest() && some(world, |item| item.why == Some(Why::Unprocessable))
        }),
        Property::sometimes(LOST_ITS_UNIT, |_, world: &World| {
            let had = |(queued, item): (&Option<Set>, &Option<Item>)| {
                let why = item.and_then(|item| item.why);
                queued.is_some() && matches!(why, Some(Why::SeatTaken | Why::Recovery))
            };
            world.is_at_rest() && world.seen.queued.iter().zip(&world.tables.orders).any(had)
        }),
        Property::sometimes(BUILT_AGAIN, |_, world: &World| {
            world.is_at_rest() && world.tables.epoch > 1
        }),
    ]
}

fn some(world: &World, is_such: impl Fn(Item) -> bool) -> bool {
    world.tables.orders.iter().flatten().any(|item| is_such(*item))
}

/// The units' items and the orders' items say the same, so no two live orders have
/// a unit in common.
fn one_owner(sale: &Sale, world: &World) -> bool {
    sale.all().iter().all(|unit| {
        let owners = sale.orders().filter(|order| {
            let item = world.tables.order_fetch(*order);
            item.is_some_and(|item| item.is_live() && item.units.has(unit))
        });
        let mut owners = owners;
        (owners.next(), owners.next()) == (world.tables.units[usize::from(unit)], None)
    })
}

fn one_holder(_: &Sale, world: &World) -> bool {
    let records = world.inventory.records.iter().flatten();
    let all = records.clone().fold(Set::NONE, |all, record| all.or(record.units));
    records.map(|record| record.units.len()).sum::<u32>() == all.len()
}

/// What was told is what is stored.
fn is_as_told(world: &World) -> bool {
    let told = world.seen.told.iter().zip(&world.tables.orders);
    let mut told = told.filter_map(|(told, item)| told.map(|told| (told, item)));
    told.all(|(told, item)| item.is_some_and(|item| item.decision() == told))
}

fn is_readable(world: &World, order: OrderNo) -> bool {
    world.seen.queued[order.at()].is_none() || world.tables.order_fetch(order).is_some()
}

/// A hold that lapsed stays as a mark of its order, and has no units.
fn nothing_is_left(sale: &Sale, world: &World) -> bool {
    let owned = sale.all().iter().filter_map(|unit| world.tables.units[usize::from(unit)]);
    let mut owners = owned.map(|owner| world.tables.order_fetch(owner));
    let records = &mut world.inventory.records.iter().flatten();
    owners.all(|owner| owner.is_some_and(|item| item.is_live()))
        && records.all(|record| record.state == RecordState::Live || record.units.is_empty())
}

/// Lost writes that nobody noticed cost rejections until somebody does: then Redis
/// need not agree.
fn agrees(sale: &Sale, world: &World, order: OrderNo) -> bool {
    let stored = world.tables.order_fetch(order).filter(Item::is_live);
    let known = world.inventory.records[order.at()];
    let known = known.filter(|record| record.state == RecordState::Live);
    if sale.budget.lost_writes > world.budget.lost_writes {
        return true;
    }
    world.inventory.gate == Gate::Active(world.tables.epoch)
        && stored.map(|item| item.units) == known.map(|record| record.units)
}
