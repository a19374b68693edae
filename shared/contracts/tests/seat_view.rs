//! A client's seat map follows the store through lost, repeated and late frames.

#![cfg(test)]

use contracts::live::{Followed, Frame, SeatView};
use contracts::seats::{RemainingBody, SeatChangesBody, SeatsBody, SectionChanges, SectionStates};
use domain::UnitState::{Free, Held, Sold, Withdrawn};
use domain::{EventId, LogPosition, SectionId, SectionSpan, TicketTypeId, UnitState};
use proptest::prelude::*;

const SEATS: u32 = 7;

/// The store: every seat, and the log of how it came to be so.
#[derive(Clone)]
struct Store {
    epoch: u64,
    seats: Vec<UnitState>,
    log: Vec<(u32, UnitState)>,
}

impl Store {
    fn new(epoch: u64) -> Self {
        Self { epoch, seats: vec![Free; SEATS as usize], log: Vec::new() }
    }

    fn set(&mut self, seat: u32, state: UnitState) {
        self.seats[seat as usize] = state;
        self.log.push((seat, state));
    }

    fn position(&self) -> LogPosition {
        LogPosition { epoch: self.epoch, sequence: self.log.len() as u64 }
    }

    fn changes(&self, from: u64) -> Frame {
        let stalls = stalls();
        let since = self.log[from as usize..].iter();
        Frame::Changes(SeatChangesBody {
            event: event(),
            epoch: self.epoch,
            from,
            to: self.position().sequence,
            sections: SectionChanges::collect(
                &spans(),
                since.map(|(seat, state)| (&stalls, *seat, *state)),
            ),
            ticket_types: vec![RemainingBody {
                ticket_type: stalls.clone(),
                remaining: self.free(),
            }],
        })
    }

    fn snapshot(&self) -> SeatsBody {
        let states = |span: &SectionSpan| {
            let seats = self.seats[span.first as usize..(span.first + span.count) as usize].iter();
            SectionStates::pack(span, seats.copied())
        };
        SeatsBody {
            event: event(),
            epoch: self.epoch,
            sequence: self.position().sequence,
            seat_map_version: 2,
            sections: spans().iter().map(states).collect(),
            ticket_types: vec![RemainingBody { ticket_type: stalls(), remaining: self.free() }],
        }
    }

    fn free(&self) -> u32 {
        self.seats.iter().filter(|state| **state == Free).count() as u32
    }
}

fn event() -> EventId {
    EventId::parse("show").unwrap()
}

fn stalls() -> TicketTypeId {
    TicketTypeId::parse("stalls").unwrap()
}

fn section(id: &str) -> SectionId {
    SectionId::parse(id).unwrap()
}

fn spans() -> Vec<SectionSpan> {
    let span = |id, first, count| SectionSpan {
        section: section(id),
        ticket_type: stalls(),
        first,
        count,
    };
    vec![span("A", 0, 4), span("B", 4, 3)]
}

fn all_seats(view: &SeatView) -> Vec<UnitState> {
    view.seats().values().flatten().copied().collect()
}

fn loaded(store: &Store) -> SeatView {
    let mut view = SeatView::new(event(), []);
    assert_eq!(view.load(&store.snapshot()), Followed::Applied);
    view
}

#[test]
fn changes_that_follow_are_applied_and_those_that_are_there_ignored() {
    let mut store = Store::new(1);
    let mut view = loaded(&store);
    store.set(0, Held);
    store.set(5, Withdrawn);
    let first = store.changes(0);
    assert_eq!(view.follow(&first), Followed::Applied);
    assert_eq!(view.follow(&first), Followed::Ignored, "delivered twice");
    store.set(0, Sold);
    assert_eq!(view.follow(&store.changes(1)), Followed::Applied, "it may tell more than is new");
    assert_eq!(view.follow(&first), Followed::Ignored, "late");
    assert_eq!(all_seats(&view), store.seats);
    assert_eq!(view.position(), Some(store.position()));
    assert_eq!(view.remaining()[&stalls()], 5);
}

#[test]
fn a_gap_asks_for_a_snapshot_and_what_came_meanwhile_is_not_lost() {
    let mut store = Store::new(1);
    let mut view = loaded(&store);
    store.set(1, Held);
    store.set(2, Held);
    assert_eq!(view.follow(&store.changes(1)), Followed::NeedsSnapshot);
    let fetched = store.snapshot();
    store.set(3, Held);
    assert_eq!(view.follow(&store.changes(2)), Followed::NeedsSnapshot);
    assert_eq!(view.load(&fetched), Followed::Applied);
    assert_eq!(all_seats(&view), store.seats, "with the change that came before the snapshot");
}

#[test]
fn a_snapshot_older_than_what_is_needed_asks_again() {
    let mut store = Store::new(1);
    let mut view = loaded(&store);
    let cached = store.snapshot();
    store.set(1, Held);
    assert_eq!(view.follow(&Frame::snapshot(&event(), store.position())), Followed::NeedsSnapshot);
    assert_eq!(view.load(&cached), Followed::NeedsSnapshot);
    assert_eq!(view.load(&store.snapshot()), Followed::Applied);
    assert_eq!(view.follow(&Frame::snapshot(&event(), store.position())), Followed::Ignored);
}

