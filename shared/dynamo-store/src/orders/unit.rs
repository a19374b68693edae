//! Units: pk `<event>#<type>#<partition>`, sk the seat or the serial. One item
//! per owned unit; no item: it is free.

use std::collections::BTreeMap;

use domain::{CustomerId, EventId, OrderId, TicketType, TicketTypeId, UnitId};

use super::OrderStore;
use crate::StoreError;

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
/// Never changes, so it may be cached for as long as one likes.
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
        todo!()
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
        todo!()
    }
}
