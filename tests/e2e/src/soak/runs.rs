//! The runs, and what is told of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::demo::{report, run};
use crate::error::ClientError;
use crate::soak::mischief::Mischief;
use crate::soak::options::Options;
use crate::world::World;

/// What all runs came to.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Outcome {
    /// How many were made.
    pub runs: u32,
    /// In how many a promise broke.
    pub broken: u32,
    /// The seeds of those; each makes its run again.
    pub broken_seeds: Vec<u64>,
    /// The seed of the first run.
    pub seed: u64,
    /// Tickets sold in all of them.
    pub sold: u32,
    /// Purchases accepted and then rejected with a reason.
    pub rejected: u32,
    /// How often what broke.
    pub troubles: BTreeMap<&'static str, u32>,
    /// How long it took.
    pub seconds: u64,
}

/// Makes the runs, one after the other; `tell` hears of each.
///
/// # Errors
/// When a run can't be made, or messages are left at the end.
pub async fn all(options: &Options, mut tell: impl FnMut(&str)) -> Result<Outcome, ClientError> {
    let begun = Instant::now();
    let mut outcome = Outcome { seed: options.seed, ..Outcome::default() };
    for number in 0..options.runs {
        one(options, number, &mut outcome, &mut tell).await?;
    }
    World::connect()?.until_intents_are_worked_off().await?;
    outcome.seconds = begun.elapsed().as_secs();
    Ok(outcome)
}

async fn one(
    options: &Options,
    number: u32,
    outcome: &mut Outcome,
    tell: &mut impl FnMut(&str),
) -> Result<(), ClientError> {
    let demo = options.demo(number);
    let mischief = Mischief::of(demo.seed);
    let mut happened = BTreeMap::new();
    let begun = Instant::now();
    let finished = run::run_beside(&demo, async |world| {
        happened = mischief.happen(&world.stack).await;
    })
    .await?;
    let account = &finished.account;
    outcome.runs += 1;
    outcome.sold += account.sold;
    outcome.rejected += account.rejected;
    let words: Vec<String> =
        happened.iter().map(|(name, count)| format!("{name} {count}")).collect();
    for (name, count) in happened {
        *outcome.troubles.entry(name).or_default() += count;
    }
    let took = begun.elapsed();
    tell(&line(number, &demo.seed, account.sold, took, &words));
    if !account.is_kept() {
        outcome.broken += 1;
        outcome.broken_seeds.push(demo.seed);
        tell(&format!("{mischief:?}"));
        tell(&report::text(&finished, &demo, took));
    }
    Ok(())
}

fn line(number: u32, seed: &u64, sold: u32, took: Duration, troubles: &[String]) -> String {
    let (number, seconds) = (number + 1, took.as_secs());
    format!("run {number}, seed {seed}: {sold} sold in {seconds} s; {}", troubles.join(", "))
}
