//! Makes Redis agree with every change of an order, and nudges live updates.
//!
//! - **Triggers:** the orders table's stream; SQS settle-retries. Which of the
//!   two an event is, its records say.
//! - **Input:** the new image of an order; or which order to look at again.
//! - **Effects:** Redis is settled with what DynamoDB says; watchers of the event
//!   are nudged (at most once an event and batch) and the order's owner is told
//!   its new state. What can't be settled now goes to settle-retries.
//! - **Idempotency key:** order and version. Redis ignores a version it knows, so
//!   records may come twice, late and in any order.
//! - **When it fails:** nothing here blocks the stream's shard, unless the retry
//!   queue itself can't be reached: then the batch is given again from the first
//!   record that has no place to go. A retry that does not work out comes back
//!   after a growing backoff. Nudges are sent at most once: whoever watches finds
//!   out by the next one.
//!
//! Way of a record: [`trigger`] tells the two events apart, [`handler`] works off
//! a batch of either, [`settling`] resolves what Redis answers, [`nudges`] says
//! who is told.

pub mod config;
pub mod handler;
pub mod nudges;
pub mod settling;
pub mod trigger;
