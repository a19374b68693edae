//! The waiting room's scripts, on both engines and on a cluster.

#![cfg(test)]

use std::time::{Duration, Instant};

use domain::{CustomerId, CustomerKey, EventId, Place, PlaceState, QueueSettings, SessionId};
use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use redis_server::{Engine, RedisCluster, RedisServer};
use redis_store::{Entry, Joining, Leaving, LineSettings, Redis, RedisMode, WaitingRoom, Written};

/// By how much a slot outlives its last token.
const SLOT_MARGIN: SignedDuration = SignedDuration::from_secs(5);

fn event() -> EventId {
    EventId::parse("show").unwrap()
}

fn fan(number: u32) -> CustomerKey {
    CustomerId::parse(&format!("fan-{number}")).unwrap().key()
}

fn settings(cap: u32, version: u64, generation: u64) -> LineSettings {
    // A second is the shortest there is; what has to run out is polled for.
    let settings =
        QueueSettings { cap, grace_seconds: 1, session_seconds: 600, token_seconds: 300 };
    LineSettings { settings, version, generation }
}

/// A line of that cap whose calls last until answered.
fn patient(cap: u32) -> LineSettings {
    let mut line = settings(cap, 1, 1);
    line.settings.grace_seconds = 600;
    line
}

struct Line {
    room: WaitingRoom,
    _server: RedisServer,
}

impl Line {
    async fn open(engine: Engine, line: &LineSettings) -> Self {
        let server = RedisServer::start(engine);
        let room = WaitingRoom::new(Redis::connect(&server.url(), RedisMode::Single));
        assert_eq!(room.configure(&event(), line).await.unwrap(), Written::Applied);
        Self { room, _server: server }
    }

    async fn join(&self, number: u32) -> Place {
        self.join_with(number, None).await.0
    }

    /// The place, and whether it is new.
    async fn join_with(
        &self,
        number: u32,
        ended: Option<(&SessionId, Timestamp)>,
    ) -> (Place, bool) {
        let joining = self.room.join(&event(), &fan(number), ended).await.unwrap();
        let Joining::Place { place, is_new } = joining else { panic!("{joining:?}") };
        (place, is_new)
    }

    async fn enter(&self, number: u32) -> Entry {
        self.room.enter(&event(), &fan(number)).await.unwrap()
    }

    async fn place(&self, number: u32) -> Place {
        self.room.place(&event(), &fan(number)).await.unwrap().unwrap().unwrap()
    }

    async fn leave(&self, number: u32) {
        let mut leaving = self.leave_with(number, None).await;
        if let Leaving::Session { id, until } = &leaving {
            leaving = self.leave_with(number, Some((id, *until))).await;
        }
        assert_eq!(leaving, Leaving::Left);
    }

    async fn leave_with(&self, number: u32, ended: Option<(&SessionId, Timestamp)>) -> Leaving {
        self.room.leave(&event(), &fan(number), ended).await.unwrap()
    }

    async fn shoppers(&self) -> (u32, u32) {
        let status = self.room.status(&event()).await.unwrap().unwrap();
        assert!(status.active + status.called <= status.settings.cap);
        (status.active, status.called)
    }

    /// Waits until a place is in a state that only time brings.
    async fn eventually(&self, number: u32, is_it: fn(&PlaceState) -> bool) -> Place {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let place = self.place(number).await;
            if is_it(&place.state) {
                return place;
            }
            assert!(Instant::now() < deadline, "fan {number} is still {:?}", place.state);
            tokio::task::yield_now().await;
        }
    }
}

fn is_missed(state: &PlaceState) -> bool {
    matches!(state, PlaceState::Missed)
}

fn is_called(state: &PlaceState) -> bool {
    matches!(state, PlaceState::Called { .. })
}

fn is_in(entry: &Entry) -> bool {
    matches!(entry, Entry::Entered { .. })
}

