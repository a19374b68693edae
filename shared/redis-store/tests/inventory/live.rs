//! The live log and seats at an instant.

use std::collections::HashMap;

use domain::{Epoch, LogPosition, UnitState};
use redis_store::{Changes, SeatRange, SeatStatus, Snapshot, UnitChange, Written};

use crate::till::*;

fn at(sequence: u64) -> LogPosition {
    LogPosition { epoch: EPOCH.0, sequence }
}

fn hall(count: u32) -> [SeatRange; 1] {
    [SeatRange { ticket_type: kind("stalls"), first: 0, count }]
}

/// To, changes of seats, types whose counts changed, whether there is more.
async fn read(till: &Till, after: u64, limit: u32) -> (u64, Vec<(u32, UnitState)>, Vec<u8>, bool) {
    let read = till.inventory.changes(&event(), EPOCH, at(after), limit).await.unwrap();
    let Changes::Entries { to, units, counts, more } = read else { panic!("{read:?}") };
    let seats = units.iter().map(|UnitChange { type_index, unit_index, state }| {
        assert_eq!(*type_index, 2);
        (*unit_index, *state)
    });
    (to.sequence, seats.collect(), counts, more)
}

async fn now(till: &Till) -> u64 {
    let snapshot = till.inventory.seat_states(&event(), EPOCH, &[]).await.unwrap().unwrap();
    snapshot.position.sequence
}

#[tokio::test]
async fn every_change_of_a_seat_is_told_in_order() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let start = now(&till).await;
        assert_eq!(read(&till, start, 100).await, (start, vec![], vec![], false));
        let live = till.sold(&wish(1, "k", vec![seats([3, 5])])).await;
        till.hold(&wish(2, "k", vec![places("floor", 1)])).await;
        till.settle(&ended(&live)).await;
        let (to, changes, counts, more) = read(&till, start, 100).await;
        assert_eq!((to, more), (start + 4, false));
        assert_eq!(counts, [1], "general admission, by its index");
        let mut last = HashMap::new();
        last.extend(changes.iter().copied());
        assert_eq!(last, HashMap::from([(3, UnitState::Free), (5, UnitState::Free)]));
        assert_eq!(changes[..2], [(3, UnitState::Held), (5, UnitState::Held)]);
        assert!(changes.contains(&(3, UnitState::Sold)));
        assert_eq!(read(&till, to, 100).await, (to, vec![], vec![], false));
        // Nothing was said about places after the position that had them.
        let (_, changes, counts, _) = read(&till, start + 3, 100).await;
        assert_eq!(counts, [0; 0]);
        assert_eq!(changes.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn every_change_of_counts_names_its_type() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let start = now(&till).await;
        let live = till.sold(&wish(1, "k", vec![places("floor", 1)])).await;
        till.settle(&ended(&live)).await;
        for after in start..start + 3 {
            assert_eq!(read(&till, after, 100).await, (start + 3, vec![], vec![1], false));
        }
    })
    .await;
}

#[tokio::test]
async fn a_lapsed_hold_turns_its_seat_free_for_those_who_watch() {
    each_engine(async |till: Till| {
        till.sell(0, 10).await;
        let mut wish = wish(1, "k", vec![seats([3])]);
        wish.hold = SHORT;
        let hold = till.hold(&wish).await;
        let start = now(&till).await;
        till.passed(hold.expires_at).await;
        assert_eq!(read(&till, start, 100).await.1, [(3, UnitState::Free)]);
    })
    .await;
}

#[tokio::test]
async fn seats_that_are_added_while_on_sale_are_told_by_the_first_of_them() {
    each_engine(async |till: Till| {
        till.sell(0, 10).await;
        assert_eq!(read(&till, 0, 100).await.1, [], "the hall that was loaded is no change");
        let add = async |first: u32, count: u32| {
            let labels: Vec<_> = (first..first + count).map(seat).collect();
            let stalls = kind("stalls");
            till.inventory.seats_add(&event(), EPOCH, &stalls, first, &labels).await.unwrap()
        };
        let start = now(&till).await;
        assert_eq!(add(10, 5).await, Written::Applied);
        assert_eq!(read(&till, start, 100).await.1, [(10, UnitState::Free)]);
        // Seats that are there already may be somebody's.
        till.hold(&wish(1, "k", vec![seats([12])])).await;
        let (to, ..) = read(&till, start, 100).await;
        assert_eq!(add(10, 5).await, Written::Ignored);
        assert_eq!(read(&till, to, 100).await, (to, vec![], vec![], false));
        assert_eq!(add(12, 5).await, Written::Applied);
        assert_eq!(read(&till, to, 100).await.1, [(15, UnitState::Free)]);
    })
    .await;
}

