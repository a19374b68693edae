//! Sees to the orders whose intents were given up, and keeps the letters.
//!
//! - **Trigger:** SQS order-intents-dead-letters, in batches.
//! - **Input:** messages of order-intents as they came, readable or not: those that
//!   order-persistence buried say why, those that the queue gave up don't. Which order
//!   it is, whose and of which event must be readable; what else is not is taken from
//!   the event, and from the hold.
//! - **Effects:** the order is refused (`unprocessable`) where it has no item; Redis
//!   is made to agree with its item, which gives back the hold; the fan's
//!   connections are told; the letter is kept in order-intents-parked, with what is
//!   known of it. An order that was persisted all the same is left alone.
//! - **Idempotency key:** the order id. A letter that comes again, or is redriven,
//!   finds the order's item and goes by what that says; it is kept once more.
//! - **When it fails:** the letter comes back after a growing backoff, a hundred
//!   times; then the queue itself parks it. Its hold lapses in the meantime, and
//!   whoever reads the order then is told `hold_expired`.
//!
//! Way of a letter: [`letter`] reads it, [`handler`] does what it asks for.

pub mod config;
pub mod handler;
pub mod letter;
