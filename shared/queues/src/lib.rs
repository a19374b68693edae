//! Queues.
