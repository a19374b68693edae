//! The rules. Each gives the faults it finds; none means that it holds.

pub mod metrics;
pub mod permissions;
pub mod queues;
pub mod routes;
pub mod variables;
