//! The waiting room as fans and operators meet it.

#![cfg(test)]

mod places;
mod public;
mod room;
mod settings;
