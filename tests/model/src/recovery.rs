//! Building a lost inventory again from the tables, the way `stock::load` builds
//! one: under an epoch of its own, from what is read after its building began.

use crate::inventory::Gate;
use crate::words::{Item, ORDERS, Set};
use crate::world::World;

/// Where a recovery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// None is at work. (One that died leaves a building behind, and the next
    /// begins with an epoch of its own.)
    Idle,
    /// It has an epoch of its own.
    EpochRaised(u8),
    /// That epoch is being built.
    BuildBegun(u8),
    /// The owners of units are known.
    UnitsListed(u8, Set),
    /// Their orders are known.
    OrdersFetched(u8, [Option<Item>; ORDERS]),
}

/// Whether a recovery goes on, or should begin.
pub(crate) fn is_due(world: &World) -> bool {
    let sells = world.inventory.gate == Gate::Active(world.tables.epoch);
    world.recovery != Recovery::Idle || !sells || world.lost_writes
}

/// One call of the recovery.
pub(crate) fn step(world: &mut World) {
    world.recovery = match world.recovery {
        Recovery::Idle => {
            world.tables.epoch += 1;
            Recovery::EpochRaised(world.tables.epoch)
        }
        Recovery::EpochRaised(epoch) if world.inventory.build_begin(epoch) => {
            Recovery::BuildBegun(epoch)
        }
        Recovery::EpochRaised(_) => Recovery::Idle,
        Recovery::BuildBegun(epoch) => Recovery::UnitsListed(epoch, world.tables.units_list()),
        Recovery::UnitsListed(epoch, owners) => {
            Recovery::OrdersFetched(epoch, world.tables.orders_fetch(owners))
        }
        Recovery::OrdersFetched(epoch, orders) => {
            world.inventory.orders_load(epoch, &orders);
            world.lost_writes = false;
            Recovery::Idle
        }
    };
}
