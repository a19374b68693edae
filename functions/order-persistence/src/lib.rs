//! The order-persistence function.
