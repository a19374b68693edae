//! Whatever is lost, a connected client's map equals the store within 15 s after
//! the last change (P10).

use contracts::live::{Followed, Frame, SeatView};
use contracts::seats::{SeatsBody, SectionStates};
use domain::{Epoch, Section, SectionSpan, UnitState};
use dynamo_store::Consistency;
use jiff::SignedDuration;
use redis_store::SeatRange;
use serde_json::Value;
use test_sale::{Hall, gala};

use crate::stage::Stage;

/// What `GET …/seats` answers.
async fn fetch(hall: &Hall) -> SeatsBody {
    let sections = hall.catalog.sections_list(&gala(), Consistency::Strong).await.unwrap();
    let spans: Vec<SectionSpan> = sections.iter().map(Section::span).collect();
    let range = |span: &SectionSpan| SeatRange {
        ticket_type: span.ticket_type.clone(),
        first: span.first,
        count: span.count,
    };
    let ranges: Vec<SeatRange> = spans.iter().map(range).collect();
    let snapshot = hall.inventory.seat_states(&gala(), Epoch(1), &ranges).await.unwrap().unwrap();
    let sections = spans.iter().zip(snapshot.states);
    SeatsBody {
        event: gala(),
        epoch: snapshot.position.epoch,
        sequence: snapshot.position.sequence,
        seat_map_version: u32::try_from(spans.len()).unwrap(),
        sections: sections.map(|(span, states)| SectionStates::pack(span, states)).collect(),
        ticket_types: vec![],
    }
}

/// A client, and how many of the frames to it get lost from now on.
struct Client {
    view: SeatView,
    loses: usize,
}

impl Client {
    async fn of(stage: &Stage) -> Self {
        let mut view = SeatView::new(gala(), []);
        assert_eq!(view.load(&fetch(&stage.hall).await), Followed::Applied);
        Self { view, loses: 0 }
    }

    /// Takes what was posted, less what gets lost.
    async fn listen(&mut self, stage: &Stage) {
        let heard: Vec<Value> = stage.heard("c");
        let lost = self.loses.min(heard.len());
        self.loses -= lost;
        for frame in heard.into_iter().skip(lost) {
            let frame: Frame = serde_json::from_value(frame).unwrap();
            if self.view.follow(&frame) == Followed::NeedsSnapshot {
                let loaded = self.view.load(&fetch(&stage.hall).await);
                assert_ne!(loaded, Followed::NeedsSnapshot);
            }
        }
    }

    async fn is_right(&self, stage: &Stage) -> bool {
        let store = fetch(&stage.hall).await;
        let states = store.sections.iter().flat_map(|section| section.unpack().unwrap());
        let own = self.view.seats().values().flatten().copied();
        own.collect::<Vec<UnitState>>() == states.collect::<Vec<UnitState>>()
    }

    /// Listens until the map is right; whether that takes 15 seconds at most.
    async fn is_right_in_time(&mut self, stage: &Stage) -> bool {
        let until = stage.now() + SignedDuration::from_secs(15);
        loop {
            self.listen(stage).await;
            if stage.now() > until {
                return false;
            }
            if self.is_right(stage).await {
                return true;
            }
            assert!(stage.next_tick().await, "the chain ended");
        }
    }
}

#[tokio::test]
async fn what_was_said_last_is_said_again_after_2_and_10_seconds_and_then_no_more() {
    let stage = Stage::watched().await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    assert!(stage.next_tick().await);
    let (said_at, mut heard) = (stage.now(), stage.heard("c"));
    assert_eq!(heard.len(), 1);
    let said = heard.remove(0);
    let mut repeats = Vec::new();
    while stage.now() < said_at + SignedDuration::from_secs(60) {
        assert!(stage.next_tick().await);
        for frame in stage.heard("c") {
            assert_eq!(frame, said);
            repeats.push(stage.now().duration_since(said_at).as_secs());
        }
    }
    assert_eq!(repeats, [2, 10]);
}

#[tokio::test]
async fn a_lost_last_frame_heals_in_silence() {
    let stage = Stage::watched().await;
    let mut client = Client::of(&stage).await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    client.loses = 1;
    assert!(stage.next_tick().await);
    client.listen(&stage).await;
    assert!(!client.is_right(&stage).await, "it was lost");
    assert!(client.is_right_in_time(&stage).await);
}

#[tokio::test]
async fn several_lost_last_frames_heal_in_silence() {
    let stage = Stage::watched().await;
    let mut client = Client::of(&stage).await;
    client.loses = 4;
    for seat in ["A-1-1", "A-1-2", "B-1-1"] {
        stage.hall.hold("fan", &[seat]).await;
        assert!(stage.next_tick().await);
        client.listen(&stage).await;
    }
    assert_eq!(client.loses, 1, "so the first repeat gets lost as well");
    assert!(client.is_right_in_time(&stage).await);
}

