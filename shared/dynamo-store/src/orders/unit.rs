//! Units: pk `<event>#<type>#<partition>`, sk the seat or the serial. One item
//! per owned unit; no item: it is free.

use std::collections::BTreeMap;

use domain::{CustomerId, EventId, OrderId, SeatLabel, TicketType, TicketTypeId, UnitId};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::partition_of;
use futures::future::try_join_all;
use serde::Deserialize;

use super::OrderStore;
use crate::StoreError;
use crate::table::{Item, Key, decode};

/// Reading more at once would not be quicker from one function.
const PARTITIONS_AT_ONCE: usize = 16;

/// A unit is freed only on behalf of the order that owns it.
pub(super) const IS_OWNED_BY: &str = "#order = :order";

/// Where a unit's item lies.
#[derive(Debug, Clone)]
pub(super) struct UnitKey(pub(super) Key);

impl UnitKey {
    pub(super) fn of(
        event: &EventId,
        ticket_type: &TicketTypeId,
        unit: &UnitId,
        partitions: &PartitionCounts,
    ) -> Result<Self, StoreError> {
        let partition = partition_of(unit, partitions.known(ticket_type)?);
        // Ten digits hold every serial: sorted as text they are sorted as numbers.
        let sort = match unit {
            UnitId::Serial(serial) => format!("{serial:010}"),
            UnitId::Seat(label) => label.to_string(),
        };
        Ok(Self(Key::new(partition_key(event, ticket_type, partition), sort)))
    }
}

fn partition_key(event: &EventId, ticket_type: &TicketTypeId, partition: u32) -> String {
    format!("{event}#{ticket_type}#{partition}")
}

pub(super) fn unit_item(key: &UnitKey, order: &OrderId, customer: &CustomerId) -> Item {
    key.0.with(Item::from([
        ("order".to_owned(), AttributeValue::S(order.to_string())),
        ("customer".to_owned(), AttributeValue::S(customer.to_string())),
    ]))
}

pub(super) fn owner_of(item: Item) -> Result<UnitOwner, StoreError> {
    #[derive(Deserialize)]
    struct Record {
        order: OrderId,
        customer: CustomerId,
    }
    let Record { order, customer } = decode("unit", item)?;
    Ok(UnitOwner { order, customer })
}

fn unit_of(item: Item) -> Result<UnitRecord, StoreError> {
    #[derive(Deserialize)]
    struct Id {
        sk: String,
    }
    let Id { sk } = decode("unit", item.clone())?;
    let unit = if sk.bytes().all(|byte| byte.is_ascii_digit()) {
        sk.parse().map(UnitId::Serial).map_err(|source| StoreError::corrupt("unit", source))?
    } else {
        let label = SeatLabel::parse(&sk).map_err(|source| StoreError::corrupt("unit", source))?;
        UnitId::Seat(label)
    };
    Ok(UnitRecord { unit, owner: owner_of(item)? })
}

/// Who owns a unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitOwner {
    /// The order.
    pub order: OrderId,
    /// Its customer.
    pub customer: CustomerId,
}

/// An owned unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitRecord {
    /// The unit.
    pub unit: UnitId,
    /// Who owns it.
    pub owner: UnitOwner,
}

/// Over how many partitions the units of each type of an event are spread.
/// Never changes once there is an epoch, so from then on it may be cached for as long as one
/// likes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionCounts(BTreeMap<TicketTypeId, u32>);

impl PartitionCounts {
    /// Of these types.
    #[must_use]
    pub fn of(ticket_types: &[TicketType]) -> Self {
        Self(ticket_types.iter().map(|one| (one.id.clone(), one.partitions)).collect())
    }

    /// Of one type; none: it is not among them.
    #[must_use]
    pub fn get(&self, ticket_type: &TicketTypeId) -> Option<u32> {
        self.0.get(ticket_type).copied()
    }

    fn known(&self, ticket_type: &TicketTypeId) -> Result<u32, StoreError> {
        let unknown = || format!("the partitions of ticket type {ticket_type} are not known");
        self.get(ticket_type).ok_or_else(|| StoreError::Invalid(unknown().into()))
    }
}

impl FromIterator<(TicketTypeId, u32)> for PartitionCounts {
    fn from_iter<I: IntoIterator<Item = (TicketTypeId, u32)>>(counts: I) -> Self {
        Self(counts.into_iter().collect())
    }
}

impl OrderStore {
    /// Who owns the unit; none: nobody. Consistent.
    ///
    /// # Errors
    /// When DynamoDB fails, the item is corrupt, or the type is not among
    /// `partitions` (`Invalid`).
    pub async fn unit_owner(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
        unit: &UnitId,
        partitions: &PartitionCounts,
    ) -> Result<Option<UnitOwner>, StoreError> {
        let key = UnitKey::of(event, ticket_type, unit, partitions)?;
        let item = self.units.get(&key.0, true).await?;
        item.map(owner_of).transpose()
    }

    /// Every owned unit of a type; consistent per partition.
    ///
    /// # Errors
    /// When DynamoDB fails, an item is corrupt, or the type is not among
    /// `partitions` (`Invalid`).
    pub async fn units_list(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
        partitions: &PartitionCounts,
    ) -> Result<Vec<UnitRecord>, StoreError> {
        let count = partitions.known(ticket_type)?;
        let keys: Vec<String> =
            (0..count).map(|partition| partition_key(event, ticket_type, partition)).collect();
        let mut units = Vec::new();
        for keys in keys.chunks(PARTITIONS_AT_ONCE) {
            let reads = keys.iter().map(|key| self.units.query(key, "", true));
            for item in try_join_all(reads).await?.into_iter().flatten() {
                units.push(unit_of(item)?);
            }
        }
        Ok(units)
    }
}
