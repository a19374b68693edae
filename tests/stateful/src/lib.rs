//! Random commands to the product's functions, on a real Redis and a real DynamoDB
//! engine, beside the [`model`] that the model checker knows by heart.
//!
//! Each command is carried out twice: by the functions ([`Product`]), and by the
//! model, one process at a time ([`Spec`]). Then both must say the same: the answer
//! to the fan, every stored order, the owner of every unit, what Redis knows, and
//! what waits in queues. So the model is held to the code, and what was found to
//! hold for each interleaving of the model is held to be so of the product.
//!
//! Time passes for one order at a time, by moving the instants that are stored:
//! nobody waits.

#![expect(clippy::expect_used, clippy::panic, reason = "only tests come here")]

mod command;
mod functions;
mod product;
mod run;
mod spec;
mod time;

pub use command::{Case, Command, Redis, case};
pub use product::Product;
pub use run::run;
pub use spec::Spec;
