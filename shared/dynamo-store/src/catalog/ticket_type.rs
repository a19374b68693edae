//! Ticket types: pk `event#<event>`, sk `type#<type>`; and each type's index,
//! taken once: sk `index#<index>`.

use domain::{Currency, EventId, Money, TicketKind, TicketType, TicketTypeId};
use receipts::{Reason, Transacted, transact};
use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::{CatalogStore, Consistency, key, partition};
use crate::StoreError;
use crate::table::{ABSENT, Change, Guard, Item, Key, Written, decode, encode, no_item, step};

/// Only who read the version before may write the one after it, and serials that
/// were sold stay below the ceiling for ever.
pub(super) const IS_VERSION_BEFORE_AND_GROWS: &str = "#version = :before AND #ceiling <= :ceiling";

/// What an edit replaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Details {
    name: String,
    price: i64,
    currency: Currency,
    limit: Option<u32>,
    ceiling: u32,
    capacity: u32,
    version: u64,
}

/// What never changes; the partitions from the first inventory on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Shape {
    kind: TicketKind,
    index: u8,
    partitions: u32,
}

impl Details {
    pub(super) fn of(ticket_type: &TicketType) -> Self {
        Self {
            name: ticket_type.name.clone(),
            price: ticket_type.price.amount,
            currency: ticket_type.price.currency,
            limit: ticket_type.limit_per_customer,
            ceiling: ticket_type.ceiling,
            capacity: ticket_type.capacity,
            version: ticket_type.version,
        }
    }
}

const SORT_PREFIX: &str = "type#";

pub(super) fn type_key(event: &EventId, ticket_type: &TicketTypeId) -> Key {
    key(event, format!("{SORT_PREFIX}{ticket_type}"))
}

fn index_key(event: &EventId, index: u8) -> Key {
    key(event, format!("index#{index:03}"))
}

pub(super) fn type_of(item: Item) -> Result<TicketType, StoreError> {
    #[derive(Deserialize)]
    struct Id {
        sk: String,
    }
    let id: Id = decode("ticket type", item.clone())?;
    let details: Details = decode("ticket type", item.clone())?;
    let shape: Shape = decode("ticket type", item)?;
    let id = TicketTypeId::parse(id.sk.trim_start_matches(SORT_PREFIX))
        .map_err(|source| StoreError::corrupt("ticket type", source))?;
    Ok(TicketType {
        id,
        name: details.name,
        kind: shape.kind,
        price: Money { amount: details.price, currency: details.currency },
        limit_per_customer: details.limit,
        index: shape.index,
        ceiling: details.ceiling,
        capacity: details.capacity,
        partitions: shape.partitions,
        version: details.version,
    })
}

/// What creating a type came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketTypeCreated {
    /// It is there now, exactly so.
    Created,
    /// Another call put one under this id, perhaps just such a one.
    Exists(TicketType),
    /// Another type has the index: list the types again and take a free one.
    IndexTaken,
}

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketTypeUpdated {
    /// It is so now.
    Updated,
    /// Someone else edited it first; this is what stands there.
    VersionMismatch(TicketType),
    /// There is no such type.
    Missing,
}

impl CatalogStore {
    /// All types of an event, by index. Empty also for an unknown event.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn ticket_types_list(
        &self,
        event: &EventId,
        consistency: Consistency,
    ) -> Result<Vec<TicketType>, StoreError> {
        let strong = consistency.is_strong();
        let items = self.table.query(&partition(event), SORT_PREFIX, strong).await?;
        let mut types = items.into_iter().map(type_of).collect::<Result<Vec<_>, _>>()?;
        types.sort_by_key(|ticket_type| ticket_type.index);
        Ok(types)
    }

    /// One type; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn ticket_type_fetch(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
    ) -> Result<Option<TicketType>, StoreError> {
        let item = self.table.get(&type_key(event, ticket_type), true).await?;
        item.map(type_of).transpose()
    }

    /// Those of these types that exist, in this order; consistent, also with the event: who has
    /// read an epoch of it reads every type as the resizes before that epoch left it. (A
    /// transaction's items change one by one, and other reads may come in between.)
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt; [`StoreError::Contended`] where one of them is
    /// being changed all the time.
    pub async fn ticket_types_settled(
        &self,
        event: &EventId,
        types: &[TicketTypeId],
    ) -> Result<Vec<TicketType>, StoreError> {
        let keys: Vec<Key> = types.iter().map(|id| type_key(event, id)).collect();
        let items = self.table.get_settled(&keys).await?;
        items.into_iter().map(type_of).collect()
    }

    /// Puts a type (version 1) where there is none, and takes its index, both or
    /// neither. Of any number of calls, also with the same content, one is told
    /// `Created`.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn ticket_type_create(
        &self,
        event: &EventId,
        ticket_type: &TicketType,
    ) -> Result<TicketTypeCreated, StoreError> {
        let mut attributes = encode(&Details::of(ticket_type))?;
        attributes.extend(encode(&Shape {
            kind: ticket_type.kind,
            index: ticket_type.index,
            partitions: ticket_type.partitions,
        })?);
        let attempt = Attempt::new();
        attributes.extend(attempt.attributes()?);
        let item = type_key(event, &ticket_type.id).with(attributes);
        let index = index_key(event, ticket_type.index).to_item();
        let absent = Guard::new(ABSENT);
        let steps =
            vec![step::put(&self.table, item, &absent)?, step::put(&self.table, index, &absent)?];
        let (failures, error) = match transact(self.table.client(), steps).await? {
            Transacted::Done => return Ok(TicketTypeCreated::Created),
            Transacted::Cancelled { failures, error } => (failures, error),
        };
        let mut failures = failures.into_iter();
        match (failures.next(), failures.next()) {
            (Some(type_failure), _) if type_failure.reason == Reason::ConditionFailed => {
                let present = type_failure.present.ok_or_else(no_item)?;
                if attempt.has_created(&present)? {
                    return Ok(TicketTypeCreated::Created);
                }
                Ok(TicketTypeCreated::Exists(type_of(present)?))
            }
            (_, Some(index_failure)) if index_failure.reason == Reason::ConditionFailed => {
                Ok(TicketTypeCreated::IndexTaken)
            }
            _ => Err(error),
        }
    }

    /// Replaces name, price, limit, ceiling and capacity by those given, whose
    /// version is the old one + 1. Kind and index never change, nor `partitions` once
    /// there is an epoch: functions cache them, and a unit must be found where it was put. Nor does
    /// the ceiling ever sink (that is a `VersionMismatch` with what stands there).
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn ticket_type_update(
        &self,
        event: &EventId,
        ticket_type: &TicketType,
    ) -> Result<TicketTypeUpdated, StoreError> {
        let details = Details::of(ticket_type);
        let change = Change::set(encode(&details)?);
        let guard = Guard::new(IS_VERSION_BEFORE_AND_GROWS)
            .value(":before", ticket_type.version.saturating_sub(1));
        let key = type_key(event, &ticket_type.id);
        match self.table.update_if(&key, &change, &guard).await? {
            Written::Done(_) => Ok(TicketTypeUpdated::Updated),
            Written::Refused(None) => Ok(TicketTypeUpdated::Missing),
            Written::Refused(Some(present)) => {
                let present = type_of(present)?;
                // The same: the reply to our write was lost and the SDK sent it again.
                let ours = Details::of(&present) == details;
                Ok(match ours {
                    true => TicketTypeUpdated::Updated,
                    false => TicketTypeUpdated::VersionMismatch(present),
                })
            }
        }
    }
}
