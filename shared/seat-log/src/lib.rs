//! What changed on an event's seat map, read off its log in Redis and named as
//! clients know it.
//!
//! Sections and types come from the catalogue and are kept: the immutable part
//! of a hall is read once per function instance, and again when the log tells of
//! something that is not in it yet.
//!
//! **Architecture invariant:** a stretch of the log is told by the last state of
//! each unit in it, so what is said is as large as the hall at most, however
//! much happened.

mod hall;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use contracts::seats::SeatChangesBody;
use domain::{Epoch, EventId, LogPosition, SectionId};
use dynamo_store::{CatalogStore, Consistency, StoreError};
use hall::{Hall, Stretch};
use jiff::Timestamp;
use redis_store::{Changes, Inventory, Pointer, RedisStoreError};

/// Entries of the log that one script call reads.
const ENTRIES_PER_CALL: u32 = 1_000;
/// A call that brings as many may have given back as many lapsed holds as it
/// does at once, and left others.
const MANY: usize = 200;
/// Who is this many calls behind takes a snapshot: it is smaller than the log.
const MOST_CALLS: u32 = 30;
/// Halls that are kept at once.
const MOST_HALLS: usize = 200;

/// Why the log can't be read now. Repeating is safe.
#[derive(Debug, thiserror::Error)]
pub enum SeatLogError {
    /// Redis failed.
    #[error("the log can't be read")]
    Log(#[from] RedisStoreError),
    /// DynamoDB failed.
    #[error("the hall can't be read")]
    Hall(#[from] StoreError),
}

/// What the log says after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Silence,
    /// This.
    Changes(SeatChangesBody),
    /// The position is of another log or too old, or none was given, or what came
    /// after it has no name; the log stands here. Only a snapshot tells the rest.
    Lost(LogPosition),
    /// There is no inventory now: before the first sale, or in a recovery.
    NoInventory,
}

/// The logs of all events.
#[derive(Debug)]
pub struct SeatLog {
    inventory: Inventory,
    catalog: CatalogStore,
    halls: Mutex<HashMap<EventId, Arc<Hall>>>,
}

impl SeatLog {
    /// The logs in this inventory, of the events in this catalogue.
    #[must_use]
    pub fn new(inventory: Inventory, catalog: CatalogStore) -> Self {
        Self { inventory, catalog, halls: Mutex::new(HashMap::new()) }
    }

    /// What happened after a position (none: from nowhere). Lapsed holds are
    /// given back first, so that they are heard of, too.
    ///
    /// # Errors
    /// When Redis or DynamoDB fails.
    pub async fn since(
        &self,
        event: &EventId,
        after: Option<LogPosition>,
        now: Timestamp,
    ) -> Result<Heard, SeatLogError> {
        let Some(Pointer::Active(epoch)) = self.inventory.pointer(event).await? else {
            return Ok(Heard::NoInventory);
        };
        let Some(after) = after else { return self.lost(event, epoch).await };
        match self.read(event, epoch, after).await? {
            Read::To(to, _) if to == after => Ok(Heard::Silence),
            Read::To(to, stretch) => {
                let body = self.body(event, epoch, after, to, &stretch, now).await?;
                // Who is told `to` never asks for what was left out: nothing may be.
                Ok(body.map_or(Heard::Lost(to), Heard::Changes))
            }
            Read::Lost(position) => Ok(Heard::Lost(position)),
            Read::TooMuch => self.lost(event, epoch).await,
            Read::NoInventory => Ok(Heard::NoInventory),
        }
    }

    /// Where an event's map stands while there is no inventory.
    ///
    /// # Errors
    /// When DynamoDB fails.
    pub async fn before_the_first_sale(&self, event: &EventId) -> Result<LogPosition, StoreError> {
        let types = self.catalog.ticket_types_list(event, Consistency::Eventual).await?;
        Ok(LogPosition::before_the_first_sale(&types))
    }

    /// Which of these sections (by their places in the list) the event's seat map
    /// does not have. One that was added within the last second may be among them.
    ///
    /// # Errors
    /// When DynamoDB fails.
    pub async fn unknown_sections(
        &self,
        event: &EventId,
        sections: &[SectionId],
        now: Timestamp,
    ) -> Result<Vec<usize>, StoreError> {
        if sections.is_empty() {
            return Ok(Vec::new());
        }
        let has_all = |hall: &Hall| sections.iter().all(|section| hall.has_section(section));
        let hall = match self.kept(event) {
            Some(hall) if has_all(&hall) || hall.is_fresh(now) => hall,
            Some(_) | None => self.keep(event, self.read_hall(event, now).await?),
        };
        let unknown = sections.iter().enumerate().filter(|(_, id)| !hall.has_section(id));
        Ok(unknown.map(|(at, _)| at).collect())
    }

