//! What things cost in memory, as Redis counts it.

use domain::{CustomerId, EventId, QueueSettings};
use redis_server::RedisServer;
use redis_store::{LineSettings, Redis, RedisMode, WaitingRoom, pipelined};
use tokio::runtime::Runtime;

use crate::error::BenchError;
use crate::pipeline;
use crate::report::say;
use crate::resp::Kind;

/// How many fans wait.
const FANS: u32 = 300_000;
const AT_ONCE: u32 = 50_000;

/// The bytes that Redis uses now.
pub(crate) fn used(server: &RedisServer) -> Result<f64, BenchError> {
    let mut connection = redis::Client::open(server.url())?.get_connection()?;
    let info: redis::InfoDict = redis::cmd("INFO").arg("memory").query(&mut connection)?;
    info.get("used_memory").ok_or(BenchError::Tool("INFO memory"))
}

/// Empties the Redis.
pub(crate) fn flush(server: &RedisServer) -> Result<(), BenchError> {
    let mut connection = redis::Client::open(server.url())?.get_connection()?;
    Ok(redis::cmd("FLUSHALL").arg("SYNC").exec(&mut connection)?)
}

/// What a fan in line costs, all in all.
pub(crate) fn bytes_per_waiting_fan(
    runtime: &Runtime,
    server: &RedisServer,
) -> Result<f64, BenchError> {
    flush(server)?;
    let before = used(server)?;
    let event = EventId::parse("line")?;
    let line = LineSettings { settings: QueueSettings::default(), version: 1, generation: 1 };
    runtime.block_on(async {
        let room = WaitingRoom::new(Redis::connect(&server.url(), RedisMode::Single));
        room.configure(&event, &line).await?;
        // Also puts the script where the calls below find it.
        room.join(&event, &CustomerId::parse("first")?.key(), None).await?;
        Ok::<_, BenchError>(())
    })?;
    let mut slowest = f64::INFINITY;
    for first in (0..FANS).step_by(AT_ONCE as usize) {
        let joins = (first..first + AT_ONCE).map(|fan| {
            let customer = CustomerId::parse(&format!("fan-{fan}"))?.key();
            Ok(pipeline::command(&pipelined::join(&event, &customer)))
        });
        let joins = joins.collect::<Result<Vec<_>, BenchError>>()?;
        let rate = pipeline::rate(server.port(), "join", &joins, |kind| kind == Kind::List)?;
        slowest = slowest.min(rate);
    }
    let bytes = (used(server)? - before) / f64::from(FANS);
    say(&format!("{FANS} fans joined a line, at {slowest:.0}/s or faster"));
    Ok(bytes)
}
