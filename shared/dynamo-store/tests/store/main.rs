//! The stores on real engines: the embedded one, which is verified against AWS,
//! and whichever else `ONSALE_DYNAMO_ENDPOINT` names. `tests/run` has them run
//! again on the local stack's emulator, which passes all of them: where it answers
//! unlike AWS, a test has to say so and keep to the embedded engine. What neither
//! of the two ever answers (conflicts, throttling) is injected, in [`failures`].

#![cfg(test)]

mod cache;
mod catalog;
mod connections;
mod failures;
mod given;
mod operations;
mod order_end;
mod orders;
mod reaching;
mod seat_map;
mod ticker;
