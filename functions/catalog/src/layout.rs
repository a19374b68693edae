//! Seat maps, remembered: sections are large and never change, so they are read
//! again only when a type has grown.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{EventId, SeatLabel, Section, SectionSpan, TicketKind, TicketType, TicketTypeId};
use dynamo_store::{CatalogStore, Consistency, StoreError};
use redis_store::TypeCounts;

/// Halls that are kept at once.
const MOST_LAYOUTS: usize = 200;

/// The hall of an event.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) sections: Vec<Section>,
}

impl Layout {
    /// Where each section's seats lie among the units of its type.
    pub(crate) fn spans(&self) -> Vec<SectionSpan> {
        self.sections.iter().map(Section::span).collect()
    }

    /// How many sections there are; names this very map, as they are only added.
    pub(crate) fn version(&self) -> u32 {
        u32::try_from(self.sections.len()).unwrap_or(u32::MAX)
    }

    /// The type a seat is sold as; none: there is no such seat.
    pub(crate) fn type_of(&self, seat: &SeatLabel) -> Option<&TicketTypeId> {
        let id = Section::of_seat(seat)?;
        let section = self.sections.iter().find(|section| section.id == id)?;
        section.labels().any(|label| label == *seat).then_some(&section.ticket_type)
    }

    /// All seats of a type.
    pub(crate) fn seats_of(&self, ticket_type: &TicketTypeId) -> HashSet<SeatLabel> {
        self.sections_of(ticket_type).flat_map(Section::labels).collect()
    }

    fn sections_of<'a>(
        &'a self,
        ticket_type: &'a TicketTypeId,
    ) -> impl Iterator<Item = &'a Section> {
        self.sections.iter().filter(move |section| section.ticket_type == *ticket_type)
    }

    /// Whether it holds all seats of these types. A section and its type's new
    /// ceiling are written together, so a difference means that one was added.
    fn is_current(&self, types: &[TicketType]) -> bool {
        let seated = types.iter().filter(|one| one.kind == TicketKind::ReservedSeating);
        seated.into_iter().all(|one| self.seat_count(&one.id) == one.ceiling)
    }

    /// Whether it holds all seats that these types say there are, or more.
    pub(crate) fn covers(&self, types: &[TicketType]) -> bool {
        let mut seated = types.iter().filter(|one| one.kind == TicketKind::ReservedSeating);
        seated.all(|one| self.seat_count(&one.id) >= one.ceiling)
    }

    /// Whether it holds all seats that an inventory has, by these types. A type that
    /// is none of them came later.
    pub(crate) fn has_all(&self, types: &[TicketType], counts: &[TypeCounts]) -> bool {
        counts.iter().all(|of| match types.iter().find(|one| one.id == of.ticket_type) {
            Some(one) if one.kind == TicketKind::ReservedSeating => {
                self.seat_count(&one.id) >= of.ceiling
            }
            known => known.is_some(),
        })
    }

    fn seat_count(&self, ticket_type: &TicketTypeId) -> u32 {
        self.sections_of(ticket_type).map(Section::seat_count).sum()
    }
}

/// The halls of all events.
#[derive(Debug)]
pub(crate) struct Layouts {
    store: CatalogStore,
    known: Mutex<HashMap<EventId, Arc<Layout>>>,
}

impl Layouts {
    pub(crate) fn new(store: CatalogStore) -> Self {
        Self { store, known: Mutex::default() }
    }

    /// The hall of an event that has these types.
    pub(crate) async fn of(
        &self,
        id: &EventId,
        types: &[TicketType],
    ) -> Result<Arc<Layout>, StoreError> {
        let known = self.locked().get(id).map(Arc::clone);
        if let Some(known) = known.filter(|known| known.is_current(types)) {
            return Ok(known);
        }
        let sections = self.store.sections_list(id, Consistency::Strong).await?;
        let layout = Arc::new(Layout { sections });
        let mut known = self.locked();
        if known.len() >= MOST_LAYOUTS {
            known.clear();
        }
        known.insert(id.clone(), Arc::clone(&layout));
        Ok(layout)
    }

    /// Nothing half-done is ever kept under this lock.
    fn locked(&self) -> MutexGuard<'_, HashMap<EventId, Arc<Layout>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
