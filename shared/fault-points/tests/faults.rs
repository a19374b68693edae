//! What a test can do to a task.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;

use fault_points::{
    ALL, Faults, PERSISTENCE_COMMITTED, RESERVATION_HELD, RESERVATION_SENT, reached,
};
use tokio::time::Instant;

/// Two steps with a point behind each; how far it came.
async fn two_steps(done: &Cell<u32>) -> u32 {
    done.set(1);
    reached(RESERVATION_HELD).await;
    done.set(2);
    reached(RESERVATION_SENT).await;
    done.get()
}

#[tokio::test]
async fn without_faults_a_point_is_passed() {
    let done = Cell::new(0);
    assert_eq!(two_steps(&done).await, 2);
    let (outcome, passed) = Faults::new().observed(two_steps(&done)).await;
    assert_eq!(outcome, Some(2));
    assert_eq!(passed, [RESERVATION_HELD, RESERVATION_SENT]);
}

#[tokio::test]
async fn a_task_that_is_killed_does_nothing_more() {
    let done = Cell::new(0);
    let (outcome, passed) = Faults::new().kill(RESERVATION_HELD).observed(two_steps(&done)).await;
    assert_eq!((outcome, done.get()), (None, 1));
    assert_eq!(passed, [RESERVATION_HELD]);
}

#[tokio::test]
async fn a_task_stands_at_a_gate_until_it_is_opened() {
    let done = Cell::new(0);
    let (faults, gate) = Faults::new().stop(RESERVATION_HELD);
    let meanwhile = async {
        gate.arrived().await;
        let so_far = done.get();
        gate.open();
        so_far
    };
    let (outcome, so_far) = tokio::join!(faults.run(two_steps(&done)), meanwhile);
    assert_eq!((outcome, so_far), (Some(2), 1));
}

#[tokio::test]
async fn a_gate_that_is_open_stops_nobody() {
    let (faults, gate) = Faults::new().stop(RESERVATION_HELD);
    gate.open();
    assert_eq!(faults.run(two_steps(&Cell::new(0))).await, Some(2));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_delayed_goes_on_by_itself() {
    let by = Duration::from_secs(3);
    let begun = Instant::now();
    let faults = Faults::new().delay(RESERVATION_SENT, by);
    assert_eq!(faults.run(two_steps(&Cell::new(0))).await, Some(2));
    assert_eq!(begun.elapsed(), by);
}

#[tokio::test]
async fn a_fault_happens_once() {
    let faults = Faults::new().delay(RESERVATION_HELD, Duration::from_millis(1));
    let passed = faults.observed(async {
        two_steps(&Cell::new(0)).await;
        two_steps(&Cell::new(0)).await
    });
    assert_eq!(passed.await.1.len(), 4);
}

#[tokio::test]
async fn a_fault_of_one_task_is_none_of_another() {
    let (one, other) = (Cell::new(0), Cell::new(0));
    let killed = Faults::new().kill(RESERVATION_HELD);
    let spared = Faults::new().kill(PERSISTENCE_COMMITTED);
    let outcomes = tokio::join!(killed.run(two_steps(&one)), spared.run(two_steps(&other)));
    assert_eq!(outcomes, (None, Some(2)));
}

#[tokio::test]
async fn what_is_repeated_happens_twice() {
    let done = Cell::new(0);
    let step = || async {
        done.set(done.get() + 1);
        done.get()
    };
    assert_eq!(Faults::repeat(step).await, 2);
}

#[test]
fn every_point_has_a_name_of_its_own() {
    let names: HashSet<&str> = ALL.iter().map(|point| point.name()).collect();
    assert_eq!(names.len(), ALL.len());
}
