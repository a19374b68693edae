//! Placing orders through the handler, on a real Redis and a DynamoDB engine, with
//! a queue that is faked at the wire. Names with a letter and a number are those
//! of the cases that broke other systems.

#![cfg(test)]

mod admission;
mod buying;
mod faults;
mod input;
mod overdue;
mod refusing;
mod remedies;
mod repeating;
mod shop;
