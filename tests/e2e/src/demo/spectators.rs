//! Spectators: they watch the seat map from the first sale to the last, and note
//! when they saw each seat go.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contracts::live::SeatView;
use contracts::seats::SeatsBody;
use domain::{SectionId, UnitState};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::demo::chart::States;
use crate::demo::hall::{Hall, SEATS};
use crate::demo::ledger::Purchase;
use crate::error::ClientError;
use crate::watcher::{Told, Watcher};

/// What one spectator saw.
#[derive(Debug, Default)]
pub struct Sightings {
    gone_at: HashMap<(SectionId, usize), Instant>,
    known: States,
    /// Whether the map became what the store has.
    pub is_right: bool,
}

/// The spectators of a hall.
#[derive(Debug)]
pub struct Spectators {
    tasks: JoinSet<Sightings>,
    end: watch::Sender<Option<Arc<States>>>,
}

/// How long a map may lag behind the store after the last change.
const LAG: Duration = Duration::from_secs(15);

impl Spectators {
    /// So many come and begin to watch.
    ///
    /// # Errors
    /// When a connection is refused.
    pub async fn come(hall: &Hall, count: usize) -> Result<Self, ClientError> {
        let (end, _) = watch::channel(None);
        let mut tasks = JoinSet::new();
        let token = hall.sale.viewer_token().await?;
        for _ in 0..count {
            let connection = hall.sale.world.connect_live_politely(&token).await?;
            let watcher = hall.watch(connection, &[]).await?;
            tasks.spawn(spectate(watcher, end.subscribe()));
        }
        Ok(Self { tasks, end })
    }

    /// Shows them what the store has, gives them time to see the same, and asks
    /// what they saw.
    pub async fn ask(mut self, seats: &SeatsBody) -> Vec<Sightings> {
        let states = seats
            .sections
            .iter()
            .filter_map(|section| Some((section.section.clone(), section.unpack()?)))
            .collect();
        self.end.send_replace(Some(Arc::new(states)));
        let mut sightings = Vec::new();
        while let Some(seen) = self.tasks.join_next().await {
            sightings.push(seen.unwrap_or_default());
        }
        sightings
    }
}

async fn spectate(
    mut watcher: Watcher,
    mut end: watch::Receiver<Option<Arc<States>>>,
) -> Sightings {
    let mut sightings = Sightings::default();
    let broke = loop {
        sightings.note(watcher.view());
        tokio::select! {
            told = watcher.follow() => if told.is_err() { break true },
            // The sender lives until it has sent.
            _ = end.wait_for(Option::is_some) => break false,
        }
    };
    let Some(truth) = end.borrow().clone() else { return sightings };
    if !broke {
        let agree = async {
            while *watcher.view().seats() != *truth {
                match watcher.follow().await {
                    Ok(Told::Seats | Told::Order(_) | Told::Nothing) => {}
                    Err(_) => return std::future::pending().await,
                }
                sightings.note(watcher.view());
            }
        };
        tokio::time::timeout(LAG, agree).await.ok();
    }
    sightings.is_right = *watcher.view().seats() == *truth;
    watcher.end().await.ok();
    sightings
}

impl Sightings {
    /// Notes which seats have gone since the last look.
    fn note(&mut self, view: &SeatView) {
        let now = Instant::now();
        for (section, seats) in view.seats() {
            let known = self.known.entry(section.clone()).or_default();
            for (at, state) in seats.iter().enumerate() {
                let was_free = known.get(at).is_none_or(|state| *state == UnitState::Free);
                if was_free && *state != UnitState::Free {
                    self.gone_at.entry((section.clone(), at)).or_insert(now);
                }
            }
            known.clone_from(seats);
        }
    }

    /// When the last seat of a purchase was seen to go.
    fn saw(&self, hall: &Hall, purchase: &Purchase) -> Option<Instant> {
        let seats = purchase.units().iter().filter_map(|unit| {
            let label = unit.strip_prefix(SEATS)?.strip_prefix('/')?;
            hall.chart.place(label)
        });
        let seen: Option<Vec<Instant>> =
            seats.map(|place| self.gone_at.get(place).copied()).collect();
        seen?.into_iter().max()
    }
}

/// How long each sale of seats took to reach each spectator.
#[must_use]
pub fn hold_to_seat_map(hall: &Hall, sightings: &[Sightings]) -> Vec<Duration> {
    let purchases = hall.purchases();
    let pairs = purchases.iter().flat_map(|purchase| {
        let seen = sightings.iter().filter_map(|sightings| sightings.saw(hall, purchase));
        seen.map(|seen_at| seen_at.saturating_duration_since(purchase.sent_at))
    });
    pairs.collect()
}
