//! The log of a hall on a real Redis, named by a real catalogue.

#![cfg(test)]

use std::time::Duration;

use contracts::seats::SeatChangesBody;
use domain::{Epoch, EventId, LogPosition, SeatLabel, SectionId, TicketTypeId};
use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use redis_store::SeatStatus;
use seat_log::{Heard, SeatLog};
use test_sale::{Hall, gala};

fn log_of(hall: &Hall) -> SeatLog {
    SeatLog::new(hall.inventory.clone(), hall.catalog.clone())
}

async fn position(hall: &Hall) -> LogPosition {
    let snapshot = hall.inventory.seat_states(&gala(), Epoch(1), &[]).await.unwrap();
    snapshot.unwrap().position
}

async fn since(log: &SeatLog, after: LogPosition) -> Heard {
    log.since(&gala(), Some(after), Timestamp::UNIX_EPOCH).await.unwrap()
}

async fn changes_since(log: &SeatLog, after: LogPosition) -> SeatChangesBody {
    match since(log, after).await {
        Heard::Changes(changes) => changes,
        heard @ (Heard::Silence | Heard::Lost(_) | Heard::NoInventory) => panic!("{heard:?}"),
    }
}

/// L2, as far as the log reaches.
#[tokio::test]
async fn whoever_missed_1_100_or_3000_changes_hears_each_seat_once_as_it_is_now() {
    let hall = Hall::on_sale().await;
    let log = log_of(&hall);
    for missed in [1, 100, 3_000] {
        let before = position(&hall).await;
        for number in 0..missed / 2 {
            let fan = format!("fan-{missed}-{}", number / 50);
            let order = hall.hold(&fan, &["A-1-1"]).await;
            hall.release(&fan, &order).await;
        }
        let last = hall.hold("last", &["B-1-3"]).await;
        let changes = changes_since(&log, before).await;
        assert_eq!((changes.from, changes.to), (before.sequence, position(&hall).await.sequence));
        assert!(changes.to - changes.from >= missed);
        let told: Vec<_> = changes
            .sections
            .iter()
            .map(|section| (section.section.as_str(), section.free.len(), section.held.len()))
            .collect();
        let first: &[_] = if missed > 1 { &[("A", 1, 0)] } else { &[] };
        assert_eq!(told, [first, &[("B", 0, 1)]].concat());
        hall.release("last", &last).await;
    }
}

#[tokio::test]
async fn all_holds_that_lapsed_are_told_at_once_however_many() {
    const SEATS: u32 = 250;
    let hall = Hall::on_sale().await;
    hall.add_section("C", 7, SEATS, 4).await;
    hall.add_seats(1, "C", 7, SEATS).await;
    let labels: Vec<String> = (1..=SEATS).map(|seat| format!("C-1-{seat}")).collect();
    let holds = labels.iter().map(async |label| {
        hall.hold_for(&format!("fan-{label}"), &[label], Duration::from_secs(3)).await
    });
    join_all(holds).await;
    let before = position(&hall).await;
    for label in &labels {
        until_free(&hall, label).await;
    }
    let log = log_of(&hall);
    let changes = changes_since(&log, before).await;
    let [told] = &changes.sections[..] else { panic!("{changes:?}") };
    assert_eq!((told.section.as_str(), told.free.len()), ("C", SEATS as usize));
    let after = LogPosition { sequence: changes.to, ..before };
    assert_eq!(since(&log, after).await, Heard::Silence);
}

