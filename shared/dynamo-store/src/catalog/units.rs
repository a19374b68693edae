//! Which units there are, as a warm function remembers it: an order that names
//! another one must not be persisted, or its unit would be sold beyond the ceiling.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use domain::{EventId, OrderLine, SeatLabel, Section, SectionId, TicketKind, TicketTypeId, UnitId};

use super::CatalogStore;
use super::cache::{PartitionCache, Shape, locked};
use crate::{PartitionCounts, StoreError};

/// At most 5,000 seats each, at some fifty bytes a seat; beyond it, all are
/// forgotten.
const MOST_SECTIONS: usize = 300;

/// Why lines can't be anybody's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchUnit {
    /// The event has no such type, or nothing of it is on sale yet.
    #[error("there is no ticket type {0}")]
    Type(TicketTypeId),
    /// A place at or above the type's ceiling, a seat of none of its sections, or
    /// a unit of the other kind.
    #[error("ticket type {ticket_type} has no unit {unit}")]
    Unit {
        /// The type.
        ticket_type: TicketTypeId,
        /// The unit, as text.
        unit: String,
    },
}

/// The units of events: places below a ceiling, which only grows once anybody has
/// one of them, and the seats of sections, which never change. What is not among
/// those that are remembered is looked for again before it is refused.
pub struct UnitCache {
    catalog: CatalogStore,
    types: PartitionCache,
    sections: Mutex<HashMap<(EventId, SectionId), Arc<Section>>>,
}

impl fmt::Debug for UnitCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnitCache")
    }
}

impl UnitCache {
    /// Over this catalogue.
    #[must_use]
    pub fn new(catalog: CatalogStore) -> Self {
        let types = PartitionCache::new(catalog.clone());
        Self { catalog, types, sections: Mutex::default() }
    }

    /// Where the units of these lines are found, if the event has all of them.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn units_cached(
        &self,
        event: &EventId,
        lines: &[OrderLine],
    ) -> Result<Result<PartitionCounts, NoSuchUnit>, StoreError> {
        let mut counts = Vec::new();
        for OrderLine { ticket_type, units, .. } in lines {
            let Some(shape) = self.types.shape(event, ticket_type).await? else {
                return Ok(Err(NoSuchUnit::Type(ticket_type.clone())));
            };
            for unit in units {
                if !self.has(event, ticket_type, shape, unit).await? {
                    let (ticket_type, unit) = (ticket_type.clone(), name_of(unit));
                    return Ok(Err(NoSuchUnit::Unit { ticket_type, unit }));
                }
            }
            counts.push((ticket_type.clone(), shape.partitions));
        }
        Ok(Ok(counts.into_iter().collect()))
    }

    async fn has(
        &self,
        event: &EventId,
        ticket_type: &TicketTypeId,
        shape: Shape,
        unit: &UnitId,
    ) -> Result<bool, StoreError> {
        match (shape.kind, unit) {
            (TicketKind::GeneralAdmission, UnitId::Serial(serial)) => {
                if *serial < shape.ceiling {
                    return Ok(true);
                }
                let now = self.types.shape_renewed(event, ticket_type).await?;
                Ok(now.is_some_and(|now| *serial < now.ceiling))
            }
            (TicketKind::ReservedSeating, UnitId::Seat(seat)) => {
                let section = self.section(event, seat).await?;
                let is_seat =
                    |of: Arc<Section>| of.ticket_type == *ticket_type && of.has_seat(seat);
                Ok(section.is_some_and(is_seat))
            }
            (TicketKind::GeneralAdmission, UnitId::Seat(_))
            | (TicketKind::ReservedSeating, UnitId::Serial(_)) => Ok(false),
        }
    }

    /// The section that a seat is in, if it is a seat. One that is not there is
    /// asked for again the next time.
    async fn section(
        &self,
        event: &EventId,
        seat: &SeatLabel,
    ) -> Result<Option<Arc<Section>>, StoreError> {
        let Some(id) = Section::of_seat(seat) else { return Ok(None) };
        let place = (event.clone(), id);
        let known = locked(&self.sections).get(&place).map(Arc::clone);
        if known.is_some() {
            return Ok(known);
        }
        let read = self.catalog.section_fetch(event, &place.1).await?;
        let Some(section) = read.map(Arc::new) else { return Ok(None) };
        let mut known = locked(&self.sections);
        if known.len() >= MOST_SECTIONS {
            known.clear();
        }
        known.insert(place, Arc::clone(&section));
        Ok(Some(section))
    }
}

fn name_of(unit: &UnitId) -> String {
    match unit {
        UnitId::Serial(serial) => serial.to_string(),
        UnitId::Seat(seat) => seat.to_string(),
    }
}
