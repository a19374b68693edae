//! The first thing a function does.

use std::panic;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::SubscriberBuilder;
use tracing_subscriber::fmt::format::{Format, Json, JsonFields};

/// Logs as JSON lines, by `RUST_LOG`, and panics among them.
///
/// Call it once, before anything else. Called again (tests), it changes nothing.
pub fn init() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    if lines().with_env_filter(filter).try_init().is_ok() {
        panic::set_hook(Box::new(log_panic));
    }
}

/// One JSON object a line, in which the event's own fields stand at the top:
/// the template's filters look for `$.metric` there.
pub(crate) fn lines() -> SubscriberBuilder<JsonFields, Format<Json>> {
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
}

fn log_panic(panic: &panic::PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let message = panic.payload_as_str().unwrap_or("a panic without words");
    tracing::error!(location, message, "panicked");
}

#[cfg(test)]
mod tests {
    use crate::testing::logged;

    #[tokio::test]
    async fn a_field_of_an_event_stands_at_the_top_of_its_line() {
        let ((), lines) = logged(async {
            let _span = tracing::info_span!("request", id = 7).entered();
            tracing::warn!(order = "o", metric = "unit_taken", "a unit had an owner");
        })
        .await;
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!((&line["metric"], &line["level"]), (&"unit_taken".into(), &"WARN".into()));
        assert_eq!(line["message"], "a unit had an owner");
    }
}
