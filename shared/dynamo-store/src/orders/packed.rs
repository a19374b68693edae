//! An order's lines and reason as compact text.
