//! Measures what the design promises of Redis: how fast units are reserved, how
//! little that slows down with a million orders, what a hold and a waiting fan
//! cost in memory; and the same sale on PostgreSQL beside it.
//!
//! Everything runs on servers of its own, on free ports, and ends within ten
//! minutes. `tests/bench` builds and runs it.

mod error;
mod memory;
mod pipeline;
mod postgres;
mod rates;
mod report;
mod resp;
mod sale;

use std::process::ExitCode;

use clap::Parser;
use redis_server::{Engine, RedisServer};

use crate::error::BenchError;
use crate::report::Report;

/// Benchmarks of the inventory and the waiting room.
#[derive(Debug, Parser)]
struct Options {
    /// Ends the output with one JSON object on a line.
    #[arg(long)]
    json: bool,
    /// Measures on Valkey (its program is on the path, or named by VALKEY_SERVER).
    #[arg(long)]
    valkey: bool,
    /// Leaves out PostgreSQL.
    #[arg(long)]
    no_postgres: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::say(&format!("bench: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), BenchError> {
    let engine = if options.valkey { Engine::Valkey } else { Engine::Redis };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = RedisServer::start(engine);
    report::say(&format!("{engine:?} on port {}", server.port()));
    report::warn_of_builds();
    let (rates, bytes_per_hold) = rates::measure(&runtime, &server)?;
    let bytes_per_waiting_fan = memory::bytes_per_waiting_fan(&runtime, &server)?;
    drop(server);
    let postgres = match options.no_postgres {
        true => None,
        false => postgres::measure(&runtime)?,
    };
    let report = Report { rates, bytes_per_hold, bytes_per_waiting_fan, postgres };
    report.print();
    if options.json {
        report::say(&report.json().to_string());
    }
    Ok(())
}
