//! The first thing a function does.

use std::panic;

use tracing_subscriber::EnvFilter;

/// Logs as JSON lines, by `RUST_LOG`, and panics among them.
///
/// Call it once, before anything else. Called again (tests), it changes nothing.
pub fn init() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_env_filter(filter);
    if logs.try_init().is_ok() {
        panic::set_hook(Box::new(log_panic));
    }
}

fn log_panic(panic: &panic::PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let message = panic.payload_as_str().unwrap_or("a panic without words");
    tracing::error!(location, message, "panicked");
}
