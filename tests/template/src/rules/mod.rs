//! The rules. Each gives the faults it finds; none means that it holds.

pub mod access;
pub mod edge;
pub mod inventory;
pub mod metrics;
pub mod network;
pub mod permissions;
pub mod queues;
pub mod routes;
pub mod statements;
pub mod tables;
pub mod variables;
