//! The ticker of an event: one chain, one teller.

use std::collections::BTreeSet;

use domain::{ChainStep, LogPosition};
use dynamo_store::{ConnectionStore, LastTold, Look, OPERATIONS, Table, Ticker};
use futures::future::join_all;
use test_support::dynamo::Dynamo;
use test_support::wire::Wire;

use crate::given::{Stores, at, event_id, on_every_engine};

fn step(chain: &str, step: u64) -> ChainStep {
    ChainStep { chain: chain.to_owned(), step }
}

async fn begun(connections: &ConnectionStore, at_step: &ChainStep) {
    assert!(connections.ticker_arm(&event_id(), None, at_step, at(1)).await.unwrap());
}

fn look() -> Look {
    let position = LogPosition { epoch: 1, sequence: 9 };
    let told = LastTold { from: Some(position), at: at(7), repeats: 1 };
    Look { at: at(8), position: Some(LogPosition { sequence: 12, ..position }), told: Some(told) }
}

#[tokio::test]
async fn a_tick_is_begun_once_and_its_repeat_is_known() {
    on_every_engine(async |Stores { connections, .. }| {
        let event = event_id();
        assert_eq!(connections.ticker_fetch(&event).await.unwrap(), None);
        let (first, second) = (step("c", 1), step("c", 2));
        begun(&connections, &first).await;
        let again = connections.ticker_arm(&event, None, &first, at(1)).await.unwrap();
        assert!(again, "the reply was lost, the write was not");
        assert!(!connections.ticker_arm(&event, None, &step("d", 1), at(1)).await.unwrap());

        assert!(connections.ticker_arm(&event, Some(&first), &second, at(2)).await.unwrap());
        let late = connections.ticker_arm(&event, Some(&first), &step("d", 1), at(3)).await;
        assert!(!late.unwrap(), "another tick was begun since");
        let ticker = Ticker { at: second, due: Some(at(2)), look: None };
        assert_eq!(connections.ticker_fetch(&event).await.unwrap(), Some(ticker));
    })
    .await;
}

#[tokio::test]
async fn of_many_chains_that_begin_at_once_one_counts() {
    on_every_engine(async |Stores { connections, .. }| {
        let chains: Vec<ChainStep> = (0..20).map(|n| step(&format!("chain-{n}"), 1)).collect();
        let begun = join_all(chains.iter().map(async |chain| {
            connections.ticker_arm(&event_id(), None, chain, at(1)).await.unwrap()
        }))
        .await;
        assert_eq!(begun.into_iter().filter(|begun| *begun).count(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_chain_ends_only_where_no_further_tick_was_begun() {
    on_every_engine(async |Stores { connections, .. }| {
        let event = event_id();
        let (first, second) = (step("c", 1), step("c", 2));
        begun(&connections, &first).await;
        assert!(connections.ticker_arm(&event, Some(&first), &second, at(2)).await.unwrap());
        assert!(!connections.ticker_end(&event, &first).await.unwrap());
        for _ in 0..2 {
            assert!(connections.ticker_end(&event, &second).await.unwrap());
        }
        let ticker = connections.ticker_fetch(&event).await.unwrap().unwrap();
        assert_eq!((ticker.at, ticker.due), (second, None));
    })
    .await;
}

#[tokio::test]
async fn one_looks_at_a_time_and_leaves_what_came_of_it() {
    on_every_engine(async |Stores { connections, .. }| {
        let event = event_id();
        let claim = async |holder: &str, now: i64| {
            connections.ticker_claim(&event, holder, at(now), at(now + 5)).await.unwrap()
        };
        assert_eq!(claim("a", 0).await, None, "nobody watches");
        begun(&connections, &step("c", 1)).await;
        assert!(claim("a", 0).await.is_some_and(|ticker| ticker.look.is_none()));
        assert_eq!(claim("b", 4).await, None);
        assert!(claim("a", 4).await.is_some(), "extended until 9");
        assert_eq!(claim("b", 9).await, None);
        for _ in 0..2 {
            connections.ticker_release(&event, "a", &look()).await.unwrap();
        }
        let claimed = claim("b", 9).await.unwrap();
        assert_eq!(claimed.look, Some(look()));
        assert_eq!(claimed.at, step("c", 1), "looking does not touch the chain");
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_ran_out_is_anothers_and_what_its_holder_did_is_void() {
    on_every_engine(async |Stores { connections, .. }| {
        let event = event_id();
        begun(&connections, &step("c", 1)).await;
        let claim = async |holder: &str, now: i64| {
            connections.ticker_claim(&event, holder, at(now), at(now + 5)).await.unwrap()
        };
        assert!(claim("a", 0).await.is_some());
        assert!(claim("b", 6).await.is_some());
        assert!(!connections.ticker_release(&event, "a", &look()).await.unwrap());
        let ticker = connections.ticker_fetch(&event).await.unwrap().unwrap();
        assert_eq!(ticker.look, None);
        assert!(connections.ticker_release(&event, "b", &look()).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_lease_of_a_clock_that_is_minutes_ahead_is_not_waited_for() {
    on_every_engine(async |Stores { connections, .. }| {
        let event = event_id();
        begun(&connections, &step("c", 1)).await;
        let claim = async |holder: &str, now: i64| {
            connections.ticker_claim(&event, holder, at(now), at(now + 5)).await.unwrap()
        };
        assert!(claim("ahead", 300).await.is_some(), "until 305");
        assert_eq!(claim("b", 295).await, None, "clocks may differ a little");
        assert!(claim("b", 294).await.is_some());
        assert!(!connections.ticker_release(&event, "ahead", &look()).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn of_many_who_want_to_look_at_once_one_may() {
    on_every_engine(async |Stores { connections, .. }| {
        begun(&connections, &step("c", 1)).await;
        let holders: Vec<String> = (0..20).map(|n| format!("holder-{n}")).collect();
        let claims = join_all(holders.iter().map(async |holder| {
            connections.ticker_claim(&event_id(), holder, at(0), at(5)).await.unwrap()
        }))
        .await;
        assert_eq!(claims.into_iter().flatten().count(), 1);
    })
    .await;
}

#[tokio::test]
async fn each_operation_sends_what_its_entry_says() {
    let (dynamo, wire) = (Dynamo::start().await, Wire::new());
    let Stores { connections, .. } = Stores::new(&wire.over(&dynamo.sdk_config()), &dynamo.tables);
    let (event, first) = (event_id(), step("c", 1));
    let sends = |name: &str| {
        let entry = OPERATIONS.iter().find(|entry| entry.name == name).unwrap();
        assert_eq!(entry.table, Table::Connections);
        let sent: BTreeSet<String> = wire.take_sent().into_iter().map(|sent| sent.action).collect();
        assert_eq!(sent, entry.actions.iter().map(|action| action.to_string()).collect());
    };
    connections.ticker_fetch(&event).await.unwrap();
    sends("ticker_fetch");
    connections.ticker_arm(&event, None, &first, at(1)).await.unwrap();
    sends("ticker_arm");
    connections.ticker_claim(&event, "a", at(0), at(5)).await.unwrap();
    sends("ticker_claim");
    connections.ticker_release(&event, "a", &look()).await.unwrap();
    sends("ticker_release");
    connections.ticker_end(&event, &first).await.unwrap();
    sends("ticker_end");
}