#[tokio::test]
async fn a_long_stretch_comes_in_parts() {
    each_engine(async |till: Till| {
        till.sell(0, 50).await;
        let start = now(&till).await;
        for number in 0..25 {
            till.hold(&wish(number, "k", vec![seats([number])])).await;
        }
        let (mut after, mut seen, mut parts) = (start, Vec::new(), 0);
        loop {
            let (to, changes, _, more) = read(&till, after, 10).await;
            after = to;
            parts += 1;
            seen.extend(changes.iter().map(|(seat, _)| *seat));
            if !more {
                break;
            }
        }
        assert_eq!(seen, (0..25).collect::<Vec<_>>());
        assert_eq!((after, parts), (start + 25, 3));
    })
    .await;
}

#[tokio::test]
async fn positions_of_another_log_or_from_nowhere_are_gaps() {
    each_engine(async |till: Till| {
        till.sell_in(Epoch(2), 1, 5).await;
        let (inventory, show) = (&till.inventory, event());
        let changes = |epoch, position| inventory.changes(&show, epoch, position, 10);
        let gap = changes(Epoch(2), LogPosition { epoch: 1, sequence: 0 }).await.unwrap();
        assert!(matches!(gap, Changes::Gap { now: LogPosition { epoch: 2, .. } }));
        let ahead = changes(Epoch(2), LogPosition { epoch: 2, sequence: 999 }).await.unwrap();
        assert!(matches!(ahead, Changes::Gap { .. }));
        assert_eq!(changes(Epoch(1), at(0)).await.unwrap(), Changes::Unavailable);
        let beginning = changes(Epoch(2), LogPosition { epoch: 2, sequence: 0 }).await.unwrap();
        assert!(matches!(beginning, Changes::Entries { .. }));
    })
    .await;
}

