//! `tests/backlog`: what becomes of many intents whose tables were away for longer
//! than holds last.

#![expect(clippy::expect_used, reason = "a test ends where its engines do")]

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use faults::backlog::outlast;

const USAGE: &str = "usage: tests/backlog [INTENTS]";
const INTENTS: u32 = 100_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let intents = match std::env::args().nth(1).map(|word| word.parse()) {
        None => INTENTS,
        Some(Ok(intents)) => intents,
        Some(Err(_)) => {
            tell(USAGE);
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let outcome = outlast(intents).await;
    tell(&format!("{intents} intents in {:.0} s", begun.elapsed().as_secs_f64()));
    let each = (outcome.order_bytes + outcome.unit_bytes) / outcome.queued.max(1);
    tell(&format!(
        "{each} bytes an order, its units included, half of them refused: {} MB a day of 100,000",
        each / 10
    ));
    tell(&serde_json::to_string(&outcome).expect("an outcome"));
    ExitCode::from(u8::from(outcome.lost > 0))
}

/// A reader that has gone away has read enough.
fn tell(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}
