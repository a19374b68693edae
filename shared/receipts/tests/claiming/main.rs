//! Claims on a real DynamoDB engine, over a wire that loses and replaces what a
//! test tells it to.

#![cfg(test)]

mod deciding;
mod doubting;
mod given;
mod racing;
mod reading;
