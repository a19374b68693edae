//! The stores on real engines: the embedded one, which is verified against AWS,
//! and whichever else `ONSALE_DYNAMO_ENDPOINT` names.

#![cfg(test)]

mod cache;
mod catalog;
mod connections;
mod failures;
mod given;
mod operations;
mod order_end;
mod orders;
mod seat_map;
mod ticker;
