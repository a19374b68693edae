//! The catalog function.
