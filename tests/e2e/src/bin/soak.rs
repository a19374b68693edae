//! `tests/soak`: many small demos in which things break.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use e2e::error::chain;
use e2e::soak::options::Options;
use e2e::soak::runs;

/// The runs could not be made; 1 is for broken promises.
const COULD_NOT_RUN: u8 = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match runs::all(&options, |line| eprintln!("{line}")).await {
        Ok(outcome) => outcome,
        Err(error) => {
            eprintln!("soak: {}", chain(&error));
            return ExitCode::from(COULD_NOT_RUN);
        }
    };
    let text = if options.json {
        serde_json::to_string(&outcome).unwrap_or_default()
    } else {
        format!(
            "{} runs, {} broken {:?}, {} endless connections, {} tickets sold, {} s",
            outcome.runs,
            outcome.broken,
            outcome.broken_seeds,
            outcome.endless,
            outcome.sold,
            outcome.seconds
        )
    };
    // A reader that has gone away has read enough; the exit code tells the rest.
    writeln!(std::io::stdout(), "{text}").ok();
    if outcome.broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
