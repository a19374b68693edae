//! The demo from the first fan to the account.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::demo::account::{Account, Evidence, TypeBooks};
use crate::demo::books;
use crate::demo::chance::Chance;
use crate::demo::fan::Fan;
use crate::demo::hall::Hall;
use crate::demo::last_reading;
use crate::demo::options::Options;
use crate::demo::persona::Persona;
use crate::demo::progress::Step;
use crate::demo::spectators::{self, Spectators};
use crate::error::{ClientError, chain};
use crate::identity::Person;
use crate::until::{Seen, eventually};
use crate::world::World;

/// A finished demo.
#[derive(Debug)]
pub struct Finished {
    /// The event it made.
    pub hall: Arc<Hall>,
    /// The account.
    pub account: Account,
    /// What went wrong for fans that failed; the first few.
    pub failures: Vec<String>,
}

/// With those in line, what the emulator, one process, can be asked at once
/// without a queue of its own.
const REQUESTS_AT_ONCE: usize = 16;
const SPECTATORS: usize = 20;
const FAILURES_TOLD: usize = 5;
/// After it the fans who are still there count as failed.
const CROWD_AT_LEAST: Duration = Duration::from_secs(120);
const CROWD_PER_FAN: Duration = Duration::from_millis(200);
/// When all fans are gone, the stores agree within so long or not at all.
const AFTERMATH: Duration = Duration::from_secs(30);

/// Runs the demo.
///
/// # Errors
/// When the stack can't be reached or refuses to be set up.
pub async fn run(options: &Options) -> Result<Finished, ClientError> {
    run_beside(options, async |_| {}).await
}

/// Runs the demo, and something beside the crowd.
///
/// # Errors
/// When the stack can't be reached or refuses to be set up.
pub async fn run_beside(
    options: &Options,
    beside: impl AsyncFnOnce(&World),
) -> Result<Finished, ClientError> {
    let world = World::with_requests_at_once(REQUESTS_AT_ONCE)?;
    let people = sign_in(&world, options).await?;
    let hall = Arc::new(Hall::build(&world, options).await?);
    let spectators = Spectators::come(&hall, SPECTATORS).await?;
    let (failures, ()) = tokio::join!(let_in(&hall, &people, options), beside(&world));
    let books = aftermath(&hall).await?;
    let seats = hall.sale.seats().await?;
    let sightings = spectators.ask(&seats).await;
    let maps_wrong = sightings.iter().filter(|sightings| !sightings.is_right).count();
    let orders = last_reading::of(&hall, people).await?;
    let evidence = Evidence {
        purchases: orders.applied_to(hall.purchases()),
        listed_orders: orders.live_by_customer(),
        books,
        maps_wrong: u32::try_from(maps_wrong).unwrap_or(u32::MAX),
        hold_to_seat_map: spectators::hold_to_seat_map(&hall, &sightings),
        most_shopping: hall.tally.most_shopping.load(Relaxed),
        cap: options.cap,
        failed: hall.tally.failed.load(Relaxed),
    };
    Ok(Finished { account: Account::of(evidence), hall, failures })
}

async fn sign_in(world: &World, options: &Options) -> Result<Vec<Person>, ClientError> {
    let step = Step::begin("Fans sign in", options.fans.into());
    let count = usize::try_from(options.fans).unwrap_or(usize::MAX);
    world.identity.crowd(count, || step.advance()).await
}

/// Lets the crowd in, and waits until the last fan has gone home.
async fn let_in(hall: &Arc<Hall>, people: &[Person], options: &Options) -> Vec<String> {
    let step = Step::begin("Fans come and go", options.fans.into());
    let mut visits = JoinSet::new();
    for (number, person) in (0..).zip(people) {
        let persona = Persona::of(options.seed, number, options.seats > 0, options.standing > 0);
        let chance = Chance::of(options.seed.wrapping_add(1), number);
        let fan = Fan { person: person.clone(), persona, chance };
        visits.spawn(fan.visit(Arc::clone(hall)));
    }
    let tally = &hall.tally;
    let mut failures = Vec::new();
    let all_gone = async {
        while let Some(visit) = visits.join_next().await {
            match visit {
                Ok(Ok(true)) => tally.bought.fetch_add(1, Relaxed),
                Ok(Ok(false)) => tally.without.fetch_add(1, Relaxed),
                Ok(Err(error)) => {
                    failures.push(chain(&error));
                    tally.failed.fetch_add(1, Relaxed)
                }
                Err(error) => {
                    failures.push(chain(&error));
                    tally.failed.fetch_add(1, Relaxed)
                }
            };
            step.advance();
        }
    };
    let limit = CROWD_AT_LEAST.max(CROWD_PER_FAN * options.fans);
    let in_time = tokio::select! {
        ended = tokio::time::timeout(limit, all_gone) => ended.is_ok(),
        () = step.follow(tally) => false,
    };
    if !in_time {
        failures.push(format!("{} fans were not done after {limit:?}", visits.len()));
        let late = u32::try_from(visits.len()).unwrap_or(u32::MAX);
        tally.failed.fetch_add(late, Relaxed);
    }
    failures.truncate(FAILURES_TOLD);
    failures
}

/// What the stores say once nothing is held any more, or as they are when it takes too
/// long: then the account tells what is held.
async fn aftermath(hall: &Hall) -> Result<Vec<TypeBooks>, ClientError> {
    let settled = eventually("nothing is held", AFTERMATH, async || {
        let books = books::keep(hall).await?;
        let held: u32 = books.iter().map(|books| books.redis.held).sum();
        Ok(if held == 0 { Seen::Yes(books) } else { Seen::NotYet(format!("{held} held")) })
    });
    match settled.await {
        Err(ClientError::TimedOut { .. }) => books::keep(hall).await,
        settled => settled,
    }
}
