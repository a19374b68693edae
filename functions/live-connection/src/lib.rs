//! The live-connection function.
