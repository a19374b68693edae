//! Turns order intents into orders and owned units, one transaction each.
//!
//! - **Trigger:** SQS order-intents, in batches.
//! - **Input:** intents whose units are held in Redis.
//! - **Effects:** one transaction of the order's item and an item for each unit,
//!   all put where absent; then Redis is made to agree (settled). Or a refusal is
//!   stored where the order has no item, and the hold is given back.
//! - **Idempotency key:** the order id. Whatever comes a second time finds the
//!   order's item and goes by what that says.
//! - **When it fails:** the message is reported as failed and comes back after a
//!   backoff, until the hold is about to lapse; then the order is refused
//!   (`hold_expired`). The count of tries ends nothing. A message that is no intent,
//!   or can never be carried out (it names a unit that the event does not have, or
//!   says what a store can't keep), goes to the dead-letter queue at once, with its
//!   reason; `dead-letters` ends its order. A settle that fails is left to the orders
//!   table's stream.
//!
//! Intents of an older epoch than the event's are persisted like any other: no
//! fence against them has been closed yet, and the units' conditions keep two
//! orders from one unit. What such an intent loses to a newer order ends as
//! `rejected`, like every other loser.
//!
//! Way of an intent: [`incoming`] reads a message, [`handler`] works it off,
//! [`aftermath`] does what the transaction's outcome asks for, [`epochs`] tells the
//! inventory's epoch once a batch.

pub mod aftermath;
pub mod backoff;
pub mod config;
pub mod epochs;
pub mod handler;
pub mod incoming;
