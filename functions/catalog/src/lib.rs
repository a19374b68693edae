//! What is on sale: events, ticket types, seat maps, the sale itself, units taken
//! out of it, and what is left.
//!
//! - **Trigger:** HTTP: the catalogue's routes, and every path that is no route
//!   (404, 405).
//! - **Input:** operators' edits (group `operators`), anybody's reads.
//! - **Effects:** edits go to DynamoDB first and then to Redis where the event has
//!   an inventory; the first opening (or withdrawal) loads that inventory.
//!   Withdrawals are orders of the owner `withdrawn`, on the way any order takes.
//! - **Idempotency key:** edits carry the version they edit; a sale command its
//!   `Idempotency-Key`; sections and withdrawals their id. What is written to Redis
//!   is absolute and versioned, so it can be written again at any time.
//! - **When it fails:** between DynamoDB and Redis, the answer is 503 and the same
//!   request brings Redis up to date. A load that died is begun anew under its own
//!   epoch. A withdrawal that died is gone on with, or undone, by the next request
//!   for it. An inventory that once sold and is gone is never loaded afresh here:
//!   that is a loss, and only a recovery knows what was sold.
//!
//! Way of a request: [`router`] names its handler (a module per resource), which
//! writes through [`catalogue`]'s stores; [`stock`] keeps Redis in step.

mod answer;
mod capacity;
pub mod catalogue;
pub mod config;
mod event;
mod layout;
pub mod router;
mod sale;
mod seat_map;
mod seats;
pub mod stock;
mod ticket_type;
mod withdrawal;
