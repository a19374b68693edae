//! Redis and Valkey servers of a test's own: on a free port, ended when dropped.
//!
//! A crate of its own, so that a benchmark need not link what else tests start.

mod proxy;

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use proxy::Proxy;

/// Names the Valkey server's program where it is not the one on the path.
pub const VALKEY_VARIABLE: &str = "VALKEY_SERVER";

/// The engines that scripts must run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// `redis-server` of the system.
    Redis,
    /// The engine that ElastiCache runs.
    Valkey,
}

impl Engine {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Redis, Self::Valkey];

    fn program(self) -> String {
        match self {
            Self::Redis => "redis-server".to_owned(),
            Self::Valkey => {
                std::env::var(VALKEY_VARIABLE).unwrap_or_else(|_| "valkey-server".to_owned())
            }
        }
    }
}

/// A server.
#[derive(Debug)]
pub struct RedisServer {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl RedisServer {
    /// A single node of that engine.
    ///
    /// # Panics
    /// When it can't be started.
    #[must_use]
    pub fn start(engine: Engine) -> Self {
        Self::start_with(engine, &[])
    }

    /// # Panics
    /// When it can't be started.
    #[expect(clippy::expect_used, clippy::panic, reason = "only tests come here")]
    fn start_with(engine: Engine, options: &[&str]) -> Self {
        // Another process may take a port between its choice and the server's
        // start; then the server ends at once, and the next port is tried.
        for _ in 0..20 {
            let port = free_port();
            let folder = tempfile::tempdir().expect("a folder for a server");
            let mut process = Command::new(engine.program())
                .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
                .arg(port.to_string())
                .arg("--dir")
                .arg(folder.path())
                .args(options)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the server's program can be run; VALKEY_SERVER or the path name it");
            if answers(&mut process, port) {
                return Self { process, port, _folder: folder };
            }
            let _ = process.kill();
            let _ = process.wait();
        }
        panic!("no server of {engine:?} could be started");
    }

    /// How often it was asked to run a script.
    ///
    /// # Panics
    /// When it does not tell.
    #[must_use]
    #[expect(clippy::expect_used, reason = "only tests come here")]
    pub fn scripts_run(&self) -> u64 {
        let client = redis::Client::open(self.url()).expect("a client");
        let mut connection = client.get_connection().expect("a connection");
        let info = redis::cmd("INFO").arg("commandstats").query(&mut connection);
        let stats: String = info.expect("its statistics");
        let calls = |line: &str| -> Option<u64> {
            let (name, rest) = line.split_once(":calls=")?;
            let is_script = ["cmdstat_evalsha", "cmdstat_eval"].contains(&name);
            is_script.then(|| rest.split(',').next()?.parse().ok())?
        };
        stats.lines().filter_map(calls).sum()
    }

    /// Where it answers.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The port it answers on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process, for a test that stops it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends it, and all that it had is gone.
    pub fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A cluster of three masters without replicas.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
}

impl RedisCluster {
    /// Three masters of that engine that know each other and share all slots.
    ///
    /// # Panics
    /// When they can't be started or don't come together in ten seconds.
    #[must_use]
    pub fn start(engine: Engine) -> Self {
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"];
        let nodes: Vec<_> = (0..3).map(|_| RedisServer::start_with(engine, &options)).collect();
        let slots = [(0, 5_460), (5_461, 10_922), (10_923, 16_383)];
        for (node, (first, last)) in nodes.iter().zip(slots) {
            let _: () = ask(node, redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(first).arg(last));
            let _: () =
                ask(&nodes[0], redis::cmd("CLUSTER").arg("MEET").arg("127.0.0.1").arg(node.port));
        }
        let cluster = Self { nodes };
        cluster.await_agreement();
        cluster
    }

    #[expect(clippy::panic, clippy::disallowed_methods, reason = "polls the state itself")]
    fn await_agreement(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.nodes.iter().all(agrees) {
            if Instant::now() > deadline {
                panic!("the cluster's nodes don't agree");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A node to ask; the client finds the others.
    #[must_use]
    pub fn url(&self) -> String {
        self.nodes[0].url()
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }
}

fn agrees(node: &RedisServer) -> bool {
    let info: String = ask(node, redis::cmd("CLUSTER").arg("INFO"));
    info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
}

#[expect(clippy::expect_used, reason = "only tests come here")]
fn ask<T: redis::FromRedisValue>(node: &RedisServer, command: &redis::Cmd) -> T {
    let client = redis::Client::open(node.url()).expect("a node's URL");
    let mut connection = client.get_connection().expect("a connection to a node");
    command.query(&mut connection).expect("an answer of a node")
}

#[expect(clippy::expect_used, reason = "only tests come here")]
fn free_port() -> u16 {
    // A cluster node also takes its port + 10,000.
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        if port < 55_000 {
            return port;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "polls the server itself")]
fn answers(process: &mut Child, port: u16) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        if !matches!(process.try_wait(), Ok(None)) {
            return false;
        }
        let client = redis::Client::open(format!("redis://127.0.0.1:{port}"));
        let pong = client
            .and_then(|client| client.get_connection())
            .and_then(|mut connection| redis::cmd("PING").query::<String>(&mut connection));
        if pong.is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
