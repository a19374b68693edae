//! The function's requests on a real Redis and a real DynamoDB engine, each as the
//! gateway passes it on.

#![cfg(test)]

mod capacity;
mod events;
mod faults;
mod fixtures;
mod given;
mod sale;
mod seat_map;
mod seats;
mod ticket_types;
mod withdrawals;
