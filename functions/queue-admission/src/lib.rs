//! The queue-admission function.