#[tokio::test]
async fn an_unknown_line_gives_no_place_and_uses_up_no_number() {
    for engine in Engine::ALL {
        let server = RedisServer::start(engine);
        let room = WaitingRoom::new(Redis::connect(&server.url(), RedisMode::Single));
        assert_eq!(room.join(&event(), &fan(1), None).await.unwrap(), Joining::NoLine);
        assert_eq!(room.place(&event(), &fan(1)).await.unwrap(), None);
        assert_eq!(room.enter(&event(), &fan(1)).await.unwrap(), Entry::NoLine);
        assert_eq!(room.leave(&event(), &fan(1), None).await.unwrap(), Leaving::NoLine);
        assert_eq!(room.status(&event()).await.unwrap(), None);
        room.configure(&event(), &patient(1)).await.unwrap();
        let joined = room.join(&event(), &fan(1), None).await.unwrap();
        assert!(matches!(joined, Joining::Place { place, is_new: true } if place.number == 1));
    }
}

/// W7.
#[tokio::test]
async fn the_same_fan_has_one_place_and_one_number() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(1)).await;
        let numbers = [line.join(1).await.number, line.join(2).await.number];
        assert_eq!(numbers, [1, 2]);
        let again = line.join_with(2, None).await;
        assert_eq!((again.0.number, again.1), (2, false));
        assert_eq!(line.join(3).await.number, 3);
        assert_eq!(line.place(2).await.number, 2);
    }
}

/// W8.
#[tokio::test]
async fn entering_twice_is_one_session_counted_once() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(2)).await;
        line.join(1).await;
        let Entry::Entered { session, .. } = line.enter(1).await else { panic!("not in") };
        let Entry::Entered { session: again, .. } = line.enter(1).await else { panic!("not in") };
        assert_eq!(session, again);
        assert_eq!(line.shoppers().await, (1, 0));
    }
}

/// A line whose one fan's session has run out, while its slot is kept.
async fn with_a_session_just_over(engine: Engine) -> Line {
    let mut short = patient(1);
    short.settings.session_seconds = 1;
    let line = Line::open(engine, &short).await;
    line.join(1).await;
    let Entry::Entered { session_ends_at, .. } = line.enter(1).await else { panic!("not in") };
    let PlaceState::Active { until } = line.place(1).await.state else { panic!("not in") };
    assert_eq!(until, session_ends_at, "no renewal makes it longer");
    line.eventually(1, |state| matches!(state, PlaceState::Ended)).await;
    assert_eq!(line.shoppers().await, (1, 0), "until its last token is surely gone");
    line
}

/// W11: a number is given only after the session before it was ended.
#[tokio::test]
async fn a_session_that_ran_out_has_ended_for_all_who_ask_and_is_ended_before_a_new_number() {
    for engine in Engine::ALL {
        let line = with_a_session_just_over(engine).await;
        assert_eq!(line.enter(1).await, Entry::Ended);
        let joining = line.room.join(&event(), &fan(1), None).await.unwrap();
        let Joining::Session { id, until } = joining else { panic!("{joining:?}") };
        let (other, early) = (SessionId::parse("1-2").unwrap(), until - SLOT_MARGIN);
        for wrong in [None, Some((&other, until)), Some((&id, early))] {
            let again = line.room.join(&event(), &fan(1), wrong).await.unwrap();
            assert_eq!(again, Joining::Session { id: id.clone(), until }, "{wrong:?}");
        }
        let status = line.room.status(&event()).await.unwrap().unwrap();
        assert_eq!((status.issued, status.active), (1, 1), "no number yet, and no slot freed");
        assert_eq!(line.place(1).await.state, PlaceState::Ended);

        let (place, is_new) = line.join_with(1, Some((&id, until))).await;
        assert_eq!((place.number, is_new), (2, true));
        assert!(is_called(&place.state), "its own slot was freed");
        // Another tab did the same a moment later: it finds the number.
        let (place, is_new) = line.join_with(1, Some((&id, until))).await;
        assert_eq!((place.number, is_new), (2, false));
        assert!(is_in(&line.enter(1).await));
        assert_eq!(line.shoppers().await, (1, 0));
    }
}

