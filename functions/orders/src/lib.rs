//! Lets a fan read their own orders, also while they are queued.
//!
//! - **Triggers:** `GET /events/{event}/orders/{order}`, `GET /orders`.
//! - **Input:** the fan of the verified token. Every read names that fan, so
//!   nobody reaches another's order, whatever they ask for.
//! - **Effects:** none but one: who asks for an order whose hold has lapsed
//!   unpersisted gets that stored as its end (`hold_expired`), as nobody else may
//!   come to do it.
//! - **Idempotency key:** the order id; the end is put where nothing is stored.
//! - **When it fails:** 503, and the same question may be asked again. So it is while
//!   the event has no inventory: nobody is told that an order that was accepted is none.
//!
//! [`handler`] has the routes; [`reading`] looks for an order where it may be.

pub mod config;
pub mod handler;
pub mod reading;
