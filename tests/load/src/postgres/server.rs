//! A PostgreSQL of the benchmark's own: as installed, on a free port, as a user
//! that is not root (it refuses to run as root).

use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::error::BenchError;

const CLIENTS: u32 = 1_100;

/// A running server.
pub(crate) struct PostgresServer {
    process: Child,
    port: u16,
    programs: PathBuf,
    folder: TempDir,
}

impl PostgresServer {
    /// Starts one; none where it is not installed.
    pub(crate) fn start() -> Result<Option<Self>, BenchError> {
        let Some(programs) = programs() else { return Ok(None) };
        let folder = tempfile::tempdir()?;
        if let Some([user, _]) = account().filter(|_| is_root()) {
            let chown = Command::new("chown").arg(user).arg(folder.path()).status()?;
            if !chown.success() {
                return Err(BenchError::Tool("chown"));
            }
        }
        let initialised = unprivileged(&programs.join("initdb"))
            .args(["--username=bench", "--auth=trust", "--encoding=UTF8", "--pgdata"])
            .arg(data(&folder))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !initialised.success() {
            return Err(BenchError::Tool("initdb"));
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let process = unprivileged(&programs.join("postgres"))
            .arg("-D")
            .arg(data(&folder))
            .args(["-p", &port.to_string(), "-c", &format!("max_connections={CLIENTS}")])
            .args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut server = Self { process, port, programs, folder };
        server.answers().then_some(server).ok_or(BenchError::Tool("postgres")).map(Some)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://bench@127.0.0.1:{}/postgres", self.port)
    }

    #[expect(clippy::disallowed_methods, reason = "polls the server itself")]
    fn answers(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
            let ready = Command::new(self.programs.join("pg_isready"))
                .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                .status();
            if ready.is_ok_and(|status| status.success()) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // Its clients' processes end with it, which a bare kill would leave to them.
        let _ = unprivileged(&self.programs.join("pg_ctl"))
            .args(["stop", "-m", "immediate", "-D"])
            .arg(data(&self.folder))
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn data(folder: &TempDir) -> PathBuf {
    folder.path().join("data")
}

/// Where the programs are: Debian keeps them out of the path, by version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut places: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    places.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_all = |place: &PathBuf| {
        let needed = ["initdb", "pg_ctl", "pg_isready", "postgres"];
        needed.iter().all(|program| place.join(program).exists())
    };
    places.into_iter().rev().chain(std::env::split_paths(&path)).find(has_all)
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

/// User and group of the account that the system's package made, or of one that
/// can do nothing.
fn account() -> Option<[String; 2]> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let of = |name: &str| {
        let mut fields = accounts.lines().find(|line| line.starts_with(name))?.split(':').skip(2);
        Some([fields.next()?.to_owned(), fields.next()?.to_owned()])
    };
    of("postgres:").or_else(|| of("nobody:"))
}

fn unprivileged(program: &Path) -> Command {
    let Some([user, group]) = account().filter(|_| is_root()) else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &user, "--regid", &group, "--clear-groups"]).arg(program);
    command
}
