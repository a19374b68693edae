//! The same sale on PostgreSQL: one row that says how many are left, and many
//! clients that want one each.

mod sale;
mod server;

use tokio::runtime::Runtime;

use crate::error::BenchError;
use crate::report::say;

pub(crate) use sale::{Sold, Way};
use server::PostgresServer;

/// What was measured.
pub(crate) struct Postgres {
    pub(crate) sales: Vec<Sold>,
}

impl Postgres {
    /// The most units sold a second, in whichever way.
    pub(crate) fn best(&self) -> Option<f64> {
        self.sales.iter().map(|sold| sold.per_second).max_by(f64::total_cmp)
    }
}

/// Measures; none where PostgreSQL can't be had.
pub(crate) fn measure(runtime: &Runtime) -> Result<Option<Postgres>, BenchError> {
    let Some(server) = PostgresServer::start()? else { return Ok(None) };
    say(&format!("PostgreSQL on port {}", server.port()));
    let mut sales = Vec::new();
    for clients in [50, 1_000] {
        for way in [Way::ForUpdate, Way::Optimistic] {
            sales.push(runtime.block_on(sale::run(&server, way, clients))?);
        }
    }
    Ok(Some(Postgres { sales }))
}
