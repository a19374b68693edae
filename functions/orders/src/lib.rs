//! The orders function.
