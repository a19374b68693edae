//! Tells everyone who watches an event what changed, and fans what became of
//! their orders.
//!
//! - **Trigger:** SQS live-updates, with `ReportBatchItemFailures`.
//! - **Input:** ticks of an event's chain (`ticker`), nudges (a tick without
//!   one), and new states of orders.
//! - **Effects:** frames to connections; the event's next tick, delayed; how far
//!   its watchers were told; connections that are gone are removed.
//! - **Idempotency key:** the chain's step for ticks; the log's positions and the
//!   order's version for what clients hear, who ignore what they have.
//! - **When it fails:** a tick sends its successor before it does anything else,
//!   so whatever fails in it, the next one looks again from where watchers were
//!   last told. A tick that can't send its successor comes back after a second;
//!   if the whole chain is lost, the next nudge or subscriber begins another.
//!
//! One event, one chain, one teller:
//!
//! ```text
//! subscribe ─▶ tick 1 ─▶ tick 2 ─▶ tick 3 ─▶ …        1 s apart, up to 5 s in silence
//!                │          │         │
//!              look       look      look     lease ─▶ log after the last position
//!                │                    │             ─▶ watchers ─▶ one frame each
//!             nothing            (from, to]         ─▶ position := to, lease back
//! ```
//!
//! What was last said is said again after 2 s and after 10 s of silence, so a
//! last frame that was lost is healed though nothing follows it. The chain ends
//! when nobody watches.
//!
//! **Architecture invariant:** the log is read before watchers are listed. A
//! watcher that the list misses registered later, and its own position, read
//! after that, is at or past what is told.
//!
//! `chain` is the pure part, `ticking` keeps the chain, `looking` reads the log
//! under the lease, `telling` posts.

mod chain;
pub mod config;
pub mod handler;
mod looking;
mod telling;
mod ticking;
