//! What the whole crowd shares: the event, the cache in front of it, and the
//! ledger that everybody writes into.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contracts::catalog::SeatMapBody;
use contracts::queue::QueueStatusBody;
use contracts::seats::SeatsBody;
use domain::{QueueSettings, SectionId};

use crate::demo::chart::Chart;
use crate::demo::ledger::{Outcome, Purchase};
use crate::demo::options::Options;
use crate::demo::persona::LIMIT_PER_FAN;
use crate::demo::progress::Tally;
use crate::edge::Edge;
use crate::error::ClientError;
use crate::http::HttpApi;
use crate::live::LiveConnection;
use crate::plan::Plan;
use crate::sale::Sale;
use crate::watcher::{Source, Watcher};
use crate::world::World;

/// The name of the numbered seats' type.
pub const SEATS: &str = "seats";
/// The name of the standing places' type.
pub const STANDING: &str = "standing";

/// Short, so that a demo shows what happens to those who don't come; longer than
/// a crowd of that size is told to wait before it asks again.
fn grace_seconds(fans: u32) -> u32 {
    6 + fans / 1_000
}

const LINE_AT_ONCE: usize = 8;

/// The event and all that its crowd shares.
#[derive(Debug)]
pub struct Hall {
    /// The event.
    pub sale: Sale,
    /// The cache in front of it.
    pub edge: Arc<Edge>,
    /// Where fans stand in line: a way of its own, so that a crowd outside does
    /// not slow down those who are in.
    pub line: HttpApi,
    /// How long a called fan has to enter.
    pub grace: Duration,
    /// Who is where.
    pub tally: Tally,
    /// Which seats stand side by side.
    pub chart: Chart,
    purchases: Mutex<Vec<Purchase>>,
}

/// A purchase in the ledger.
#[derive(Debug, Clone, Copy)]
pub struct Entry(usize);

impl Hall {
    /// Sets an event up as the options say, on sale at once.
    ///
    /// # Errors
    /// When anything of it is refused.
    pub async fn build(world: &World, options: &Options) -> Result<Self, ClientError> {
        let settings = QueueSettings {
            cap: options.cap,
            grace_seconds: grace_seconds(options.fans),
            ..QueueSettings::default()
        };
        let mut plan =
            Plan::new().titled("五月天 Mayday: the demo").limit(LIMIT_PER_FAN).queue(settings);
        for (section, rows) in sections(options.seats) {
            plan = plan.section_of_rows(SEATS, section, &rows);
        }
        if options.standing > 0 {
            plan = plan.standing(STANDING, options.standing);
        }
        let sale = plan.set_up(world).await?;
        let map: SeatMapBody = sale.world.api.get(&sale.path("/seat-map")).read().await?;
        Ok(Self {
            edge: Arc::new(Edge::new(world.api.clone())),
            line: world.api.lane(LINE_AT_ONCE),
            chart: Chart::of(&map),
            sale,
            grace: Duration::from_secs(grace_seconds(options.fans).into()),
            tally: Tally::default(),
            purchases: Mutex::default(),
        })
    }

    /// The public status of the line, as the edge has it.
    ///
    /// # Errors
    /// When it can't be had.
    pub async fn queue(&self) -> Result<QueueStatusBody, ClientError> {
        self.edge.read(&self.sale.path("/queue")).await
    }

    /// The seats and what remains, as the edge has it.
    ///
    /// # Errors
    /// When it can't be had.
    pub async fn seats(&self) -> Result<SeatsBody, ClientError> {
        self.edge.read(&self.sale.path("/seats")).await
    }

    /// Watches these sections over an open connection (none: all of it), and
    /// fetches the seats from the edge.
    ///
    /// # Errors
    /// When the subscription fails.
    pub async fn watch(
        &self,
        connection: LiveConnection,
        sections: &[SectionId],
    ) -> Result<Watcher, ClientError> {
        let source = Source::Edge(Arc::clone(&self.edge));
        Watcher::begin(source, connection, &self.sale.event, sections).await
    }

    /// Enters a purchase into the ledger. It counts as it is until it is ended
    /// otherwise.
    pub fn enter(&self, purchase: Purchase) -> Entry {
        let mut purchases = self.purchases.lock().unwrap_or_else(PoisonError::into_inner);
        purchases.push(purchase);
        Entry(purchases.len() - 1)
    }

    /// Says how a purchase ended.
    pub fn end(&self, entry: Entry, outcome: Outcome) {
        let mut purchases = self.purchases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(purchase) = purchases.get_mut(entry.0) {
            purchase.outcome = outcome;
        }
    }

    /// The ledger.
    #[must_use]
    pub fn purchases(&self) -> Vec<Purchase> {
        self.purchases.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

const SEATS_IN_A_ROW: u32 = 20;

/// Splits so many seats into three sections of rows.
fn sections(seats: u32) -> Vec<(&'static str, Vec<u32>)> {
    let names = ["A", "B", "C"];
    let each = |at: u32| seats / 3 + u32::from(at < seats % 3);
    let split = (0..3).zip(names).map(|(at, name)| (name, rows(each(at))));
    split.filter(|(_, rows)| !rows.is_empty()).collect()
}

fn rows(seats: u32) -> Vec<u32> {
    let mut rows = vec![SEATS_IN_A_ROW; (seats / SEATS_IN_A_ROW) as usize];
    rows.extend(Some(seats % SEATS_IN_A_ROW).filter(|&rest| rest > 0));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seat_is_in_one_of_three_sections() {
        for seats in [0, 1, 2, 3, 19, 61, 400, 10_000] {
            let sections = sections(seats);
            let total: u32 = sections.iter().flat_map(|(_, rows)| rows).sum();
            assert_eq!(total, seats);
            assert_eq!(sections.len(), seats.min(3) as usize);
        }
        let hall = sections(400);
        assert_eq!(hall[0], ("A", vec![20, 20, 20, 20, 20, 20, 14]));
    }
}
