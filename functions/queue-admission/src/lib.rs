//! The waiting room: fans join a line, are called, and enter with an admission
//! token; an operator says how many may shop at once. Beside it, passes for
//! watchers and the public keys of all tokens.
//!
//! - **Trigger:** HTTP API, the routes of `HttpFunction::QueueAdmission`.
//! - **Input:** the event from the path, the fan from the verified token; bodies
//!   only for settings.
//! - **Effects:** the line in Redis (`{q:<event>}`), ended sessions in the
//!   inventory (`{i:<event>}`), settings and generation of the line and the
//!   public key in the catalogue table.
//! - **Idempotency key:** the fan. One fan has one place and one session, so
//!   joining, entering and leaving can be repeated at will; settings by version.
//! - **When it fails:** Redis or DynamoDB away is a 503, and nothing was taken
//!   that a repeat would not find again. The signing secret away is a 503 before
//!   anything is touched. A lost line is begun anew under the next generation.

pub mod config;
mod failures;
mod handler;
mod line;
mod place;
mod public;
mod settings;
mod signing;

pub use handler::{App, router};
pub use signing::{Signing, signer_at};