/// L2: after 100,000 missed changes a snapshot is needed, and told so.
#[tokio::test]
async fn a_position_that_the_log_has_dropped_is_a_gap() {
    each_engine(async |till: Till| {
        till.sell(0, 10).await;
        let start = now(&till).await;
        till.hold(&wish(1, "k", vec![seats([1])])).await;
        till.hold(&wish(2, "k", vec![seats([2])])).await;
        // What trimming at the log's length does.
        let client = redis::Client::open(till.server.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        redis::cmd("XTRIM")
            .arg("{i:show}:1:log")
            .arg("MAXLEN")
            .arg(1)
            .exec_async(&mut connection)
            .await
            .unwrap();
        let gap = till.inventory.changes(&event(), EPOCH, at(start), 10).await.unwrap();
        assert_eq!(gap, Changes::Gap { now: at(start + 2) });
        assert_eq!(read(&till, start + 1, 10).await.1, [(2, UnitState::Held)]);
    })
    .await;
}

#[tokio::test]
async fn a_snapshot_shows_every_seat_of_the_ranges_asked_for() {
    each_engine(async |till: Till| {
        till.sell(0, 6).await;
        till.sold(&wish(1, "k", vec![seats([1])])).await;
        till.hold(&wish(2, "k", vec![seats([2])])).await;
        let mut withdrawal = wish(3, "k", vec![seats([5])]);
        withdrawal.mode = redis_store::Mode::Withdraw;
        let mut settle = persisted(&withdrawal, &till.hold(&withdrawal).await);
        settle.standing = redis_store::SettleStanding::Withdrawn;
        till.settle(&settle).await;
        use UnitState::{Free, Held, Sold, Withdrawn};
        let snapshot =
            till.inventory.seat_states(&event(), EPOCH, &hall(6)).await.unwrap().unwrap();
        assert_eq!(snapshot.states, [[Free, Sold, Held, Free, Free, Withdrawn]]);
        let mut ranges = hall(2).to_vec();
        ranges.push(SeatRange { first: 4, ..ranges[0].clone() });
        let snapshot = till.inventory.seat_states(&event(), EPOCH, &ranges).await.unwrap().unwrap();
        assert_eq!(snapshot.states, [[Free, Sold], [Free, Withdrawn]]);
        assert_eq!(till.inventory.seat_states(&event(), Epoch(2), &ranges).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_snapshot_counts_what_remains_at_its_own_sequence() {
    each_engine(async |till: Till| {
        till.sell(10, 6).await;
        till.sold(&wish(1, "k", vec![seats([1])])).await;
        till.hold(&wish(2, "k", vec![places("floor", 3)])).await;
        let before = till.inventory.seat_states(&event(), EPOCH, &[]).await.unwrap().unwrap();
        let remaining = |snapshot: &Snapshot| -> Vec<u32> {
            snapshot.counts.iter().map(|counts| counts.remaining).take(2).collect()
        };
        assert_eq!(remaining(&before), [7, 5]);
        // What changes after it is told after it.
        till.hold(&wish(3, "k", vec![places("floor", 1)])).await;
        let after = till.inventory.seat_states(&event(), EPOCH, &[]).await.unwrap().unwrap();
        assert_eq!(remaining(&after), [6, 5]);
        assert!(after.position.sequence > before.position.sequence);
        let (_, _, counts, _) = read(&till, before.position.sequence, 100).await;
        assert_eq!(counts, [1], "general admission, by its index");
    })
    .await;
}

#[tokio::test]
async fn a_map_that_follows_the_log_equals_the_store() {
    each_engine(async |till: Till| {
        till.sell(0, 20).await;
        let snapshot =
            till.inventory.seat_states(&event(), EPOCH, &hall(20)).await.unwrap().unwrap();
        let (mut map, mut after) = (snapshot.states[0].clone(), snapshot.position.sequence);
        for round in 0..10 {
            let one = wish(round, "k", vec![seats([round, round + 10])]);
            let live = till.sold(&one).await;
            if round % 3 == 0 {
                till.settle(&ended(&live)).await;
            }
            let (to, changes, _, _) = read(&till, after, 100).await;
            after = to;
            for (seat, state) in changes {
                map[seat as usize] = state;
            }
            let store =
                till.inventory.seat_states(&event(), EPOCH, &hall(20)).await.unwrap().unwrap();
            assert_eq!(map, store.states[0]);
            assert_eq!(after, store.position.sequence);
        }
    })
    .await;
}

#[tokio::test]
async fn one_seat_tells_its_state_and_how_long_it_is_held() {
    each_engine(async |till: Till| {
        till.sell(1, 3).await;
        let status = |name: &'static str, number| {
            let inventory = till.inventory.clone();
            async move {
                inventory.seat_status(&event(), EPOCH, &kind(name), &seat(number)).await.unwrap()
            }
        };
        assert_eq!(status("stalls", 0).await, SeatStatus::Free);
        let mut short = wish(1, "k", vec![seats([0])]);
        short.hold = SHORT;
        let hold = till.hold(&short).await;
        let SeatStatus::Held { until, remaining } = status("stalls", 0).await else { panic!() };
        assert_eq!(until, hold.expires_at);
        assert!(remaining <= SHORT);
        till.passed(until).await;
        assert_eq!(status("stalls", 0).await, SeatStatus::Free);
        till.sold(&wish(2, "k", vec![seats([1])])).await;
        assert_eq!(status("stalls", 1).await, SeatStatus::Sold);
        assert_eq!(status("stalls", 3).await, SeatStatus::Unknown);
        assert_eq!(status("floor", 0).await, SeatStatus::Unknown);
        assert_eq!(status("gold", 0).await, SeatStatus::Unknown);
        let other = domain::EventId::parse("other").unwrap();
        let elsewhere = till.inventory.seat_status(&other, EPOCH, &kind("stalls"), &seat(0)).await;
        assert_eq!(elsewhere.unwrap(), SeatStatus::Unavailable);
    })
    .await;
}

#[tokio::test]
async fn changes_without_entries_before_the_first_entry_are_no_gap() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let start = now(&till).await;
        till.hold(&wish(1, "k", vec![places("floor", 1)])).await;
        till.hold(&wish(2, "k", vec![places("floor", 1)])).await;
        till.hold(&wish(3, "k", vec![seats([4])])).await;
        let (to, changes, counts, _) = read(&till, start, 10).await;
        assert_eq!((to, changes, counts), (start + 3, vec![(4, UnitState::Held)], vec![1]));
    })
    .await;
}
