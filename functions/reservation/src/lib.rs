//! The reservation function.
