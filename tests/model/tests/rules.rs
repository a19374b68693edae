//! Each rule is for something: without it, the model finds a way to break a
//! promise. This is also how the model is known to bite.

#![cfg(test)]

use std::collections::BTreeSet;

use model::properties::*;
use model::{Budget, Rule, Sale, Set, Wish};
use stateright::{Checker, HasDiscoveries, Model};

const SEAT: Wish = Wish::Seats(Set::one(0));
const PLACE: Wish = Wish::Places(1);

fn two_fans(budget: Budget) -> Sale {
    Sale::of(1, &[SEAT, SEAT]).with(budget)
}

/// Without the rules, the promise breaks; the shortest way is printed.
fn breaks(promise: &'static str, sale: Sale, without: &[Rule]) {
    let found = HasDiscoveries::AnyOf(BTreeSet::from([promise]));
    let checker = sale.without(without).checker().threads(2).finish_when(found).spawn_bfs().join();
    let way = checker.assert_any_discovery(promise);
    println!("without {without:?}, not: {promise}");
    for action in way.into_actions() {
        println!("  {action:?}");
    }
}

#[test]
fn a_unit_put_without_a_condition_gets_two_owners() {
    let budget = Budget { losses: 1, ..Budget::default() };
    breaks(ONE_OWNER, two_fans(budget), &[Rule::UnitIsAbsent]);
}

#[test]
fn an_order_put_without_a_condition_lives_again() {
    let budget = Budget { duplicates: 1, ends: 1, ..Budget::default() };
    breaks(
        RELEASED_ONCE,
        Sale::of(1, &[SEAT]).with(Budget { ends: 2, ..budget }),
        &[Rule::OrderIsAbsent],
    );
}

#[test]
fn a_refusal_put_without_a_condition_orphans_units() {
    let budget = Budget { duplicates: 1, ..Budget::default() };
    breaks(ONE_OWNER, Sale::of(1, &[SEAT]).with(budget), &[Rule::RefusalIsAbsent]);
    breaks(ONE_DECISION, two_fans(Budget { repeats: 1, ..budget }), &[Rule::RefusalIsAbsent]);
}

#[test]
fn an_order_ended_as_it_no_longer_is_frees_anothers_unit() {
    let budget = Budget { ends: 2, ..Budget::default() };
    breaks(RELEASED_ONCE, two_fans(budget), &[Rule::EndsAsRead, Rule::DeletesOwnUnits]);
}

#[test]
fn an_old_version_settled_late_revives_an_order() {
    let budget = Budget { ends: 1, ..Budget::default() };
    breaks(AGREEMENT, Sale::of(1, &[SEAT]).with(budget), &[Rule::SettlesNewerVersions]);
}

#[test]
fn an_ended_order_that_frees_what_its_item_names_frees_anothers_unit() {
    let budget = Budget { ends: 1, crashes: 1, ..Budget::default() };
    breaks(AGREEMENT, two_fans(budget), &[Rule::FreesOwnUnits]);
}

#[test]
fn a_stale_order_takes_a_unit_from_a_live_one() {
    let budget = Budget { ends: 1, crashes: 1, ..Budget::default() };
    breaks(AGREEMENT, two_fans(budget), &[Rule::SparesLiveOrders]);
}

#[test]
fn an_ended_order_of_an_older_epoch_is_revived_unless_it_is_read_again() {
    let budget = Budget { ends: 1, losses: 1, ..Budget::default() };
    breaks(AGREEMENT, Sale::of(1, &[SEAT]).with(budget), &[Rule::RereadsWhenInDoubt]);
}

#[test]
fn a_lapsed_order_that_holds_again_gets_other_units() {
    let budget = Budget { repeats: 1, ..Budget::default() };
    breaks(ONE_DECISION, Sale::of(2, &[PLACE]).with(budget), &[Rule::LapsesForGood]);
}

#[test]
fn a_repeat_that_does_not_look_for_the_receipt_buys_after_its_refusal() {
    let budget = Budget { repeats: 1, ..Budget::default() };
    breaks(ONE_DECISION, two_fans(budget), &[Rule::LooksForTheReceipt]);
}

#[test]
fn an_intent_that_came_too_late_is_persisted_after_its_hold() {
    breaks(IN_TIME, Sale::of(1, &[SEAT]), &[Rule::IsNeverTooLate]);
}

#[test]
fn a_message_acknowledged_first_is_lost_with_its_process() {
    let budget = Budget { crashes: 1, ..Budget::default() };
    breaks(READABLE, Sale::of(1, &[SEAT]).with(budget), &[Rule::AcknowledgesLast]);
}

#[test]
fn without_the_stream_a_lost_settle_is_never_made_good() {
    let budget = Budget { crashes: 1, ..Budget::default() };
    breaks(AGREEMENT, Sale::of(1, &[SEAT]).with(budget), &[Rule::StreamSettles]);
}