#[test]
fn a_new_epoch_replaces_the_map_and_the_old_one_is_not_believed_again() {
    let mut old = Store::new(1);
    old.set(0, Sold);
    old.set(1, Sold);
    let mut view = loaded(&old);
    let mut new = Store::new(2);
    new.set(3, Sold);
    assert_eq!(view.follow(&new.changes(0)), Followed::NeedsSnapshot);
    assert_eq!(view.load(&old.snapshot()), Followed::NeedsSnapshot);
    assert_eq!(view.load(&new.snapshot()), Followed::Applied);
    assert_eq!(view.follow(&old.changes(0)), Followed::Ignored);
    assert_eq!(all_seats(&view), new.seats);
}

#[test]
fn a_client_of_one_section_keeps_that_one_and_moves_with_the_others() {
    let mut store = Store::new(1);
    let mut view = SeatView::new(event(), [section("B")]);
    assert_eq!(view.load(&store.snapshot()), Followed::Applied);
    store.set(0, Sold);
    assert_eq!(view.follow(&store.changes(0)), Followed::Applied);
    store.set(6, Sold);
    assert_eq!(view.follow(&store.changes(1)), Followed::Applied);
    assert_eq!(all_seats(&view), [Free, Free, Sold]);
}

#[test]
fn a_seat_the_map_does_not_have_asks_for_a_snapshot() {
    let store = Store::new(1);
    let mut view = loaded(&store);
    let changes = |id: &str, seat| {
        let Frame::Changes(body) = store.changes(0) else { unreachable!() };
        let changed = SectionChanges {
            section: section(id),
            free: vec![],
            held: vec![seat],
            sold: vec![],
            withdrawn: vec![],
        };
        Frame::Changes(SeatChangesBody { to: 1, sections: vec![changed], ..body })
    };
    assert_eq!(view.clone().follow(&changes("A", 4)), Followed::NeedsSnapshot);
    assert_eq!(view.clone().follow(&changes("C", 0)), Followed::NeedsSnapshot);
    assert_eq!(view.follow(&changes("A", 3)), Followed::Applied);
}

#[test]
fn frames_of_another_event_change_nothing() {
    let mut view = SeatView::new(EventId::parse("other").unwrap(), []);
    let store = Store::new(1);
    let unchanged = view.clone();
    assert_eq!(view.follow(&store.changes(0)), Followed::Ignored);
    assert_eq!(view.follow(&Frame::snapshot(&event(), store.position())), Followed::Ignored);
    assert_eq!(view.follow(&Frame::Pong), Followed::Ignored);
    assert_eq!(view.load(&store.snapshot()), Followed::Ignored);
    assert_eq!(view, unchanged);
}

/// One thing that happens between a store, a network and a client.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Change(u32, u8),
    Tick(Fate),
    NewEpoch,
}

/// What the network does with the frame of a tick.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    Lost,
    Twice,
    AfterTheNext,
}

fn happening() -> impl Strategy<Value = Happening> {
    let fate = prop_oneof![
        4 => Just(Fate::Arrives),
        2 => Just(Fate::Lost),
        1 => Just(Fate::Twice),
        1 => Just(Fate::AfterTheNext),
    ];
    prop_oneof![
        6 => (0..SEATS, 0u8..4).prop_map(|(seat, state)| Happening::Change(seat, state)),
        4 => fate.prop_map(Happening::Tick),
        1 => Just(Happening::NewEpoch),
    ]
}

/// A client behind a bad network, whose HTTP cache is one tick old.
struct Client {
    view: SeatView,
    cached: SeatsBody,
    late: Vec<Frame>,
}

impl Client {
    fn receive(&mut self, frame: &Frame) {
        if self.view.follow(frame) == Followed::NeedsSnapshot {
            self.view.load(&self.cached);
        }
    }

    fn suffer(&mut self, frame: Frame, fate: Fate) {
        let late = std::mem::take(&mut self.late);
        match fate {
            Fate::Arrives => self.receive(&frame),
            Fate::Lost => {}
            Fate::Twice => {
                self.receive(&frame);
                self.receive(&frame);
            }
            Fate::AfterTheNext => self.late.push(frame),
        }
        late.iter().for_each(|frame| self.receive(frame));
    }
}

proptest! {
    #[test]
    fn however_frames_are_lost_repeated_or_late_one_last_tick_makes_the_map_right(
        happenings in proptest::collection::vec(happening(), 0..60)
    ) {
        let mut store = Store::new(1);
        let mut told = store.position();
        let mut last = Frame::snapshot(&event(), told);
        let mut client =
            Client { view: loaded(&store), cached: store.snapshot(), late: Vec::new() };
        let tick = |store: &Store, told: &mut LogPosition, last: &mut Frame| {
            if *told != store.position() {
                *last = match told.epoch == store.epoch {
                    true => store.changes(told.sequence),
                    false => Frame::snapshot(&event(), store.position()),
                };
                *told = store.position();
            }
            last.clone()
        };
        for happening in happenings {
            match happening {
                Happening::Change(seat, state) => {
                    store.set(seat, UnitState::from_code(state).unwrap());
                }
                Happening::NewEpoch => store = Store::new(store.epoch + 1),
                Happening::Tick(fate) => {
                    let frame = tick(&store, &mut told, &mut last);
                    client.suffer(frame, fate);
                    client.cached = store.snapshot();
                }
            }
        }
        // The last tick, and its repetition, arrive at last.
        let frame = tick(&store, &mut told, &mut last);
        client.cached = store.snapshot();
        client.suffer(frame.clone(), Fate::Arrives);
        client.receive(&frame);
        prop_assert_eq!(all_seats(&client.view), store.seats.clone());
        prop_assert_eq!(client.view.position(), Some(store.position()));
    }
}
