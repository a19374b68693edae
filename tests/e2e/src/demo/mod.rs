//! The demo: a crowd buys out a hall, and the account is made.

pub mod account;
pub mod chance;
pub mod ledger;
pub mod options;
pub mod persona;
pub mod progress;
pub mod timings;