#[tokio::test]
async fn a_client_follows_every_tick() {
    let stage = Stage::watched().await;
    let mut client = Client::of(&stage).await;
    for seat in ["A-1-1", "B-1-1", "B-1-3"] {
        let order = stage.hall.hold("fan", &[seat]).await;
        assert!(client.is_right_in_time(&stage).await);
        stage.hall.release("fan", &order).await;
        assert!(client.is_right_in_time(&stage).await);
    }
}

#[tokio::test]
async fn a_section_that_is_added_beside_a_client_is_on_its_map_in_time() {
    let stage = Stage::watched().await;
    let mut client = Client::of(&stage).await;
    stage.hall.add_section("C", 7, 2, 4).await;
    stage.hall.add_seats(1, "C", 7, 2).await;
    assert!(client.is_right_in_time(&stage).await);
    assert_eq!(client.view.seats().len(), 3);
    stage.hall.hold("fan", &["C-1-2"]).await;
    assert!(client.is_right_in_time(&stage).await);
}

#[tokio::test]
async fn who_has_all_there_is_when_a_chain_begins_fetches_nothing_again() {
    let stage = Stage::on_sale().await;
    stage.watch("c", &[]).await;
    let mut client = Client::of(&stage).await;
    stage.begin("first").await;
    let begun = stage.now();
    while stage.now() < begun + SignedDuration::from_secs(30) {
        for frame in stage.heard("c") {
            assert_eq!(frame["action"], "changes", "{frame}");
            let frame: Frame = serde_json::from_value(frame).unwrap();
            assert_eq!(client.view.follow(&frame), Followed::Ignored);
        }
        assert!(stage.next_tick().await);
    }
}

#[tokio::test]
async fn what_changed_before_a_chain_first_looked_is_seen_in_time() {
    for lost in 0..2 {
        let stage = Stage::on_sale().await;
        stage.watch("c", &[]).await;
        let mut client = Client::of(&stage).await;
        stage.hall.hold("fan", &["A-1-1"]).await;
        stage.begin("first").await;
        client.loses = lost;
        assert!(client.is_right_in_time(&stage).await);
    }
}

#[tokio::test]
async fn a_change_in_the_slowest_silence_is_seen_in_time_without_any_nudge() {
    let stage = Stage::watched().await;
    let mut client = Client::of(&stage).await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    assert!(client.is_right_in_time(&stage).await);
}

#[tokio::test]
async fn a_post_that_failed_for_all_is_made_again_by_the_next_tick() {
    let stage = Stage::watched().await;
    let mut client = Client::of(&stage).await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.gateway.set_broken("c", true);
    let before = stage.ticker().await.look.unwrap();
    assert!(stage.next_tick().await);
    assert_eq!(stage.ticker().await.look.unwrap().position, before.position);
    let _ = stage.gateway.take_posted();
    stage.gateway.set_broken("c", false);
    assert!(client.is_right_in_time(&stage).await);
}

#[tokio::test]
async fn a_post_that_failed_for_one_is_healed_by_the_repeats() {
    let stage = Stage::watched().await;
    stage.watch("d", &[]).await;
    let mut client = Client::of(&stage).await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.gateway.set_broken("c", true);
    assert!(stage.next_tick().await);
    assert_eq!(stage.heard("d").len(), 1);
    stage.gateway.set_broken("c", false);
    assert!(client.is_right_in_time(&stage).await);
}

#[tokio::test]
async fn a_subscriber_who_comes_while_changes_are_told_misses_none() {
    let stage = Stage::watched().await;
    stage.hall.hold("fan-1", &["A-1-1"]).await;
    // It registers, fetches, and only then hears its first frame.
    let mut client = Client::of(&stage).await;
    stage.hall.hold("fan-2", &["A-1-2"]).await;
    assert!(stage.next_tick().await);
    client.listen(&stage).await;
    assert!(client.is_right(&stage).await, "the frame tells more than it needs, and fits");
}

#[tokio::test]
async fn however_many_frames_are_lost_in_a_rush_the_map_is_right_in_time_after_it() {
    let stage = Stage::watched().await;
    let mut client = Client::of(&stage).await;
    let seats = ["A-1-1", "A-1-2", "A-1-3", "A-1-4", "B-1-1", "B-1-2", "B-1-3"];
    let mut held = std::collections::BTreeMap::new();
    let mut dice = 7u32;
    for _ in 0..60 {
        dice = dice.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let (seat, fate) = (seats[(dice >> 16) as usize % 7], (dice >> 24) % 4);
        match held.remove(seat) {
            Some(order) => stage.hall.release("fan", &order).await,
            None => {
                held.insert(seat, stage.hall.hold("fan", &[seat]).await);
            }
        }
        if fate > 0 {
            assert!(stage.next_tick().await);
        }
        client.loses = usize::from(fate > 1);
        client.listen(&stage).await;
    }
    client.loses = 1;
    assert!(client.is_right_in_time(&stage).await);
}
