//! Between records and items.