    async fn lost(&self, event: &EventId, epoch: Epoch) -> Result<Heard, SeatLogError> {
        let snapshot = self.inventory.seat_states(event, epoch, &[]).await?;
        Ok(snapshot.map_or(Heard::NoInventory, |snapshot| Heard::Lost(snapshot.position)))
    }

    async fn read(
        &self,
        event: &EventId,
        epoch: Epoch,
        after: LogPosition,
    ) -> Result<Read, SeatLogError> {
        let mut stretch = Stretch::default();
        let mut position = after;
        let mut is_behind = false;
        for _ in 0..MOST_CALLS {
            match self.inventory.changes(event, epoch, position, ENTRIES_PER_CALL).await? {
                Changes::Entries { to, units, counts, more } => {
                    stretch.extend(&units, &counts);
                    (position, is_behind) = (to, more);
                    if !more && units.len() < MANY {
                        return Ok(Read::To(position, stretch));
                    }
                }
                Changes::Gap { now } => return Ok(Read::Lost(now)),
                Changes::Unavailable => return Ok(Read::NoInventory),
            }
        }
        Ok(if is_behind { Read::TooMuch } else { Read::To(position, stretch) })
    }

    /// The stretch in the catalogue's names; none: the catalogue has not all of it.
    async fn body(
        &self,
        event: &EventId,
        epoch: Epoch,
        after: LogPosition,
        to: LogPosition,
        stretch: &Stretch,
        now: Timestamp,
    ) -> Result<Option<SeatChangesBody>, SeatLogError> {
        let Some(hall) = self.hall_with(event, stretch, now).await? else { return Ok(None) };
        let counts = self.inventory.counts(event, epoch).await?.unwrap_or_default();
        Ok(Some(SeatChangesBody {
            event: event.clone(),
            epoch: to.epoch,
            from: after.sequence,
            to: to.sequence,
            sections: hall.sections(stretch),
            ticket_types: hall.remaining(stretch, counts),
        }))
    }

    /// The hall with every unit of a stretch. A section is in the catalogue before
    /// its seats are in Redis, so a hall that is read after the log has them all.
    /// None: the catalogue lost some. That is remembered for a moment, lest
    /// everyone who is behind it reads the catalogue in vain.
    async fn hall_with(
        &self,
        event: &EventId,
        stretch: &Stretch,
        now: Timestamp,
    ) -> Result<Option<Arc<Hall>>, StoreError> {
        if let Some(hall) = self.kept(event) {
            if hall.knows(stretch) {
                return Ok(Some(hall));
            }
            if hall.is_vain && hall.is_fresh(now) {
                return Ok(None);
            }
        }
        let mut hall = self.read_hall(event, now).await?;
        hall.is_vain = !hall.knows(stretch);
        let hall = self.keep(event, hall);
        Ok((!hall.is_vain).then_some(hall))
    }

    async fn read_hall(&self, event: &EventId, now: Timestamp) -> Result<Hall, StoreError> {
        let types = self.catalog.ticket_types_list(event, Consistency::Strong).await?;
        let sections = self.catalog.sections_list(event, Consistency::Strong).await?;
        Ok(Hall::new(&types, &sections, now))
    }

    fn kept(&self, event: &EventId) -> Option<Arc<Hall>> {
        self.halls().get(event).cloned()
    }

    fn keep(&self, event: &EventId, hall: Hall) -> Arc<Hall> {
        let hall = Arc::new(hall);
        let mut halls = self.halls();
        if halls.len() >= MOST_HALLS {
            halls.clear();
        }
        halls.insert(event.clone(), Arc::clone(&hall));
        hall
    }

    fn halls(&self) -> std::sync::MutexGuard<'_, HashMap<EventId, Arc<Hall>>> {
        self.halls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far the log was read.
enum Read {
    /// Up to its end, which is here.
    To(LogPosition, Stretch),
    /// Not at all: it stands here, and what led there is gone.
    Lost(LogPosition),
    /// It has more than anyone should be told.
    TooMuch,
    NoInventory,
}