#[tokio::test]
async fn whoever_leaves_as_the_session_runs_out_leaves_no_token_that_buys() {
    for engine in Engine::ALL {
        let line = with_a_session_just_over(engine).await;
        line.join(2).await;
        let leaving = line.leave_with(1, None).await;
        let Leaving::Session { id, until } = leaving else { panic!("{leaving:?}") };
        assert_eq!(line.place(2).await.state, PlaceState::Waiting, "not freed yet");
        assert_eq!(line.leave_with(1, Some((&id, until))).await, Leaving::Left);
        assert!(is_in(&line.enter(2).await));
        assert_eq!(line.join(1).await.number, 3);
    }
}

#[tokio::test]
async fn no_session_is_renewed_past_its_end_though_its_slot_is_kept_a_little_longer() {
    for engine in Engine::ALL {
        let mut short = patient(1);
        short.settings.session_seconds = 1;
        let line = Line::open(engine, &short).await;
        line.join(1).await;
        let Entry::Entered { token_expires_at, session_ends_at, .. } = line.enter(1).await else {
            panic!("not in")
        };
        assert_eq!(token_expires_at, session_ends_at, "no token outlives its session");
        // Its slot is kept for five seconds after its end, and would be renewed till then.
        let deadline = Instant::now() + Duration::from_secs(4);
        while let Entry::Entered { session_ends_at: end, .. } = line.enter(1).await {
            assert_eq!(end, session_ends_at);
            assert!(Instant::now() < deadline, "it is renewed");
            tokio::task::yield_now().await;
        }
        assert_eq!(line.enter(1).await, Entry::Ended);
        assert_eq!(line.shoppers().await, (1, 0), "until its last token is surely gone");
    }
}

/// W6, in small: everybody there is room for is called at once, then nobody.
#[tokio::test]
async fn as_many_as_the_cap_are_in_at_once_then_none() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(20)).await;
        for number in 1..=50 {
            line.join(number).await;
        }
        for number in 1..=50 {
            assert_eq!(is_in(&line.enter(number).await), number <= 20, "fan {number}");
        }
        assert_eq!(line.shoppers().await, (20, 0));
        assert_eq!(line.place(21).await.ahead, 0);
        assert_eq!(line.place(50).await.ahead, 29);
    }
}

/// W1.
#[tokio::test]
async fn no_shows_never_freeze_the_line() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &settings(10, 1, 1)).await;
        for number in 1..=30 {
            line.join(number).await;
        }
        for number in 1..=10 {
            assert!(is_in(&line.enter(number).await));
        }
        for number in 1..=10 {
            line.leave(number).await;
        }
        for number in 21..=30 {
            line.eventually(number, is_called).await;
        }
        assert!(is_missed(&line.place(11).await.state));
    }
}

/// W5.
#[tokio::test]
async fn those_who_come_back_late_never_make_it_more_than_the_cap() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &settings(10, 1, 1)).await;
        for number in 1..=20 {
            line.join(number).await;
        }
        for number in 1..=5 {
            assert!(is_in(&line.enter(number).await));
        }
        for number in 6..=10 {
            line.eventually(number, is_missed).await;
        }
        // The line went on: 11 to 15 are called in their stead.
        for number in 11..=15 {
            assert!(is_in(&line.enter(number).await), "fan {number}");
        }
        for number in 6..=10 {
            assert!(!is_in(&line.enter(number).await), "fan {number}");
            line.shoppers().await;
        }
        assert_eq!(line.shoppers().await, (10, 0));
    }
}

/// W12, in small: late-comers take at most every second call, twice each.
#[tokio::test]
async fn late_comers_take_at_most_every_second_call_and_then_stand_last() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &settings(1, 1, 1)).await;
        for number in 1..=4 {
            line.join(number).await;
        }
        line.eventually(1, is_missed).await;
        line.eventually(2, is_called).await;
        assert!(is_in(&line.enter(2).await));
        let Entry::Missed(place) = line.enter(1).await else { panic!("let in over the cap") };
        assert_eq!((place.number, place.state), (1, PlaceState::Waiting));
        // The last call went to the line, so the next goes to the late-comer.
        line.leave(2).await;
        line.eventually(1, is_called).await;
        line.eventually(1, is_missed).await;
        // And the one after it to the line again, late-comer or not.
        let Entry::Missed(place) = line.enter(1).await else { panic!("let in over the cap") };
        assert_eq!((place.number, place.state), (1, PlaceState::Waiting), "a second time");
        line.eventually(3, is_called).await;
        line.eventually(1, is_called).await;
        line.eventually(1, is_missed).await;
        let Entry::Missed(place) = line.enter(1).await else { panic!("called a third time") };
        assert_eq!(place.number, 5, "placed last, under a new number");
    }
}

