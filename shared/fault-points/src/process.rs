//! What happens at the points of a whole process: for functions that run on the
//! local stack.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, fs, process};

use crate::Point;

const VARIABLE: &str = "ONSALE_FAULTS";
/// How often a process that is stopped looks whether it may go on.
const LOOK: Duration = Duration::from_millis(20);

/// The variable is read once: in a process without it a point costs nothing.
fn orders() -> Option<&'static Path> {
    static ORDERS: OnceLock<Option<PathBuf>> = OnceLock::new();
    ORDERS.get_or_init(|| env::var_os(VARIABLE).map(PathBuf::from)).as_deref()
}

pub(crate) async fn reached(point: Point) {
    let Some(orders) = orders() else { return };
    match fault_of(orders, point).as_deref() {
        Some("kill") => {
            announce(orders);
            process::abort();
        }
        Some("stop") => {
            announce(orders);
            while fault_of(orders, point).is_some() {
                tokio::time::sleep(LOOK).await;
            }
        }
        _ => {}
    }
}

fn fault_of(orders: &Path, point: Point) -> Option<String> {
    let text = fs::read_to_string(orders).ok()?;
    let fault = text.lines().find_map(|line| line.strip_prefix(point.name())?.strip_prefix(' '));
    fault.map(|fault| fault.trim().to_owned())
}

/// A test that waits for the file would wait in vain: nothing else can be done here.
fn announce(orders: &Path) {
    let mut file = orders.as_os_str().to_owned();
    file.push(".reached");
    let _ = fs::write(file, process::id().to_string());
}
