//! The processes of a local stack's functions.

use std::fs;
use std::path::Path;

use crate::stack::Stack;

/// The process ids of a function's environments on the stack at this endpoint.
/// Found by the variables that its emulator gave them, so that nobody else's are.
#[must_use]
pub fn of_function(endpoint: &str, function: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| is_of(*id, endpoint, function)).collect()
}

fn is_of(id: u32, endpoint: &str, function: &str) -> bool {
    let Ok(variables) = fs::read(Path::new("/proc").join(id.to_string()).join("environ")) else {
        return false;
    };
    let variables = String::from_utf8_lossy(&variables);
    let value = |name: &str| {
        variables.split('\0').find_map(|variable| variable.strip_prefix(name)?.strip_prefix('='))
    };
    value("AWS_ENDPOINT_URL") == Some(endpoint)
        && value("AWS_LAMBDA_FUNCTION_NAME").is_some_and(|name| name.contains(function))
}

/// Ends a process at once, as a machine that goes dark does; whether it was there.
#[must_use]
pub fn kill(id: u32) -> bool {
    signal("-KILL", id)
}

/// A process that stands still, for as long as this is kept.
#[derive(Debug)]
pub struct Stopped(u32);

impl Stopped {
    /// Stops the emulator of the local stack; none: it could not be found.
    #[must_use]
    pub fn emulator() -> Option<Self> {
        let file = Stack::faults_file().with_file_name("emulator.pid");
        let id = fs::read_to_string(file).ok()?.split_whitespace().next()?.parse().ok()?;
        signal("-STOP", id).then_some(Self(id))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal("-CONT", self.0);
    }
}

fn signal(signal: &str, id: u32) -> bool {
    let sent = std::process::Command::new("kill").args([signal, &id.to_string()]).output();
    sent.is_ok_and(|output| output.status.success())
}
