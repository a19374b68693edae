//! Events on sale, on real engines, for the tests of the functions.
//!
//! [`Sale`] is for placing, persisting and settling orders: the event `show`
//! with as many places (type `floor`) and seats (`A-1-0`, `A-1-1`, … of the type
//! `stalls`) as a test wants, open, in epoch 1. Its tables are reached over a
//! [`Wire`](test_support::wire::Wire), which counts and loses what it is told to.
//!
//! [`Hall`] is for the line, the map and whoever watches it: the event `gala`
//! with sections that can be added to, ten places, and connections. What is held
//! there is held by name of the seats.

#![expect(clippy::expect_used, clippy::panic, reason = "only tests come here")]

mod hall;
mod parts;
mod sale;

pub use hall::{Hall, gala};
pub use parts::{currency, customer, kind, now};
pub use sale::{
    EPOCH, LONG, PATIENT, PRICES, Sale, intent, partitions, places, seat, seats, show, wish,
};