/// Asks until a seat's hold has lapsed, which gives back nothing yet.
async fn until_free(hall: &Hall, label: &str) {
    let (stalls, seat) = (TicketTypeId::parse("stalls").unwrap(), SeatLabel::parse(label).unwrap());
    let (event, epoch) = (gala(), Epoch(1));
    let status = async || hall.inventory.seat_status(&event, epoch, &stalls, &seat).await.unwrap();
    while status().await != SeatStatus::Free {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn at_its_end_the_log_is_silent() {
    let hall = Hall::on_sale().await;
    hall.hold("fan", &["A-1-1"]).await;
    assert_eq!(since(&log_of(&hall), position(&hall).await).await, Heard::Silence);
}

#[tokio::test]
async fn another_log_no_position_and_one_beyond_the_end_are_lost() {
    let hall = Hall::on_sale().await;
    hall.hold("fan", &["A-1-1"]).await;
    let (log, now) = (log_of(&hall), position(&hall).await);
    assert_eq!(since(&log, LogPosition { epoch: 9, ..now }).await, Heard::Lost(now));
    let beyond = LogPosition { sequence: now.sequence + 1, ..now };
    assert_eq!(since(&log, beyond).await, Heard::Lost(now));
    let nowhere = log.since(&gala(), None, Timestamp::UNIX_EPOCH).await.unwrap();
    assert_eq!(nowhere, Heard::Lost(now));
}

#[tokio::test]
async fn without_an_inventory_there_is_no_log() {
    let hall = Hall::announced().await;
    let log = log_of(&hall);
    let start = LogPosition { epoch: 0, sequence: 0 };
    assert_eq!(since(&log, start).await, Heard::NoInventory);
    assert!(hall.inventory.build_begin(&gala(), Epoch(1)).await.unwrap());
    assert_eq!(since(&log, start).await, Heard::NoInventory, "while it is built, neither");
    let unknown = EventId::parse("unknown").unwrap();
    let heard = log.since(&unknown, None, Timestamp::UNIX_EPOCH).await.unwrap();
    assert_eq!(heard, Heard::NoInventory);
}

#[tokio::test]
async fn a_section_is_unknown_until_the_seat_map_has_it() {
    let hall = Hall::announced().await;
    let log = log_of(&hall);
    let sections = ["A", "C", "B", "D"].map(|id| SectionId::parse(id).unwrap());
    let begin = Timestamp::UNIX_EPOCH;
    let unknown = async |at| log.unknown_sections(&gala(), &sections, at).await.unwrap();
    assert_eq!(unknown(begin).await, [1, 3]);
    assert_eq!(log.unknown_sections(&gala(), &[], begin).await.unwrap(), Vec::<usize>::new());
    hall.add_section("C", 7, 2, 4).await;
    // The catalogue is not read again for each one who asks.
    assert_eq!(unknown(begin + SignedDuration::from_millis(999)).await, [1, 3]);
    assert_eq!(unknown(begin + SignedDuration::from_secs(1)).await, [3]);
}

#[tokio::test]
async fn a_section_that_was_added_a_moment_after_the_hall_was_read_is_told_by_its_name() {
    let hall = Hall::on_sale().await;
    let (log, start) = (log_of(&hall), position(&hall).await);
    hall.hold("fan-1", &["A-1-1"]).await;
    let before = changes_since(&log, start).await;
    hall.add_section("C", 7, 2, 4).await;
    hall.add_seats(1, "C", 7, 2).await;
    hall.hold("fan-2", &["C-1-2"]).await;
    let after = LogPosition { sequence: before.to, ..start };
    let changes = changes_since(&log, after).await;
    assert_eq!(changes.to, position(&hall).await.sequence);
    let told: Vec<_> =
        changes.sections.iter().map(|told| (told.section.as_str(), told.held.clone())).collect();
    assert_eq!(told, [("C", vec![1])]);
}

#[tokio::test]
async fn who_watches_a_seat_that_the_catalogue_lost_is_sent_to_a_snapshot() {
    let hall = Hall::on_sale().await;
    let (log, start) = (log_of(&hall), position(&hall).await);
    hall.add_seats(1, "C", 7, 2).await;
    hall.hold("fan-1", &["A-1-1", "C-1-2"]).await;
    let now = position(&hall).await;
    assert_eq!(since(&log, start).await, Heard::Lost(now));
    hall.add_section("C", 7, 2, 4).await;
    // The catalogue is not read again for each one who is behind.
    assert_eq!(since(&log, start).await, Heard::Lost(now));
    let later = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1);
    let heard = log.since(&gala(), Some(start), later).await.unwrap();
    assert!(matches!(heard, Heard::Changes(_)), "{heard:?}");
}
