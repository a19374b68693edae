//! What a soak can be told.

use clap::Parser;

use crate::demo;

/// Runs small demos in which functions are killed, stop and die at fault points,
/// Redis forgets scripts, hangs up and stands still, and so do DynamoDB and SQS; counts
/// broken promises.
///
/// Each run has a seed of its own (the seed, then one more each time), from which
/// the fans and the faults are drawn. Runs made at once share the stack and each other's
/// faults: a seed makes a run again exactly only where both were made one at a time. The exit code is 1 if a promise broke, 3 if
/// the runs could not be made.
#[derive(Debug, Clone, Parser)]
#[command(name = "soak")]
pub struct Options {
    /// How many demos.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// The seed of the first one.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many at once. What breaks in one then breaks in the others, too.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub at_once: u8,
    /// Prints the outcome as one JSON object, the last line of standard output.
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// The demo of one run: small, so that faults are many for each order.
    #[must_use]
    pub fn demo(&self, run: u32) -> demo::options::Options {
        demo::options::Options {
            fans: 24,
            seats: 12,
            standing: 12,
            cap: 12,
            seed: self.seed.wrapping_add(run.into()),
            json: false,
        }
    }
}