/// W2.
#[tokio::test]
async fn nobody_waits_when_everybody_was_called() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &settings(4, 1, 1)).await;
        for number in 1..=6 {
            line.join(number).await;
        }
        assert!(is_in(&line.enter(1).await) && is_in(&line.enter(2).await));
        line.eventually(5, is_called).await;
        assert!(is_in(&line.enter(5).await));
        line.eventually(6, |state| is_called(state) || is_missed(state)).await;
        assert_eq!(line.room.status(&event()).await.unwrap().unwrap().waiting, 0);
    }
}

/// W11, the line's half: a slot is freed only after its session was ended.
#[tokio::test]
async fn a_slot_is_given_on_only_after_its_session_was_ended() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(1)).await;
        line.join(1).await;
        line.join(2).await;
        let Entry::Entered { session, .. } = line.enter(1).await else { panic!("not in") };
        let leaving = line.leave_with(1, None).await;
        let Leaving::Session { id, until } = leaving else { panic!("{leaving:?}") };
        assert_eq!(id, session);
        assert_eq!(line.place(2).await.state, PlaceState::Waiting, "not freed yet");
        let other = SessionId::parse("1-2").unwrap();
        let refused = line.leave_with(1, Some((&other, until))).await;
        assert!(matches!(refused, Leaving::Session { .. }), "another session was ended");
        let ended = Some((&id, until));
        assert_eq!(line.leave_with(1, ended).await, Leaving::Left);
        assert!(is_in(&line.enter(2).await));
        // Again, and again with the session: nothing is freed twice.
        assert_eq!(line.leave_with(1, None).await, Leaving::NoPlace);
        assert_eq!(line.leave_with(1, ended).await, Leaving::NoPlace);
        assert_eq!(line.shoppers().await, (1, 0));
        assert_eq!(line.enter(1).await, Entry::Ended);
        assert_eq!(line.join(1).await.number, 3, "joining again is a new number");
    }
}

/// W11: the session is ended for as long as its tokens live, not for as long as
/// one lives that would be given now.
#[tokio::test]
async fn a_session_is_ended_for_as_long_as_any_token_of_it_lives() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(1)).await;
        line.join(1).await;
        let Entry::Entered { token_expires_at, .. } = line.enter(1).await else { panic!() };
        // From now on tokens live a second, or much longer.
        for (version, token_seconds) in [(2, 1), (3, 3_600)] {
            let mut settings = patient(1);
            settings.version = version;
            settings.settings.token_seconds = token_seconds;
            line.room.configure(&event(), &settings).await.unwrap();
            let leaving = line.leave_with(1, None).await;
            let Leaving::Session { until, .. } = leaving else { panic!("{leaving:?}") };
            assert_eq!(until, token_expires_at + SLOT_MARGIN, "{token_seconds}");
        }
    }
}

#[tokio::test]
async fn a_renewal_while_leaving_is_ended_too_before_the_slot_is_freed() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(1)).await;
        line.join(1).await;
        line.join(2).await;
        line.enter(1).await;
        let Leaving::Session { id, until } = line.leave_with(1, None).await else { panic!() };
        // Another tab renews, and its token lives longer than the session is ended for.
        let mut settings = patient(1);
        settings.version = 2;
        settings.settings.token_seconds = 310;
        line.room.configure(&event(), &settings).await.unwrap();
        let Entry::Entered { token_expires_at, .. } = line.enter(1).await else { panic!() };
        let again = line.leave_with(1, Some((&id, until))).await;
        let Leaving::Session { id: same, until } = again else { panic!("{again:?}") };
        assert_eq!((&same, until), (&id, token_expires_at + SLOT_MARGIN));
        assert_eq!(line.place(2).await.state, PlaceState::Waiting, "not freed yet");
        assert_eq!(line.leave_with(1, Some((&id, until))).await, Leaving::Left);
        assert!(is_in(&line.enter(2).await));
    }
}

