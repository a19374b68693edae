//! Broadcasting on real stores, with the gateway and SQS faked at the wire, and
//! with a clock that the test moves.

#![cfg(test)]

mod chain;
mod clocks;
mod healing;
mod orders;
mod stage;
mod telling;
