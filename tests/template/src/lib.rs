//! What `template.yaml` must never break, checked against the code: each
//! function gets the variables it reads and may do what it does, no more; a
//! message that fails is neither lost nor worked on twice at once; the routes
//! are those of `contracts::routes`.
//!
//! [`template`] reads the template, [`code`] reads what the functions use, and
//! [`rules`] compares: each rule gives the faults it finds, in words.

pub mod code;
pub mod rules;
pub mod template;
