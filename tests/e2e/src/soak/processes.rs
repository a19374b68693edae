//! The processes of a local stack's functions.

use std::fs;
use std::path::Path;

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
    let killed = std::process::Command::new("kill").args(["-9", &id.to_string()]).output();
    killed.is_ok_and(|output| output.status.success())
}
