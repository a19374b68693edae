//! The order-projector function.
