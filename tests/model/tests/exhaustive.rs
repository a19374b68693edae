//! Every interleaving of small sales: no promise breaks, and everything comes to
//! rest. What can go wrong in each stands in its budget.

#![cfg(test)]

use model::properties::{BUILT_AGAIN, EXPIRED, GIVEN_UP, LOST_ITS_UNIT, PERSISTED, TOO_LATE};
use model::{Budget, Sale, Set, Wish, rest};
use stateright::{Checker, Expectation, Model};

const NOTHING: Budget = Budget {
    repeats: 0,
    reads: 0,
    ends: 0,
    crashes: 0,
    duplicates: 0,
    dead_letters: 0,
    losses: 0,
    lost_writes: 0,
};
const PLACE: Wish = Wish::Places(1);
const SEAT: Wish = Wish::Seats(Set::one(0));
const OTHER_SEAT: Wish = Wish::Seats(Set::one(1));
const BOTH_SEATS: Wish = Wish::Seats(Set::first(2));

/// Tries all of a sale. The examples show that it gets where it should.
fn no_promise_breaks(sale: Sale, examples: &[&'static str]) {
    let checker = sale.checker().threads(2).spawn_bfs().join();
    println!("{} states, {} deep", checker.unique_state_count(), checker.max_depth());
    for property in checker.model().properties() {
        match property.expectation {
            Expectation::Always | Expectation::Eventually => {
                checker.assert_no_discovery(property.name);
            }
            Expectation::Sometimes => {}
        }
    }
    for example in examples {
        checker.assert_any_discovery(example);
    }
}

#[test]
fn one_intent_repeated_and_read_at_any_instant_has_one_decision() {
    let budget = Budget { repeats: 2, reads: 1, crashes: 1, duplicates: 1, ..NOTHING };
    no_promise_breaks(Sale::of(1, &[SEAT]).with(budget), &[PERSISTED, TOO_LATE]);
}

#[test]
fn one_intent_survives_a_crash_a_duplicate_a_repeat_and_a_loss_of_redis() {
    let budget = Budget { repeats: 1, crashes: 1, duplicates: 1, losses: 1, ..NOTHING };
    let examples = [PERSISTED, TOO_LATE, BUILT_AGAIN];
    no_promise_breaks(Sale::of(2, &[PLACE]).with(budget), &examples);
}

#[test]
fn one_intent_is_given_up_while_it_is_repeated_and_comes_twice() {
    let budget = Budget { repeats: 1, duplicates: 1, dead_letters: 1, ..NOTHING };
    no_promise_breaks(Sale::of(1, &[SEAT]).with(budget), &[PERSISTED, GIVEN_UP]);
}

#[test]
fn one_intent_is_given_up_while_redis_is_lost_and_it_is_repeated() {
    let budget = Budget { repeats: 1, dead_letters: 1, losses: 1, ..NOTHING };
    let examples = [PERSISTED, GIVEN_UP, BUILT_AGAIN];
    no_promise_breaks(Sale::of(1, &[SEAT]).with(budget), &examples);
}

#[test]
fn two_fans_want_one_seat_and_one_asks_again() {
    let budget = Budget { repeats: 1, crashes: 1, ..NOTHING };
    let examples = [PERSISTED, EXPIRED, TOO_LATE, LOST_ITS_UNIT];
    no_promise_breaks(Sale::of(1, &[SEAT, SEAT]).with(budget), &examples);
}

#[test]
fn two_fans_want_one_seat_and_one_gives_up() {
    let budget = Budget { ends: 1, crashes: 1, duplicates: 1, ..NOTHING };
    let examples = [PERSISTED, EXPIRED, TOO_LATE, LOST_ITS_UNIT];
    no_promise_breaks(Sale::of(1, &[SEAT, SEAT]).with(budget), &examples);
}

#[test]
fn two_fans_want_one_seat_and_redis_is_lost_while_messages_come_twice() {
    let budget = Budget { duplicates: 1, losses: 1, ..NOTHING };
    let examples = [PERSISTED, EXPIRED, TOO_LATE, LOST_ITS_UNIT, BUILT_AGAIN];
    no_promise_breaks(Sale::of(1, &[SEAT, SEAT]).with(budget), &examples);
}

#[test]
fn two_fans_want_one_seat_and_redis_is_lost_while_processes_die() {
    let budget = Budget { crashes: 1, losses: 1, ..NOTHING };
    let examples = [PERSISTED, EXPIRED, TOO_LATE, LOST_ITS_UNIT, BUILT_AGAIN];
    no_promise_breaks(Sale::of(1, &[SEAT, SEAT]).with(budget), &examples);
}

#[test]
fn two_fans_want_one_seat_and_redis_is_lost_while_one_gives_up() {
    let budget = Budget { ends: 1, losses: 1, ..NOTHING };
    let examples = [PERSISTED, EXPIRED, TOO_LATE, LOST_ITS_UNIT, BUILT_AGAIN];
    no_promise_breaks(Sale::of(1, &[SEAT, SEAT]).with(budget), &examples);
}

#[test]
fn two_fans_want_one_seat_and_redis_forgets_one_of_them() {
    let budget = Budget { lost_writes: 1, crashes: 1, ..NOTHING };
    let examples = [PERSISTED, EXPIRED, TOO_LATE, LOST_ITS_UNIT, BUILT_AGAIN];
    no_promise_breaks(Sale::of(1, &[SEAT, SEAT]).with(budget), &examples);
}

#[test]
fn what_can_not_be_persisted_or_is_given_up_by_its_queue_ends_readably() {
    let budget = Budget { reads: 1, dead_letters: 1, crashes: 1, ..NOTHING };
    let sale = Sale::of(1, &[SEAT, SEAT]).with(budget);
    let poisoned = Sale { poison: Set::one(0), ..sale.clone() };
    no_promise_breaks(sale, &[PERSISTED, TOO_LATE, GIVEN_UP]);
    no_promise_breaks(poisoned, &[PERSISTED, TOO_LATE, GIVEN_UP]);
}

#[test]
fn three_fans_want_two_places() {
    let fans = [PLACE, PLACE, PLACE];
    no_promise_breaks(Sale::of(2, &fans), &[PERSISTED, EXPIRED, TOO_LATE]);
}

#[test]
fn three_fans_want_seats_that_overlap() {
    let sale = Sale::of(2, &[BOTH_SEATS, SEAT, OTHER_SEAT]);
    no_promise_breaks(sale, &[PERSISTED, EXPIRED, TOO_LATE]);
}

#[test]
fn every_path_ends() {
    let fans = [SEAT, SEAT];
    for budget in [
        Budget { crashes: 1, ..NOTHING },
        Budget { duplicates: 1, ends: 1, ..NOTHING },
        Budget { repeats: 1, reads: 1, ..NOTHING },
        Budget { losses: 1, ..NOTHING },
        Budget { lost_writes: 1, crashes: 1, ..NOTHING },
        Budget { losses: 1, dead_letters: 1, ..NOTHING },
    ] {
        let circle = rest::find_circle(&Sale::of(1, &fans).with(budget));
        assert_eq!(circle, None, "{budget:?}");
    }
}
