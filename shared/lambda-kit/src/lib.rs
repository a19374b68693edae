//! What every function does the same way: reading its configuration, writing
//! logs, answering HTTP, working off batches.
//!
//! A function's `main` reads its [`config`], calls [`start::init`], builds its
//! clients from [`aws::sdk_config`], lets [`warm::open`] open what the first
//! request needs, and hands a router to [`http::serve`] or a
//! handler to [`batch::each_distinct`]. Nothing here knows a rule of the sale.

pub mod aws;
pub mod batch;
mod causes;
pub mod clock;
pub mod config;
pub mod http;
pub mod loading;
pub mod start;
pub mod testing;
pub mod warm;

pub use causes::Causes;

/// What a `main` gives back when it can't go on.
pub type StartError = Box<dyn std::error::Error + Send + Sync>;
