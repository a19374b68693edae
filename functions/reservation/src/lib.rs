//! Takes an order: holds its units in Redis and queues its intent.
//!
//! - **Trigger:** `POST /events/{event}/orders`.
//! - **Input:** the fan of the verified token, `Idempotency-Key`, the admission
//!   token in `Onsale-Admission`, and the lines wanted.
//! - **Effects:** units held in Redis (all lines or none), the intent sent to
//!   order-intents; or a final refusal stored with the orders. On the way it
//!   raises durable marks and ends orders that were not paid in time, where
//!   those stand between the fan and a free unit.
//! - **Idempotency key:** the order id, derived from customer, operation, event
//!   and key. A repeat finds the stored order, or the hold, or the refusal.
//! - **When it fails:** before the hold, nothing happened. Between the hold and
//!   the send, the fan is told "outcome unknown, repeat with the same key";
//!   repeating finds the hold and sends again, and without a repeat the hold
//!   lapses. Nothing is sent after the answer.
//!
//! Way of a request: [`handler`] reads it, [`till`] looks for a stored order,
//! [`admission`] says what its token allows, [`holding`] holds the units,
//! [`verdict`] says what the inventory's reply means, [`answer`] puts the
//! outcome into HTTP.

pub mod admission;
pub mod answer;
pub mod config;
pub mod handler;
pub mod holding;
pub mod till;
pub mod verdict;
