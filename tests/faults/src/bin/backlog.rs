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
    let a_day = (outcome.bytes_per_order + outcome.bytes_per_unit) / 10;
    tell(&format!(
        "{} bytes an order, {} its unit, {} a refusal; 100,000 orders a day grow by {} MB, 100,000 refusals by {} MB",
        outcome.bytes_per_order,
        outcome.bytes_per_unit,
        outcome.bytes_per_refusal,
        a_day,
        outcome.bytes_per_refusal / 10
    ));
    tell(&serde_json::to_string(&outcome).expect("an outcome"));
    ExitCode::from(u8::from(outcome.lost > 0))
}

/// A reader that has gone away has read enough.
fn tell(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}