/// No token buys after its slot was given on, also by clocks that differ a little.
#[tokio::test]
async fn a_slot_outlives_its_last_token_by_five_seconds() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(1)).await;
        line.join(1).await;
        for _ in 0..2 {
            let Entry::Entered { token_expires_at, .. } = line.enter(1).await else { panic!() };
            let PlaceState::Active { until } = line.place(1).await.state else { panic!() };
            assert_eq!(until, token_expires_at + SLOT_MARGIN);
        }
    }
}

#[tokio::test]
async fn who_left_the_line_is_not_called() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(1)).await;
        for number in 1..=3 {
            line.join(number).await;
        }
        line.leave(2).await;
        assert!(is_in(&line.enter(1).await));
        line.leave(1).await;
        assert!(is_in(&line.enter(3).await));
        assert_eq!(line.room.status(&event()).await.unwrap().unwrap().serving, 3);
    }
}

#[tokio::test]
async fn a_late_comer_who_left_is_not_called_again() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &settings(1, 1, 1)).await;
        for number in 1..=3 {
            line.join(number).await;
        }
        line.eventually(1, is_missed).await;
        line.eventually(2, is_called).await;
        assert!(is_in(&line.enter(2).await));
        assert!(matches!(line.enter(1).await, Entry::Missed(_)), "it would be called next");
        line.leave(1).await;
        line.leave(2).await;
        assert!(is_in(&line.enter(3).await));
    }
}

#[tokio::test]
async fn a_long_run_of_those_who_left_is_passed_in_parts_and_the_next_one_called() {
    const LAST: u32 = 12_002;
    for engine in Engine::ALL {
        let line = Line::open(engine, &patient(1)).await;
        line.join(1).await;
        join_all((2..LAST).map(|number| line.join(number))).await;
        assert_eq!(line.join(LAST).await.number, LAST);
        join_all((2..LAST).map(|number| line.leave(number))).await;
        assert!(is_in(&line.enter(1).await));
        line.leave(1).await;
        let mut passed = Vec::new();
        for _ in 0..2 {
            let status = line.room.status(&event()).await.unwrap().unwrap();
            passed.push((status.serving, status.called));
        }
        assert_eq!(passed, [(10_001, 0), (LAST, 1)], "5,000 by each script");
        assert!(is_in(&line.enter(LAST).await));
    }
}

#[tokio::test]
async fn a_line_keeps_its_places_whoever_configures_it() {
    for engine in Engine::ALL {
        let line = Line::open(engine, &settings(1, 5, 2)).await;
        line.join(1).await;
        for stale in [settings(9, 5, 2), settings(9, 4, 2), settings(9, 5, 3)] {
            assert_eq!(line.room.configure(&event(), &stale).await.unwrap(), Written::Ignored);
        }
        for (version, generation) in [(6, 2), (7, 1), (8, 3)] {
            let newer = settings(3, version, generation);
            assert_eq!(line.room.configure(&event(), &newer).await.unwrap(), Written::Applied);
            let status = line.room.status(&event()).await.unwrap().unwrap();
            assert_eq!((status.settings.cap, status.version), (3, version));
            assert_eq!((status.generation, status.issued), (2, 1));
        }
        assert_eq!(line.place(1).await.number, 1);
    }
}

#[tokio::test]
async fn a_line_works_on_a_cluster_and_after_its_scripts_were_forgotten() {
    let cluster = RedisCluster::start(Engine::Valkey);
    let room = WaitingRoom::new(Redis::connect(&cluster.url(), RedisMode::Cluster));
    room.configure(&event(), &patient(1)).await.unwrap();
    for node in cluster.nodes() {
        let client = redis::Client::open(node.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        redis::cmd("SCRIPT").arg("FLUSH").exec(&mut connection).unwrap();
    }
    room.join(&event(), &fan(1), None).await.unwrap();
    assert!(is_in(&room.enter(&event(), &fan(1)).await.unwrap()));
}
