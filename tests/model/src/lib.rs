//! The way of an order, with everything that can fail on it, small enough that a
//! model checker tries every interleaving.
//!
//! ```text
//! till.rs          reservation         order_fetch ─ reserve ─ send | order_refuse
//! persistence.rs   order-persistence   order_persist | order_refuse, then settle
//! letters.rs       dead-letters        order_refuse ─ settle
//! projector.rs     order-projector     settle ─ reread ─ settle …, or later
//! ending.rs        whoever ends one    order_fetch ─ order_end ─ settle
//! reading.rs       orders              order_fetch ─ record ─ order_refuse
//! recovery.rs      stock::load         epoch_raise ─ build_begin ─ … ─ orders_load
//! tables.rs        DynamoDB, with the conditions of dynamo-store
//! inventory.rs     Redis, with the rules of its scripts
//! ```
//!
//! Steps bear the names of the functions they stand for. Between two calls of a
//! process anything else can happen: other processes go on, time passes (holds
//! lapse), messages come twice and in any order, processes die, Redis loses all or
//! some. How often the latter happens is bounded by a [`Budget`]; everything else
//! isn't. Where the product decides by a pure function, that very function decides
//! here: `receipts::Verdict::of`, `OrderState::standing`, `HoldTime::is_too_late`
//! and `reservation::verdict::verdict_of`.
//!
//! A model can do without a [`Rule`]; then some promise must break, or the rule
//! would be for nothing.

mod action;
mod ending;
mod inventory;
mod letters;
mod persistence;
mod projector;
pub mod properties;
mod reading;
mod recovery;
pub mod rest;
mod rule;
mod sale;
mod seen;
mod tables;
mod till;
mod words;
mod world;

pub use action::{Action, Fault, People, Step};
pub use ending::{EndCall, Ending};
pub use inventory::{Gate, Inventory, Record, RecordState, Reply, Settle, Settled};
pub use letters::{Compensate, Compensating};
pub use persistence::{Persist, Persisting};
pub use projector::{Image, Project, Settling};
pub use reading::{Look, Reading};
pub use recovery::Recovery;
pub use rule::Rule;
pub use sale::{Budget, Sale, Wish};
pub use seen::{Broken, Seen};
pub use tables::{Ended, Tables};
pub use till::{Call, Placing};
pub use words::{Bag, Decision, Intent, Item, ORDERS, OrderNo, Set, UNITS, Why};
pub use world::World;

use stateright::{Model, Property};

impl Model for Sale {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        // What was seen broken stays broken: there is nothing more to find.
        if world.seen.broken.is_none() {
            world.steps(self, actions);
            world.people(self, actions);
            world.faults(self, actions);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.act(self, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
