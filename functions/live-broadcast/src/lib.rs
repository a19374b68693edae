//! The live-broadcast function.
