//! A function dies at every point there is, then every step comes twice.

#![cfg(test)]

use std::collections::BTreeSet;

use domain::{Order, OrderState};
use fault_points::{
    DEAD_LETTERS_ENDED, EXPIRY_ENDED, Faults, PERSISTENCE_COMMITTED, PERSISTENCE_REFUSED, Point,
    TABLES_ENDED,
};
use faults::House;
use faults::scenario::{CAPACITY, FAN, KEY, Kind, Scenario, Step};

/// All that happens when nothing dies: the points it comes by.
async fn undisturbed(scenario: Scenario, kind: Kind) -> BTreeSet<Point> {
    let house = scenario.house(kind).await;
    let (_, passed) = Faults::new().observed(walk(&house, scenario, kind, 1)).await;
    settled(&house, scenario, kind).await;
    passed.into_iter().collect()
}

/// Each step so many times, one after the other.
async fn walk(house: &House, scenario: Scenario, kind: Kind, times: u32) {
    for step in scenario.steps() {
        for _ in 0..times {
            house.take(*step, kind).await;
        }
    }
}

/// Dies at this point; then comes again, each step twice.
async fn dying(scenario: Scenario, kind: Kind, point: Point) {
    let house = scenario.house(kind).await;
    let killed = Faults::new().kill(point).run(walk(&house, scenario, kind, 1)).await;
    assert_eq!(killed, None, "{point} is passed");
    walk(&house, scenario, kind, 2).await;
    settled(&house, scenario, kind).await;
}

/// All is quiet, and all promises are kept.
async fn settled(house: &House, scenario: Scenario, kind: Kind) {
    let order = house.fans_order().await;
    assert!(scenario.may_end(&order), "{scenario:?}: {order:?}");
    house.audit(CAPACITY, CAPACITY).await;
    same_answer(house, kind, &order).await;
    other_content(house, kind, &order).await;
    house.rest().await;
    house.audit(CAPACITY, CAPACITY).await;
    assert_eq!(house.fans_order().await, order, "what is decided stays");
}

/// P2: a repeat is told what is stored.
async fn same_answer(house: &House, kind: Kind, order: &Order) {
    let answer = house.order(FAN, KEY, &kind.body()).await;
    match &order.rejection {
        Some(rejection) => {
            assert_eq!((answer.status, answer.reason().as_str()), (409, rejection.reason()));
        }
        None => {
            let body = answer.json();
            assert_eq!((answer.status, order.state), (202, OrderState::Pending));
            assert_eq!(body["id"], order.id.to_string());
            assert_eq!(body["total"]["amount"], order.total.amount);
            let told = body["lines"].as_array().into_iter().flatten();
            let told: usize = told.map(|line| line["units"].as_array().map_or(0, Vec::len)).sum();
            assert_eq!(told, order.units().count());
        }
    }
}

/// P3: another content under the same key changes nothing.
async fn other_content(house: &House, kind: Kind, order: &Order) {
    let answer = house.order(FAN, KEY, &kind.other_body()).await;
    assert_eq!((answer.status, answer.reason().as_str()), (422, "key_reused"));
    assert_eq!(house.fans_order().await, *order);
}

async fn every_death_of(scenario: Scenario) {
    for kind in Kind::ALL {
        for point in undisturbed(scenario, kind).await {
            dying(scenario, kind, point).await;
        }
    }
}

#[tokio::test]
async fn whoever_dies_while_an_order_is_bought_leaves_it_bought_once() {
    every_death_of(Scenario::Bought).await;
}

#[tokio::test]
async fn whoever_dies_while_an_order_is_refused_leaves_it_refused() {
    every_death_of(Scenario::SoldOut).await;
}

#[tokio::test]
async fn whoever_dies_while_an_overdue_order_makes_room_leaves_room_once() {
    every_death_of(Scenario::Overdue).await;
}

#[tokio::test]
async fn whoever_dies_while_a_unit_turns_out_to_be_taken_leaves_it_to_its_owner() {
    every_death_of(Scenario::Taken).await;
}

#[tokio::test]
async fn whoever_dies_over_a_poisoned_intent_leaves_nothing_held() {
    every_death_of(Scenario::Poisoned).await;
}

#[tokio::test]
async fn a_poisoned_intents_letter_is_kept_wherever_somebody_died() {
    let points = undisturbed(Scenario::Poisoned, Kind::Places).await;
    for point in points.into_iter().filter(|point| point.name().starts_with("dead-letters/")) {
        let house = Scenario::Poisoned.house(Kind::Places).await;
        Faults::new().kill(point).run(walk(&house, Scenario::Poisoned, Kind::Places, 1)).await;
        house.take(Step::Letters, Kind::Places).await;
        assert!(house.letters_kept() >= 1, "{point}");
    }
}

#[tokio::test]
async fn whoever_dies_while_there_is_no_inventory_leaves_it_to_be_settled_later() {
    every_death_of(Scenario::Deferred).await;
}

/// Where the map says that the stream repairs it, it does so alone: no message comes
/// again, and nobody asks again.
#[tokio::test]
async fn what_the_stream_is_said_to_repair_it_repairs_alone() {
    for (scenario, point) in [
        (Scenario::Overdue, EXPIRY_ENDED),
        (Scenario::Overdue, TABLES_ENDED),
        (Scenario::Bought, PERSISTENCE_COMMITTED),
        (Scenario::Taken, PERSISTENCE_REFUSED),
        (Scenario::Poisoned, DEAD_LETTERS_ENDED),
    ] {
        for kind in Kind::ALL {
            let house = scenario.house(kind).await;
            let killed = Faults::new().kill(point).run(walk(&house, scenario, kind, 1)).await;
            assert_eq!(killed, None, "{point} is passed");
            house.stream().await;
            house.audit(CAPACITY, CAPACITY).await;
        }
    }
}

#[tokio::test]
async fn every_point_is_come_by() {
    let mut passed = BTreeSet::new();
    for scenario in Scenario::ALL {
        for kind in Kind::ALL {
            passed.extend(undisturbed(scenario, kind).await);
        }
    }
    let all: BTreeSet<Point> = fault_points::ALL.iter().copied().collect();
    assert_eq!(passed, all);
}
