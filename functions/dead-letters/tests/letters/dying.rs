//! The function dies between two steps, and the letter comes again, twice.

use contracts::messages::LiveUpdate;
use fault_points::{
    DEAD_LETTERS_BEGUN, DEAD_LETTERS_ENDED, DEAD_LETTERS_KEPT, DEAD_LETTERS_RELEASED,
    DEAD_LETTERS_TOLD, Faults, Point,
};
use test_sale::{LONG, places, seats};

use crate::desk::{Desk, buried};

/// In the order they are passed.
const POINTS: [Point; 5] = [
    DEAD_LETTERS_BEGUN,
    DEAD_LETTERS_ENDED,
    DEAD_LETTERS_RELEASED,
    DEAD_LETTERS_TOLD,
    DEAD_LETTERS_KEPT,
];

#[tokio::test]
async fn every_point_is_passed_in_its_order_and_none_is_missing_here() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let letters = [buried(&intent)];
    let (_, passed) = Faults::new().observed(desk.batch(&letters)).await;
    let is_own = |point: &&Point| point.name().starts_with("dead-letters/");
    assert!(passed.iter().filter(is_own).eq(&POINTS), "{passed:?}");
    assert!(fault_points::ALL.iter().filter(is_own).eq(&POINTS), "a point has no row here");
}

#[tokio::test]
async fn wherever_it_dies_the_order_ends_once_and_its_letter_is_kept() {
    for point in POINTS {
        let desk = Desk::of(10, 4).await;
        let intent = desk.sale.hold("ann", "k", vec![places(2), seats([1])]).await;
        let letters = [buried(&intent)];
        let killed = Faults::new().kill(point).run(desk.batch(&letters)).await;
        assert_eq!(killed, None, "{point}");
        let after_death = desk.sale.stored("ann", &intent.order).await;
        assert!(Faults::repeat(|| desk.batch(&letters)).await.is_empty(), "{point}");
        desk.assert_ended(&intent).await;
        let order = desk.order(&intent).await;
        assert!(after_death.is_none_or(|before| before == order), "{point}");
        assert_eq!(desk.counts("floor").await, (0, 0, 10), "{point}");
        assert_eq!(desk.counts("stalls").await, (0, 0, 4), "{point}");
        assert!(desk.told().contains(&LiveUpdate::order(&order)), "{point}");
        let kept = desk.parked.take_sent();
        // Once for each time it came to that.
        let times = if point == DEAD_LETTERS_KEPT { 3 } else { 2 };
        assert_eq!(kept.len(), times, "{point}");
        assert!(kept.iter().all(|letter| letter.attributes["order_state"] == "rejected"));
    }
}

#[tokio::test]
async fn wherever_it_dies_a_live_order_stays_one() {
    for point in POINTS {
        let desk = Desk::of(10, 0).await;
        let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
        let stored = desk.sale.persist_unsettled(&intent, LONG).await;
        let letters = [buried(&intent)];
        Faults::new().kill(point).run(desk.batch(&letters)).await;
        assert!(Faults::repeat(|| desk.batch(&letters)).await.is_empty(), "{point}");
        assert_eq!(desk.order(&intent).await, stored, "{point}");
        assert_eq!(desk.counts("floor").await, (0, 2, 8), "{point}");
    }
}

#[tokio::test]
async fn an_order_that_lands_while_its_letter_is_read_is_left_alone() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let letters = [buried(&intent)];
    let (faults, gate) = Faults::new().stop(DEAD_LETTERS_BEGUN);
    let meanwhile = async {
        gate.arrived().await;
        let stored = desk.sale.persist(&intent, LONG).await;
        gate.open();
        stored
    };
    let (outcome, stored) = tokio::join!(faults.run(desk.batch(&letters)), meanwhile);
    assert_eq!(outcome, Some(Vec::new()));
    assert_eq!(desk.order(&intent).await, stored);
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
}
