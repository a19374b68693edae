//! Settling Redis from the orders' stream and from the retry queue, on a real
//! Redis and a DynamoDB engine. Names with a letter and a number are those of the
//! cases that broke other systems.

#![cfg(test)]

mod desk;
mod nudging;
mod resolving;
mod retrying;
mod settling;
