//! Sending prepared commands 64 deep on a few connections at once, so that the
//! server never waits for its client, and measuring how fast it works them off.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::Instant;

use crate::error::BenchError;
use crate::resp::{self, Kind};

/// How many commands are sent before their replies are read.
const DEPTH: usize = 64;
const CONNECTIONS: usize = 4;

/// A command as its bytes on the wire.
pub(crate) type Command = Vec<u8>;

/// The bytes of a script's call.
pub(crate) fn command(call: &redis::ScriptInvocation<'_>) -> Command {
    redis::pipe().invoke_script(call).get_packed_pipeline()
}

/// Works off all commands and gives operations a second. Every reply must be as
/// expected, or the server did something else than what was to be measured.
pub(crate) fn rate(
    port: u16,
    what: &str,
    commands: &[Command],
    expected: fn(Kind) -> bool,
) -> Result<f64, BenchError> {
    let share = commands.len().div_ceil(CONNECTIONS).max(1);
    let lanes = commands.chunks(share).map(|share| Lane::open(port, share));
    let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
    let barrier = Barrier::new(lanes.len());
    let done = std::thread::scope(|scope| {
        let work = |lane: Lane| {
            barrier.wait();
            lane.work(expected)
        };
        let threads: Vec<_> =
            lanes.into_iter().map(|lane| scope.spawn(move || work(lane))).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for lane in done {
        let lane = lane.map_err(|_| BenchError::Tool("a connection's thread"))??;
        if let Some(reply) = lane.other {
            return Err(BenchError::Unexpected { what: what.to_owned(), reply });
        }
        begun.push(lane.begun);
        ended.push(lane.ended);
    }
    let span = ended.into_iter().max().zip(begun.into_iter().min());
    let seconds = span.map_or(0.0, |(ended, begun)| (ended - begun).as_secs_f64());
    Ok(commands.len() as f64 / seconds)
}

struct Done {
    begun: Instant,
    ended: Instant,
    /// The first reply that was not as expected.
    other: Option<String>,
}

/// A connection and what is to be sent on it: bytes, and how many commands.
struct Lane {
    stream: TcpStream,
    batches: Vec<(Vec<u8>, usize)>,
}

impl Lane {
    fn open(port: u16, commands: &[Command]) -> Result<Self, BenchError> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        let batches = commands.chunks(DEPTH).map(|batch| (batch.concat(), batch.len())).collect();
        Ok(Self { stream, batches })
    }

    fn work(mut self, expected: fn(Kind) -> bool) -> Result<Done, BenchError> {
        let begun = Instant::now();
        let mut other = None;
        for (bytes, count) in &self.batches {
            self.stream.write_all(bytes)?;
            let (mut received, mut at) = (Vec::with_capacity(16 * 1024), 0);
            for _ in 0..*count {
                let (kind, length) = loop {
                    match resp::next(&received[at..]) {
                        Some(reply) => break reply,
                        None => receive(&mut self.stream, &mut received)?,
                    }
                };
                if !expected(kind) && other.is_none() {
                    let reply = &received[at..at + length];
                    other = Some(String::from_utf8_lossy(reply).into_owned());
                }
                at += length;
            }
        }
        Ok(Done { begun, ended: Instant::now(), other })
    }
}

fn receive(stream: &mut TcpStream, received: &mut Vec<u8>) -> Result<(), BenchError> {
    let mut chunk = [0; 16 * 1024];
    match stream.read(&mut chunk)? {
        0 => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
        length => {
            received.extend_from_slice(&chunk[..length]);
            Ok(())
        }
    }
}
