//! The demo: a crowd buys out a hall, and the account is made.

pub mod account;
pub mod books;
pub mod chance;
pub mod chart;
pub mod fan;
pub mod hall;
pub mod last_reading;
pub mod ledger;
pub mod options;
pub mod persona;
pub mod progress;
pub mod report;
pub mod run;
pub mod shop;
pub mod spectators;
pub mod timings;
