//! The waiting room's settings and generation: pk `event#<event>`, sk `queue`.

use domain::{EventId, QueueSettings};

use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::{CatalogStore, key};
use crate::StoreError;
use crate::table::{ABSENT, Change, Guard, Item, Key, Written, decode, encode};

/// Only who read the version before may write the one after it.
const IS_VERSION_BEFORE: &str = "#version = :before";
/// The line is still the one the caller saw.
const IS_GENERATION: &str = "#generation = :seen";

/// What an edit replaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Details {
    #[serde(flatten)]
    settings: QueueSettings,
    version: u64,
}

fn queue_key(event: &EventId) -> Key {
    key(event, "queue")
}

fn queue_of(item: Item) -> Result<QueueRecord, StoreError> {
    #[derive(Deserialize)]
    struct Line {
        generation: u64,
    }
    let line: Line = decode("queue", item.clone())?;
    let details: Details = decode("queue", item)?;
    Ok(QueueRecord {
        settings: details.settings,
        version: details.version,
        generation: line.generation,
    })
}

/// What is durable of an event's waiting room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueRecord {
    /// As the operator set them.
    pub settings: QueueSettings,
    /// Starts at 1 and grows by one with each edit of the settings.
    pub version: u64,
    /// Which line it is, from 1: a reset or a loss begins a new one.
    pub generation: u64,
}

/// What an edit of the settings came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePut {
    /// It is so now.
    Stored(QueueRecord),
    /// Someone else edited them first; none: there are no settings yet.
    VersionMismatch(Option<QueueRecord>),
}

/// What beginning a new line came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerationRaised {
    /// This generation is the caller's own.
    Raised(u64),
    /// Another one raised it first (or there are no settings: 0).
    Lost(u64),
}

impl CatalogStore {
    /// Settings and generation; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn queue_fetch(&self, event: &EventId) -> Result<Option<QueueRecord>, StoreError> {
        let item = self.table.get(&queue_key(event), true).await?;
        item.map(queue_of).transpose()
    }

    /// Stores settings under `version`: 1 where there are none yet (the
    /// generation is 1 then), else the old version + 1. Repeating such an edit is
    /// `Stored` again; the first settings are stored once.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn queue_put(
        &self,
        event: &EventId,
        settings: &QueueSettings,
        version: u64,
    ) -> Result<QueuePut, StoreError> {
        let mut attributes = encode(&Details { settings: *settings, version })?;
        let first = (version <= 1).then(Attempt::new);
        if let Some(first) = first {
            attributes.extend(first.attributes()?);
        }
        let change = Change::set(attributes)
            .and(", #generation = if_not_exists(#generation, :first)")
            .value(":first", 1u64);
        let guard = match first {
            Some(_) => Guard::new(ABSENT),
            None => Guard::new(IS_VERSION_BEFORE).value(":before", version.saturating_sub(1)),
        };
        match self.table.update_if(&queue_key(event), &change, &guard).await? {
            Written::Done(item) => Ok(QueuePut::Stored(queue_of(item)?)),
            Written::Refused(None) => Ok(QueuePut::VersionMismatch(None)),
            Written::Refused(Some(present)) => {
                let created = first.map(|first| first.has_created(&present)).transpose()?;
                let present = queue_of(present)?;
                // The reply to our write was lost and the SDK sent it again.
                let is_same = present.settings == *settings && present.version == version;
                Ok(match is_same && created.unwrap_or(true) {
                    true => QueuePut::Stored(present),
                    false => QueuePut::VersionMismatch(Some(present)),
                })
            }
        }
    }

    /// Raises the generation by one where it still is `from`. A lost reply can
    /// make one's own raise look like another's: go on from what `Lost` says.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn queue_generation_raise(
        &self,
        event: &EventId,
        from: u64,
    ) -> Result<GenerationRaised, StoreError> {
        let raised = from.saturating_add(1);
        let change = Change::new("SET #generation = :raised").value(":raised", raised);
        let guard = Guard::new(IS_GENERATION).value(":seen", from);
        match self.table.update_if(&queue_key(event), &change, &guard).await? {
            Written::Done(_) => Ok(GenerationRaised::Raised(raised)),
            Written::Refused(None) => Ok(GenerationRaised::Lost(0)),
            Written::Refused(Some(present)) => {
                Ok(GenerationRaised::Lost(queue_of(present)?.generation))
            }
        }
    }
}
