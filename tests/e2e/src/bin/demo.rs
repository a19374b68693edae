//! `localstack/demo`: sells out a hall to a simulated crowd.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use clap::{CommandFactory, Parser, error::ErrorKind};
use e2e::demo::options::Options;
use e2e::demo::{report, run};
use e2e::error::chain;

/// The demo could not be run to its end; 1 is for broken promises.
const COULD_NOT_RUN: u8 = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = Options::parse();
    if let Err(nothing) = options.check() {
        Options::command().error(ErrorKind::ValueValidation, nothing).exit();
    }
    let begun = Instant::now();
    let finished = match run::run(&options).await {
        Ok(finished) => finished,
        Err(error) => {
            eprintln!("demo: {}", chain(&error));
            return ExitCode::from(COULD_NOT_RUN);
        }
    };
    let took = begun.elapsed();
    let mut output = report::text(&finished, &options, took);
    if options.json {
        output.push_str(&format!("\n\n{}", report::json(&finished, &options, took)));
    }
    // A reader that has gone away has read enough; the exit code tells the rest.
    writeln!(std::io::stdout(), "{output}").ok();
    if finished.account.is_kept() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
