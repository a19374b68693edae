//! The rules of a sale.
