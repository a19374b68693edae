//! The event's own item: pk `event#<event>`, sk `event`.

use domain::{Currency, Epoch, Event, EventId, SaleSwitch, SaleWindow, Venue};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::{CatalogStore, Consistency, key};
use crate::StoreError;
use crate::table::{ABSENT, Change, Guard, Item, Key, Written, decode, encode, no_item};

/// Only who read the version before may write the one after it.
pub(super) const IS_VERSION_BEFORE: &str = "#version = :before";
/// The epoch is still the one the caller saw.
const IS_EPOCH: &str = "#epoch = :seen";
/// So is whether it ever sold: who read that it did not may not begin anew once it does.
const IS_AS_SEEN: &str = "#epoch = :seen AND #activated = :activated";

/// What an edit replaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Details {
    title: String,
    venue: String,
    city: String,
    time_zone: String,
    starts_at: Timestamp,
    opens_at: Timestamp,
    closes_at: Timestamp,
    currency: Currency,
    limit: Option<u32>,
    switch: SaleSwitch,
    version: u64,
}

/// What only the building of inventories writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Inventory {
    epoch: Epoch,
    activated: bool,
}

impl Details {
    pub(super) fn of(event: &Event) -> Self {
        Self {
            title: event.title.clone(),
            venue: event.venue.name.clone(),
            city: event.venue.city.clone(),
            time_zone: event.time_zone.clone(),
            starts_at: event.starts_at,
            opens_at: event.window.opens_at,
            closes_at: event.window.closes_at,
            currency: event.currency,
            limit: event.limit_per_customer,
            switch: event.switch,
            version: event.version,
        }
    }
}

pub(super) fn event_key(event: &EventId) -> Key {
    key(event, "event")
}

fn event_of(id: &EventId, item: Item) -> Result<Event, StoreError> {
    let details: Details = decode("event", item.clone())?;
    let inventory: Inventory = decode("event", item)?;
    Ok(Event {
        id: id.clone(),
        title: details.title,
        venue: Venue { name: details.venue, city: details.city },
        time_zone: details.time_zone,
        starts_at: details.starts_at,
        window: SaleWindow { opens_at: details.opens_at, closes_at: details.closes_at },
        currency: details.currency,
        limit_per_customer: details.limit,
        switch: details.switch,
        version: details.version,
        epoch: inventory.epoch,
        activated: inventory.activated,
    })
}

/// What creating an event came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventCreated {
    /// It is there now, exactly so.
    Created,
    /// Another call put one under this id, perhaps just such a one.
    Exists(Event),
}

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventUpdated {
    /// It is so now.
    Updated,
    /// Someone else edited it first; this is what stands there.
    VersionMismatch(Event),
    /// There is no such event.
    Missing,
}

/// What raising the epoch came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochRaised {
    /// This epoch is the caller's own.
    Raised(Epoch),
    /// It is not as it was read; this is the epoch now.
    Lost(Epoch),
    /// There is no such event.
    Missing,
}

/// What marking an event's inventory as active came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventActivated {
    /// It is marked.
    Activated,
    /// A newer epoch was begun, or there is no such event.
    Superseded,
}

impl CatalogStore {
    /// The event.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn event_fetch(
        &self,
        event: &EventId,
        consistency: Consistency,
    ) -> Result<Option<Event>, StoreError> {
        let item = self.table.get(&event_key(event), consistency.is_strong()).await?;
        item.map(|item| event_of(event, item)).transpose()
    }

    /// Puts an event (version 1) where there is none. Of any number of calls, also
    /// with the same content, one is told `Created`.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn event_create(&self, event: &Event) -> Result<EventCreated, StoreError> {
        let mut attributes = encode(&Details::of(event))?;
        attributes.extend(encode(&Inventory { epoch: event.epoch, activated: event.activated })?);
        let attempt = Attempt::new();
        attributes.extend(attempt.attributes()?);
        let item = event_key(&event.id).with(attributes);
        match self.table.put_if(item, &Guard::new(ABSENT)).await? {
            Written::Done(_) => Ok(EventCreated::Created),
            Written::Refused(present) => {
                let present = present.ok_or_else(no_item)?;
                // The reply to our write was lost and the SDK sent it again.
                if attempt.has_created(&present)? {
                    return Ok(EventCreated::Created);
                }
                Ok(EventCreated::Exists(event_of(&event.id, present)?))
            }
        }
    }

    /// Replaces details and sale switch by those of `event`, whose version is
    /// the old one + 1. Epoch and activation are left as they are: an edit must
    /// never undo what a recovery wrote.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn event_update(&self, event: &Event) -> Result<EventUpdated, StoreError> {
        let details = Details::of(event);
        let change = Change::set(encode(&details)?);
        let guard = Guard::new(IS_VERSION_BEFORE).value(":before", event.version.saturating_sub(1));
        match self.table.update_if(&event_key(&event.id), &change, &guard).await? {
            Written::Done(_) => Ok(EventUpdated::Updated),
            Written::Refused(None) => Ok(EventUpdated::Missing),
            Written::Refused(Some(present)) => {
                let present = event_of(&event.id, present)?;
                // The same: the reply to our write was lost and the SDK sent it again.
                let ours = Details::of(&present) == details;
                Ok(if ours {
                    EventUpdated::Updated
                } else {
                    EventUpdated::VersionMismatch(present)
                })
            }
        }
    }

    /// Raises the epoch by one where epoch and activation still are as they were
    /// read: each build of an inventory gets an epoch of its own, and none begins on
    /// the word of somebody who saw no sale and was slow. A lost reply can make one's
    /// own raise look like another's (`Lost`): that costs an epoch number, no more.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn epoch_raise(&self, event: &Event) -> Result<EpochRaised, StoreError> {
        let raised = Epoch(event.epoch.0.saturating_add(1));
        let change = Change::new("SET #epoch = :raised").value(":raised", raised.0);
        let as_seen = Guard::new(IS_AS_SEEN)
            .value(":seen", event.epoch.0)
            .value(":activated", event.activated);
        match self.table.update_if(&event_key(&event.id), &change, &as_seen).await? {
            Written::Done(_) => Ok(EpochRaised::Raised(raised)),
            Written::Refused(None) => Ok(EpochRaised::Missing),
            Written::Refused(Some(present)) => {
                Ok(EpochRaised::Lost(event_of(&event.id, present)?.epoch))
            }
        }
    }

    /// Records that an inventory was activated, while `epoch` is still the highest.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn event_activate(
        &self,
        event: &EventId,
        epoch: Epoch,
    ) -> Result<EventActivated, StoreError> {
        let change = Change::new("SET #activated = :yes").value(":yes", true);
        let guard = Guard::new(IS_EPOCH).value(":seen", epoch.0);
        match self.table.update_if(&event_key(event), &change, &guard).await? {
            Written::Done(_) => Ok(EventActivated::Activated),
            Written::Refused(_) => Ok(EventActivated::Superseded),
        }
    }
}
