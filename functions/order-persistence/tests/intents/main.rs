//! Persisting intents through the handler, on a real Redis and a DynamoDB engine:
//! each row of the design's table, and each once more. Names with a letter and a
//! number are those of the cases that broke other systems.

#![cfg(test)]

mod batches;
mod contention;
mod desk;
mod epochs;
mod inventing;
mod losing;
mod persisting;
mod present;
