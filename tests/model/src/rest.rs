//! Whether everything comes to rest: no path of a model leads back to where it was.
//!
//! Then every path ends, whoever is slow and whoever is quick, and what holds at
//! rest is what every order comes to in the end. The checker's own `eventually`
//! can't be had here: it loses sight of paths that meet.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::Model;

use crate::{Action, Sale, World};

/// A world whose successors are being looked at.
struct Visit {
    world: World,
    print: u64,
    actions: Vec<Action>,
}

/// The first world that a path leads back to; none: every path ends.
#[must_use]
pub fn find_circle(sale: &Sale) -> Option<World> {
    let mut is_under_way: HashMap<u64, bool> = HashMap::new();
    let first = visit(sale, World::new(sale));
    is_under_way.insert(first.print, true);
    let mut path = vec![first];
    while let Some(top) = path.last_mut() {
        let Some(action) = top.actions.pop() else {
            is_under_way.insert(top.print, false);
            path.pop();
            continue;
        };
        let Some(next) = sale.next_state(&top.world, action) else { continue };
        let next = visit(sale, next);
        match is_under_way.get(&next.print) {
            Some(true) => return Some(next.world),
            Some(false) => {}
            None => {
                is_under_way.insert(next.print, true);
                path.push(next);
            }
        }
    }
    None
}

fn visit(sale: &Sale, world: World) -> Visit {
    let mut actions = Vec::new();
    sale.actions(&world, &mut actions);
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    Visit { print: hasher.finish(), world, actions }
}
