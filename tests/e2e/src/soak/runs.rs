//! The runs, and what is told of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use serde::Serialize;

use crate::demo::run::{self, Finished};
use crate::demo::{self, report};
use crate::error::ClientError;
use crate::soak::mischief::Mischief;
use crate::soak::options::Options;
use crate::stores;
use crate::world::World;

/// What all runs came to.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Outcome {
    /// How many were made.
    pub runs: u32,
    /// In how many a promise broke, or something was left that nobody sees to.
    pub broken: u32,
    /// The seeds of those. Each makes its fans and its faults again: alone with
    /// `--runs 1`, in other company than the first time.
    pub broken_seeds: Vec<u64>,
    /// In how many nothing went wrong: what was to break was not there.
    pub untroubled: u32,
    /// The seed of the first run.
    pub seed: u64,
    /// Tickets sold in all of them.
    pub sold: u32,
    /// Purchases accepted and then rejected with a reason.
    pub rejected: u32,
    /// Records of connections that nobody clears up after: none.
    pub endless: usize,
    /// How often what broke.
    pub troubles: BTreeMap<&'static str, u32>,
    /// How long it took.
    pub seconds: u64,
}

/// One run.
struct Run {
    number: u32,
    demo: demo::options::Options,
    finished: Finished,
    mischief: Mischief,
    troubles: BTreeMap<&'static str, u32>,
    /// Records of connections without an end that were there when it was over.
    endless: usize,
    took: Duration,
}

/// Makes the runs; `tell` hears of each when it is over.
///
/// # Errors
/// When a run can't be made, or messages are left at the end.
pub async fn all(options: &Options, mut tell: impl FnMut(&str)) -> Result<Outcome, ClientError> {
    let begun = Instant::now();
    let mut outcome = Outcome { seed: options.seed, ..Outcome::default() };
    let mut runs = stream::iter(0..options.runs)
        .map(|number| one(options, number))
        .buffer_unordered(options.at_once.into());
    let mut last = options.seed;
    while let Some(run) = runs.next().await {
        let run = run?;
        last = run.demo.seed;
        outcome.count(run, &mut tell);
    }
    let world = World::connect()?;
    world.until_orders_are_at_rest().await?;
    let endless = stores::connections_without_end(&world.stack).await?;
    // What came after the last run's look is the last run's.
    if outcome.leaves_endless(endless) && outcome.broken_seeds.last() != Some(&last) {
        outcome.note_broken(last);
    }
    outcome.seconds = begun.elapsed().as_secs();
    Ok(outcome)
}

async fn one(options: &Options, number: u32) -> Result<Run, ClientError> {
    let demo = options.demo(number);
    let mischief = Mischief::of(demo.seed);
    let mut troubles = BTreeMap::new();
    let begun = Instant::now();
    let finished = run::run_beside(&demo, async |world| {
        troubles = mischief.happen(&world.stack).await;
    })
    .await?;
    let endless = stores::connections_without_end(&World::connect()?.stack).await?;
    Ok(Run { number, demo, finished, mischief, troubles, endless, took: begun.elapsed() })
}

impl Outcome {
    fn count(&mut self, run: Run, tell: &mut impl FnMut(&str)) {
        let account = &run.finished.account;
        self.runs += 1;
        self.sold += account.sold;
        self.rejected += account.rejected;
        tell(&line(&run));
        self.untroubled += u32::from(run.troubles.values().sum::<u32>() == 0);
        for (name, count) in &run.troubles {
            *self.troubles.entry(name).or_default() += count;
        }
        // Whatever died, nothing is left that nobody sees to.
        let leaves_endless = self.leaves_endless(run.endless);
        if !account.is_kept() || account.held > 0 || leaves_endless {
            self.note_broken(run.demo.seed);
            tell(&format!("{:?}", run.mischief));
            tell(&report::text(&run.finished, &run.demo, run.took));
        }
    }
}

impl Outcome {
    /// Whether there are more records without an end than before. The run that is over
    /// first is blamed, though another one beside it may have left them.
    fn leaves_endless(&mut self, endless: usize) -> bool {
        let are_more = endless > self.endless;
        self.endless = self.endless.max(endless);
        are_more
    }

    fn note_broken(&mut self, seed: u64) {
        self.broken += 1;
        self.broken_seeds.push(seed);
    }
}

fn line(run: &Run) -> String {
    let sold = run.finished.account.sold;
    let (number, seed, seconds) = (run.number + 1, run.demo.seed, run.took.as_secs());
    let trouble = |(name, count): (&&str, &u32)| format!("{name} {count}");
    let troubles: Vec<String> = run.troubles.iter().map(trouble).collect();
    format!("run {number}, seed {seed}: {sold} sold in {seconds} s; {}", troubles.join(", "))
}
