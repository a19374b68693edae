//! The soak: one small demo after the other, and in each of them things break.

pub mod mischief;
pub mod options;
pub mod processes;
pub mod runs;
