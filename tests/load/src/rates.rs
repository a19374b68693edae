//! How fast Redis reserves: beside a script that does nothing, and with a
//! million orders beside a hundred.

use redis_server::RedisServer;
use redis_store::{Inventory, Redis, RedisMode, pipelined};
use tokio::runtime::Runtime;

use crate::error::BenchError;
use crate::memory;
use crate::pipeline::{self, Command};
use crate::report::say;
use crate::resp::Kind;
use crate::sale::{Sale, is_held, is_sold_out};

/// The big event's places; all of them are sold in the end.
const PLACES: u32 = 1_000_000;
const FEW: u32 = 100;
/// How often everything is measured in turn. The fastest turn of each counts: what
/// else runs on a machine only slows things down.
const ROUNDS: u32 = 15;
const RESERVED_A_ROUND: u32 = 10_000;
const STEP: u32 = 84_000;
const REFUSED_A_ROUND: u32 = 30_000;
const CHEAP_A_ROUND: usize = 100_000;

/// Operations a second; each the fastest of its rounds.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    /// A script that does nothing.
    pub(crate) noop: f64,
    /// The same, given the keys and arguments of a reservation.
    pub(crate) noop_with_arguments: f64,
    /// A bare `DECR`.
    pub(crate) decr: f64,
    /// Reservations of a place while the event has a hundred orders.
    pub(crate) reserve_at_100: f64,
    /// The same at a million orders.
    pub(crate) reserve_at_1m: f64,
    /// Refusals of a sold-out type.
    pub(crate) sold_out: f64,
    /// The curve on the way: orders of the event, and the rate there.
    pub(crate) curve: Vec<(u32, f64)>,
}

/// The rates, and the bytes that a held order costs, its place included.
pub(crate) fn measure(runtime: &Runtime, server: &RedisServer) -> Result<(Rates, f64), BenchError> {
    let redis = Redis::connect(&server.url(), RedisMode::Single);
    let mut bench = Bench { runtime, server, inventory: Inventory::new(redis) };
    let before = memory::used(server)?;
    let mut big = bench.open("big", PLACES)?;
    bench.load_scripts(&big)?;
    let mut rates = Rates::default();
    say(&format!("Filling an event to {PLACES} orders; reservations a second on the way:"));
    let filled = PLACES - ROUNDS * RESERVED_A_ROUND;
    let mut orders = 1;
    for step in [FEW - 1, 900, 9_000].into_iter().chain(std::iter::repeat(STEP)) {
        let step = step.min(filled - orders);
        if step == 0 {
            break;
        }
        let rate = bench.reserve(&mut big, step)?;
        orders += step;
        if step >= 9_000 {
            say(&format!("  {orders:>9} orders {rate:>9.0}/s"));
            rates.curve.push((orders, rate));
        }
    }
    let bytes_per_hold = (memory::used(server)? - before) / f64::from(filled);
    bench.rounds(&mut rates, &mut big)?;
    Ok((rates, bytes_per_hold))
}

struct Bench<'a> {
    runtime: &'a Runtime,
    server: &'a RedisServer,
    inventory: Inventory,
}

impl Bench<'_> {
    fn open(&self, name: &str, places: u32) -> Result<Sale, BenchError> {
        self.runtime.block_on(Sale::open(&self.inventory, name, places))
    }

    fn load_scripts(&self, sale: &Sale) -> Result<(), BenchError> {
        let mut connection = redis::Client::open(self.server.url())?.get_connection()?;
        pipelined::reserve(&sale.wish(0)?)?.load(&mut connection)?;
        noop().load(&mut connection)?;
        Ok(())
    }

    fn rate(
        &self,
        what: &str,
        commands: &[Command],
        expected: fn(Kind) -> bool,
    ) -> Result<f64, BenchError> {
        pipeline::rate(self.server.port(), what, commands, expected)
    }

    fn reserve(&self, sale: &mut Sale, count: u32) -> Result<f64, BenchError> {
        self.rate("reserve", &sale.reservations(count)?, is_held)
    }

    /// Measures everything in turn, the big event at its last orders.
    fn rounds(&mut self, rates: &mut Rates, big: &mut Sale) -> Result<(), BenchError> {
        let mut sold_out = self.open("sold-out", 1)?;
        let noop = vec![pipeline::command(&noop().key("k")); CHEAP_A_ROUND];
        let decr = vec![redis::cmd("DECR").arg("n").get_packed_command(); CHEAP_A_ROUND];
        let is_number = |kind| kind == Kind::Number;
        let mut found: [Vec<f64>; 6] = Default::default();
        for round in 0..ROUNDS {
            let mut small = self.open(&format!("small-{round}"), PLACES)?;
            self.reserve(&mut small, FEW - 1)?;
            let refused = sold_out.reservations(REFUSED_A_ROUND)?;
            let with_arguments = self.noop_with_arguments(&sold_out)?;
            let measured = [
                self.rate("a script that does nothing", &noop, is_number)?,
                self.rate("it with arguments", &with_arguments, is_number)?,
                self.rate("DECR", &decr, is_number)?,
                self.reserve(&mut small, RESERVED_A_ROUND)?,
                self.reserve(big, RESERVED_A_ROUND)?,
                self.rate("a refusal", &refused, is_sold_out)?,
            ];
            for (all, one) in found.iter_mut().zip(measured) {
                all.push(one);
            }
        }
        let [noop, with_arguments, decr, at_100, at_1m, refused] = found.map(fastest);
        rates.noop = noop;
        rates.noop_with_arguments = with_arguments;
        rates.decr = decr;
        rates.reserve_at_100 = at_100;
        rates.reserve_at_1m = at_1m;
        rates.sold_out = refused;
        Ok(())
    }

    /// What the protocol alone costs of a reservation.
    fn noop_with_arguments(&self, sale: &Sale) -> Result<Vec<Command>, BenchError> {
        let hash = noop().get_hash().to_owned();
        let call = |fan| {
            let call = pipeline::command(&pipelined::reserve(&sale.wish(fan)?)?);
            Ok(with_hash(&call, &hash))
        };
        (0..REFUSED_A_ROUND).map(call).collect()
    }
}

fn noop() -> redis::Script {
    redis::Script::new("return 0")
}

/// The same call of another script: `EVALSHA` names it by 40 letters.
fn with_hash(call: &[u8], hash: &str) -> Command {
    const HASH_MARK: &[u8] = b"\r\n$40\r\n";
    let mut other = call.to_vec();
    if let Some(at) = call.windows(HASH_MARK.len()).position(|bytes| bytes == HASH_MARK) {
        let first = at + HASH_MARK.len();
        other[first..first + hash.len()].copy_from_slice(hash.as_bytes());
    }
    other
}

fn fastest(rounds: Vec<f64>) -> f64 {
    rounds.into_iter().fold(f64::NAN, f64::max)
}
