//! Lines: beginning one where Redis has none, and the settings they run with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contracts::problem::Reason;
use domain::{CustomerKey, EventId, Place, QueueSettings, SessionId, is_fresh};
use dynamo_store::{CatalogStore, Consistency, GenerationRaised, QueuePut, QueueRecord};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::http::Failure;
use redis_store::{Inventory, Joining, LineSettings, WaitingRoom};
use store_failures::OrFail;

/// Pauses while somebody else may be beginning the line; none after beginning it
/// oneself.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
];

/// How long settings are good for estimates.
const SETTINGS_LIFE: SignedDuration = SignedDuration::from_secs(5);
/// More events than one environment serves in its life; beyond it, it forgets
/// all and begins anew.
const MOST_EVENTS: usize = 1_000;

/// Somebody is beginning the line, and takes long.
#[derive(Debug, thiserror::Error)]
#[error("the line is being begun")]
struct BeingBegun;

type Known = HashMap<EventId, (QueueSettings, Timestamp)>;

/// The lines of all events.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    pub(crate) room: WaitingRoom,
    /// Where sessions are ended.
    pub(crate) inventory: Inventory,
    catalog: CatalogStore,
    known: Arc<Mutex<Known>>,
}

impl Lines {
    pub(crate) fn new(room: WaitingRoom, inventory: Inventory, catalog: CatalogStore) -> Self {
        Self { room, inventory, catalog, known: Arc::default() }
    }

    /// A place in the event's line, and whether it is new. Where Redis has no
    /// line it is begun; an event that does not exist uses up nothing. A session
    /// that just ran out is ended at the till before a new number is given: the
    /// till's clock may be behind, and take its token for a good one.
    pub(crate) async fn join(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<(Place, bool), Failure> {
        let mut ended: Option<(SessionId, Timestamp)> = None;
        for pause in PAUSES {
            let until_now = ended.as_ref().map(|(id, until)| (id, *until));
            match self.room.join(event, customer, until_now).await.or_fail()? {
                Joining::Place { place, is_new } => return Ok((place, is_new)),
                Joining::Session { id, until } => {
                    self.inventory.session_end(event, customer, &id, until).await.or_fail()?;
                    ended = Some((id, until));
                }
                Joining::NoLine => {
                    self.begin(event).await?;
                    tokio::time::sleep(pause).await;
                }
            }
        }
        Err(Failure::unavailable(BeingBegun))
    }

    /// Begins the event's line in Redis, the first one or the next after a loss,
    /// unless another begins it in the same moment.
    ///
    /// A generation is begun only by whoever raised the durable one to it, and
    /// only where no line is: so no line is begun over another, and no number is
    /// given twice. Who dies in between costs a generation, not a line.
    async fn begin(&self, event: &EventId) -> Result<(), Failure> {
        let record = self.record_or_default(event).await?;
        let raised = self.catalog.queue_generation_raise(event, record.generation).await;
        match raised.or_fail()? {
            GenerationRaised::Raised(generation) => {
                self.configure(event, &record, generation).await
            }
            GenerationRaised::Lost(_) => Ok(()),
        }
    }

    /// Lets the line run with these settings, unless it has newer ones; where there
    /// is no line, one is begun with them.
    ///
    /// Whoever else begins it may have read its settings before these were stored,
    /// and may be slow. So it is not enough that another was faster: only a line that
    /// is there and has these settings keeps older ones from coming after.
    pub(crate) async fn apply(&self, event: &EventId, record: &QueueRecord) -> Result<(), Failure> {
        for pause in PAUSES {
            if let Some(line) = self.room.status(event).await.or_fail()? {
                return self.configure(event, record, line.generation).await;
            }
            self.begin(event).await?;
            tokio::time::sleep(pause).await;
        }
        Err(Failure::unavailable(BeingBegun))
    }

    async fn configure(
        &self,
        event: &EventId,
        record: &QueueRecord,
        generation: u64,
    ) -> Result<(), Failure> {
        let QueueRecord { settings, version, .. } = *record;
        let line = LineSettings { settings, version, generation };
        self.room.configure(event, &line).await.map(|_| ()).or_fail()
    }

    async fn record_or_default(&self, event: &EventId) -> Result<QueueRecord, Failure> {
        if let Some(record) = self.catalog.queue_fetch(event).await.or_fail()? {
            return Ok(record);
        }
        let there = self.catalog.event_fetch(event, Consistency::Strong).await;
        there.or_fail()?.ok_or_else(|| Failure::new(Reason::NotFound))?;
        let put = self.catalog.queue_put(event, &QueueSettings::default(), 1).await;
        match put.or_fail()? {
            QueuePut::Stored(record) | QueuePut::VersionMismatch(Some(record)) => Ok(record),
            QueuePut::VersionMismatch(None) => Err(Failure::unavailable(BeingBegun)),
        }
    }

    /// The settings that estimates are made with; a few seconds old at most.
    pub(crate) async fn settings(
        &self,
        event: &EventId,
        now: Timestamp,
    ) -> Result<QueueSettings, Failure> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(event).copied();
        if let Some((settings, read_at)) = known
            && is_fresh(read_at, now, SETTINGS_LIFE)
        {
            return Ok(settings);
        }
        let line = self.room.status(event).await.or_fail()?;
        let settings = line.map_or_else(QueueSettings::default, |line| line.settings);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_EVENTS {
            known.clear();
        }
        known.insert(event.clone(), (settings, now));
        Ok(settings)
    }
}
