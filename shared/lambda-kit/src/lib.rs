//! Lambda kit.
