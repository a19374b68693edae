//! How a client follows a seat map: it ignores what it has, applies what fits,
//! and asks for a snapshot where something is missing. Pure, so that the demo,
//! the journeys and the tests all follow by the same rule.

use std::collections::{BTreeMap, BTreeSet};

use domain::{EventId, LogPosition, SectionId, TicketTypeId, UnitState};

use super::Frame;
use crate::seats::{RemainingBody, SeatChangesBody, SeatsBody, SectionChanges};

/// More changes than this are not kept while a snapshot is on its way: the next
/// snapshot has them.
const MOST_WAITING: usize = 64;

/// What a frame or a snapshot came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Followed {
    /// The map is newer now.
    Applied,
    /// It says nothing new.
    Ignored,
    /// Something is missing: fetch the seats and [`SeatView::load`] them; a second
    /// later again, where a cache gave an older map than is needed.
    NeedsSnapshot,
}

/// A client's seat map of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatView {
    event: EventId,
    /// Empty: all of them.
    wanted: BTreeSet<SectionId>,
    /// None: nothing was loaded yet.
    have: Option<LogPosition>,
    /// What a snapshot must reach to be new enough; none: any will do.
    needed: Option<LogPosition>,
    seats: BTreeMap<SectionId, Vec<UnitState>>,
    remaining: BTreeMap<TicketTypeId, u32>,
    /// Changes that came before the snapshot they need.
    waiting: Vec<SeatChangesBody>,
}

impl SeatView {
    /// An empty map of an event, of these sections (none: of all).
    #[must_use]
    pub fn new(event: EventId, sections: impl IntoIterator<Item = SectionId>) -> Self {
        Self {
            event,
            wanted: sections.into_iter().collect(),
            have: None,
            needed: None,
            seats: BTreeMap::new(),
            remaining: BTreeMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Up to where the map is known; none: not at all. It is what to send as
    /// `epoch` and `after` when subscribing again.
    #[must_use]
    pub fn position(&self) -> Option<LogPosition> {
        self.have
    }

    /// The seats by section, in the sections' order of seats.
    #[must_use]
    pub fn seats(&self) -> &BTreeMap<SectionId, Vec<UnitState>> {
        &self.seats
    }

    /// What is left of each type.
    #[must_use]
    pub fn remaining(&self) -> &BTreeMap<TicketTypeId, u32> {
        &self.remaining
    }

    /// Takes a frame.
    pub fn follow(&mut self, frame: &Frame) -> Followed {
        match frame {
            Frame::Changes(changes) if changes.event == self.event => self.change(changes),
            Frame::Snapshot(snapshot) if snapshot.event == self.event => {
                self.need(LogPosition { epoch: snapshot.epoch, sequence: snapshot.sequence })
            }
            Frame::Changes(_)
            | Frame::Snapshot(_)
            | Frame::Order(_)
            | Frame::Error(_)
            | Frame::Pong => Followed::Ignored,
        }
    }

    /// Takes the seats as they were fetched. A cache may have given an older
    /// snapshot than the one that was needed: then it is needed still.
    pub fn load(&mut self, body: &SeatsBody) -> Followed {
        let at = LogPosition { epoch: body.epoch, sequence: body.sequence };
        let is_newer = body.event == self.event && !self.has(at);
        if is_newer {
            let Some(seats) = self.unpack(body) else { return Followed::NeedsSnapshot };
            self.seats = seats;
            self.remaining.clear();
            self.note_remaining(&body.ticket_types);
            self.have = Some(at);
        }
        self.catch_up(if is_newer { Followed::Applied } else { Followed::Ignored })
    }

    fn unpack(&self, body: &SeatsBody) -> Option<BTreeMap<SectionId, Vec<UnitState>>> {
        let wanted = body.sections.iter().filter(|states| self.wants(&states.section));
        wanted.map(|states| Some((states.section.clone(), states.unpack()?))).collect()
    }

    fn need(&mut self, at: LogPosition) -> Followed {
        if self.has(at) {
            return Followed::Ignored;
        }
        self.needed = Some(at);
        Followed::NeedsSnapshot
    }

    /// Applies the changes that came before the snapshot they need.
    fn catch_up(&mut self, otherwise: Followed) -> Followed {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|changes| (changes.epoch, changes.from));
        let followed: Vec<Followed> = waiting.iter().map(|changes| self.change(changes)).collect();
        let is_behind = self.needed.is_some_and(|needed| !self.has(needed));
        if is_behind || followed.contains(&Followed::NeedsSnapshot) {
            Followed::NeedsSnapshot
        } else if followed.contains(&Followed::Applied) {
            Followed::Applied
        } else {
            otherwise
        }
    }

    fn change(&mut self, changes: &SeatChangesBody) -> Followed {
        if self.has(LogPosition { epoch: changes.epoch, sequence: changes.to }) {
            return Followed::Ignored;
        }
        let fits = self
            .have
            .is_some_and(|have| have.epoch == changes.epoch && have.sequence >= changes.from);
        if !fits || !changes.sections.iter().all(|section| self.knows(section)) {
            self.waiting.push(changes.clone());
            let surplus = self.waiting.len().saturating_sub(MOST_WAITING);
            self.waiting.drain(..surplus);
            return Followed::NeedsSnapshot;
        }
        for section in &changes.sections {
            self.apply(section);
        }
        self.note_remaining(&changes.ticket_types);
        self.have = Some(LogPosition { epoch: changes.epoch, sequence: changes.to });
        Followed::Applied
    }

    /// Epochs grow: what belongs to an older log is old, whatever its sequence.
    fn has(&self, at: LogPosition) -> bool {
        self.have.is_some_and(|have| (have.epoch, have.sequence) >= (at.epoch, at.sequence))
    }

    fn wants(&self, section: &SectionId) -> bool {
        self.wanted.is_empty() || self.wanted.contains(section)
    }

    /// A section or seat that the map doesn't have was added to the hall since.
    fn knows(&self, changes: &SectionChanges) -> bool {
        let Some(seats) = self.seats.get(&changes.section) else {
            return !self.wants(&changes.section);
        };
        states_of(changes).all(|(seat, _)| (seat as usize) < seats.len())
    }

    fn apply(&mut self, changes: &SectionChanges) {
        let Some(seats) = self.seats.get_mut(&changes.section) else { return };
        for (seat, state) in states_of(changes) {
            if let Some(known) = seats.get_mut(seat as usize) {
                *known = state;
            }
        }
    }

    fn note_remaining(&mut self, ticket_types: &[RemainingBody]) {
        let counts = ticket_types.iter().map(|body| (body.ticket_type.clone(), body.remaining));
        self.remaining.extend(counts);
    }
}

fn states_of(changes: &SectionChanges) -> impl Iterator<Item = (u32, UnitState)> + '_ {
    let by_state = [
        (&changes.free, UnitState::Free),
        (&changes.held, UnitState::Held),
        (&changes.sold, UnitState::Sold),
        (&changes.withdrawn, UnitState::Withdrawn),
    ];
    by_state.into_iter().flat_map(|(seats, state)| seats.iter().map(move |seat| (*seat, state)))
}
