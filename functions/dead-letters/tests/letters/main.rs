//! Seeing to dead letters through the handler, on a real Redis and a DynamoDB
//! engine: each kind of letter, and each once more. Names with a letter and a number
//! are those of the cases that broke other systems.

#![cfg(test)]

mod damaged;
mod desk;
mod dying;
mod ending;
mod failing;
mod keeping;
mod poison;
