//! What breaks during a run, and when.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use fault_points::Point;
use tokio::sync::Mutex;

use crate::demo::chance::Chance;
use crate::soak::processes::{self, Stopped};
use crate::stack::Stack;

/// Something that breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A process of a function is killed, whatever it is doing.
    Killed(&'static str),
    /// Whoever comes to a point next dies there.
    DiesAt(Point),
    /// Whoever comes to a point next stands there for a while.
    StandsAt(Point, Duration),
    /// Redis forgets all scripts.
    ScriptsForgotten,
    /// Redis hangs up on everybody.
    HungUp,
    /// Redis answers nobody for a while.
    RedisStands(Duration),
    /// DynamoDB, SQS and the gateway answer nobody for a while.
    AwsStands(Duration),
}

/// Functions, by a part of their names on the stack.
const FUNCTIONS: [&str; 8] = [
    "Reservation",
    "OrderPersistence",
    "OrderProjector",
    "Orders",
    "QueueAdmission",
    "LiveBroadcast",
    "LiveConnection",
    "DeadLetters",
];
const TROUBLES: usize = 4;
/// How long it is waited for somebody to come to a point.
const VISIT: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);
/// A client's patience for one request is two seconds.
const LONGEST_REST: Duration = Duration::from_millis(1_500);

/// What breaks during one run: after so long, this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mischief(Vec<(Duration, Trouble)>);

impl Mischief {
    /// Drawn from a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut chance = Chance::of(seed, u64::MAX);
        let pause = |chance: &mut Chance| {
            chance.between(Duration::from_millis(50), Duration::from_millis(1_500))
        };
        let trouble = |_| (pause(&mut chance), Trouble::draw(&mut chance));
        Self((0..TROUBLES).map(trouble).collect())
    }

    /// Lets it happen; how often what did.
    pub async fn happen(&self, stack: &Stack) -> BTreeMap<&'static str, u32> {
        let mut happened = BTreeMap::new();
        for (after, trouble) in &self.0 {
            tokio::time::sleep(*after).await;
            if trouble.happen(stack).await {
                *happened.entry(trouble.name()).or_default() += 1;
            }
        }
        happened
    }
}

impl Trouble {
    fn draw(chance: &mut Chance) -> Self {
        let point = |chance: &mut Chance| fault_points::ALL[chance.index(fault_points::ALL.len())];
        match chance.below(11) {
            0..=2 => Self::Killed(FUNCTIONS[chance.index(FUNCTIONS.len())]),
            3..=5 => Self::DiesAt(point(chance)),
            6 => {
                let longest = Duration::from_secs(2);
                Self::StandsAt(point(chance), chance.between(LOOK, longest))
            }
            7 => Self::ScriptsForgotten,
            8 => Self::HungUp,
            9 => Self::RedisStands(chance.between(LOOK, LONGEST_REST)),
            _ => Self::AwsStands(chance.between(LOOK, LONGEST_REST)),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Killed(_) => "killed",
            Self::DiesAt(_) => "died_at_a_point",
            Self::StandsAt(..) => "stood_at_a_point",
            Self::ScriptsForgotten => "scripts_forgotten",
            Self::HungUp => "redis_hung_up",
            Self::RedisStands(_) => "redis_stood",
            Self::AwsStands(_) => "aws_stood",
        }
    }

    /// Makes it happen; whether it did: a function may not run, a point not be
    /// come by.
    async fn happen(&self, stack: &Stack) -> bool {
        match self {
            Self::Killed(function) => {
                let running = processes::of_function(&stack.endpoint, function);
                running.first().is_some_and(|id| processes::kill(*id))
            }
            Self::DiesAt(point) => visited(&format!("{point} kill\n"), Duration::ZERO).await,
            Self::StandsAt(point, long) => visited(&format!("{point} stop\n"), *long).await,
            Self::ScriptsForgotten => tell(stack, &["SCRIPT", "FLUSH"]).await,
            Self::HungUp => tell(stack, &["CLIENT", "KILL", "TYPE", "normal"]).await,
            Self::RedisStands(long) => {
                let long = long.as_millis().to_string();
                tell(stack, &["CLIENT", "PAUSE", &long, "ALL"]).await
            }
            Self::AwsStands(long) => {
                let Some(_stopped) = Stopped::emulator() else { return false };
                tokio::time::sleep(*long).await;
                true
            }
        }
    }
}

async fn tell(stack: &Stack, command: &[&str]) -> bool {
    let Ok(client) = redis::Client::open(stack.redis_url.as_str()) else { return false };
    let Ok(mut connection) = client.get_multiplexed_async_connection().await else { return false };
    let mut words = redis::Cmd::new();
    words.arg(command);
    words.exec_async(&mut connection).await.is_ok()
}

/// There is one file of orders for the whole stack.
static ORDERS: Mutex<()> = Mutex::const_new(());

/// Gives an order to whoever comes to a point next, and takes it back; whether
/// somebody came.
async fn visited(order: &str, stands: Duration) -> bool {
    let _alone = ORDERS.lock().await;
    let file = Stack::faults_file();
    let came = with_suffix(&file);
    // Neither is there, or both are left over from a run that was broken off.
    fs::remove_file(&came).ok();
    if fs::write(&file, order).is_err() {
        return false;
    }
    let visitor = async {
        while !came.exists() {
            tokio::time::sleep(LOOK).await;
        }
        tokio::time::sleep(stands).await;
    };
    let visited = tokio::time::timeout(VISIT + stands, visitor).await.is_ok();
    fs::remove_file(&file).ok();
    visited
}

fn with_suffix(file: &Path) -> std::path::PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".reached");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_breaks_the_same_things_again_and_another_one_others() {
        assert_eq!(Mischief::of(7), Mischief::of(7));
        assert_ne!(Mischief::of(7), Mischief::of(8));
    }

    #[test]
    fn every_kind_of_trouble_and_every_point_is_drawn() {
        let drawn: Vec<Trouble> =
            (0..2_000).flat_map(|seed| Mischief::of(seed).0).map(|(_, t)| t).collect();
        let kinds: BTreeSet<&str> = drawn.iter().map(Trouble::name).collect();
        assert_eq!(kinds.len(), 7);
        for point in fault_points::ALL {
            assert!(drawn.contains(&Trouble::DiesAt(*point)), "{point}");
        }
    }
}
