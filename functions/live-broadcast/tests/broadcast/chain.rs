//! One chain of ticks for an event that is watched, whatever happens to messages.

use domain::ChainStep;
use jiff::SignedDuration;
use test_sale::gala;

use crate::stage::{Stage, tick};

#[tokio::test]
async fn each_tick_sends_the_next_before_anything_else() {
    let stage = Stage::on_sale().await;
    stage.watch("c", &[]).await;
    stage.begin("chain").await;
    let first = ChainStep::first("chain");
    assert_eq!(stage.under_way(), [(first.next(), 1)]);
    assert_eq!(stage.ticker().await.at, first);

    let stage = Stage::watched().await;
    let at = stage.ticker().await.at;
    assert!(stage.next_tick().await);
    assert_eq!(stage.ticker().await.at, at.next());
    let sent = stage.under_way();
    assert_eq!(sent, [(at.next().next(), 5)], "slowly, in silence");
}

#[tokio::test]
async fn a_tick_delivered_twice_ticks_once() {
    let stage = Stage::watched().await;
    let (step, _) = stage.under_way().remove(0);
    stage.pass(5_000);
    let twice = [tick(Some(step.clone())), tick(Some(step.clone()))];
    assert!(stage.deliver(&twice).await.is_empty());
    stage.tick(step.clone()).await;
    assert_eq!(stage.under_way(), [(step.next(), 5)]);
    assert_eq!(stage.ticker().await.at, step);
}

#[tokio::test]
async fn a_second_subscriber_does_not_begin_a_second_chain() {
    let stage = Stage::watched().await;
    let before = stage.ticker().await;
    let _ = stage.under_way();
    stage.watch("d", &[]).await;
    stage.begin("second").await;
    assert!(stage.under_way().is_empty());
    assert_eq!(stage.ticker().await, before);
}

#[tokio::test]
async fn of_many_who_subscribe_at_once_one_begins_the_chain() {
    let stage = Stage::on_sale().await;
    stage.watch("c", &[]).await;
    let chains = (0..10).map(|n| tick(Some(ChainStep::first(format!("chain-{n}")))));
    assert!(stage.deliver(&chains.collect::<Vec<_>>()).await.is_empty());
    for _ in 0..20 {
        assert!(stage.next_tick().await);
    }
    assert_eq!(stage.under_way().len(), 1, "the others' next ticks were dropped");
}

#[tokio::test]
async fn a_tick_whose_record_was_lost_in_a_crash_is_followed_all_the_same() {
    let stage = Stage::watched().await;
    let (step, _) = stage.under_way().remove(0);
    // Tick `step` sent its successor and died; the successor arrives.
    stage.pass(5_000);
    stage.tick(step.next()).await;
    assert_eq!(stage.ticker().await.at, step.next());
    assert_eq!(stage.under_way(), [(step.next().next(), 5)]);
}

#[tokio::test]
async fn a_chain_that_died_is_begun_anew_by_a_nudge() {
    let stage = Stage::watched().await;
    let (lost, _) = stage.under_way().remove(0);
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.pass(9_000);
    stage.nudge().await;
    assert!(stage.heard("c").len() == 1, "a nudge in time looks");
    let _ = stage.under_way();

    let stage = Stage::watched().await;
    let _ = stage.under_way();
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.pass(10_001);
    stage.nudge().await;
    assert_eq!(stage.heard("c").len(), 1);
    assert_ne!(stage.ticker().await.at.chain, lost.chain);
    assert!(stage.next_tick().await, "and the new chain goes on");
    assert_eq!(stage.under_way().len(), 1);
}

#[tokio::test]
async fn an_event_that_nobody_watches_is_not_looked_at() {
    let stage = Stage::on_sale().await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.nudge().await;
    assert!(stage.under_way().is_empty());
    assert_eq!(stage.hall.connections.ticker_fetch(&gala()).await.unwrap(), None);
}

#[tokio::test]
async fn the_chain_ends_when_nobody_watches_and_begins_again_with_the_next_subscriber() {
    let stage = Stage::watched().await;
    stage.unwatch("c").await;
    let mut ticks = 0;
    while stage.next_tick().await {
        ticks += 1;
        assert!(ticks < 20, "the chain does not end");
    }
    assert_eq!(stage.ticker().await.due, None);
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.nudge().await;
    assert!(stage.under_way().is_empty() && stage.gateway.take_posted().is_empty());

    stage.watch("d", &[]).await;
    stage.begin("again").await;
    let frame = stage.heard("d").remove(0);
    assert_eq!(frame["action"], "changes", "told from where watchers were last told");
    assert_eq!(frame["sections"][0]["held"][0], 0);
    assert!(stage.next_tick().await);
}

#[tokio::test]
async fn whoever_subscribes_while_the_chain_ends_is_found_by_the_tick_that_was_under_way() {
    let stage = Stage::watched().await;
    let at = stage.ticker().await.at;
    assert!(stage.hall.connections.ticker_end(&gala(), &at).await.unwrap());
    // The watcher is there still, as is the chain's next tick.
    assert!(stage.next_tick().await);
    assert!(stage.ticker().await.due.is_some());
    stage.unwatch("c").await;
    let at = stage.ticker().await.at;
    assert!(stage.hall.connections.ticker_end(&gala(), &at).await.unwrap());
    assert!(stage.next_tick().await);
    assert!(stage.under_way().is_empty(), "nobody is there: it was the last one");
}

#[tokio::test]
async fn nudges_look_at_once_but_not_all_the_time() {
    let stage = Stage::watched().await;
    stage.pass(1_000);
    stage.hall.hold("fan-1", &["A-1-1"]).await;
    stage.nudge().await;
    assert_eq!(stage.heard("c").len(), 1, "at once");
    stage.hall.hold("fan-2", &["A-1-2"]).await;
    stage.pass(399);
    stage.nudge().await;
    assert!(stage.heard("c").is_empty(), "too soon");
    stage.pass(1);
    stage.nudge().await;
    assert_eq!(stage.heard("c").len(), 1);
}

#[tokio::test]
async fn a_chain_that_ticked_slowly_ticks_faster_once_something_happens() {
    let stage = Stage::watched().await;
    assert!(stage.next_tick().await);
    let slow = stage.under_way();
    assert_eq!(slow[0].1, 5);
    stage.pass(1_000);
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.nudge().await;
    let fast = stage.under_way();
    assert_eq!((fast.len(), fast[0].1), (1, 1));
    let due = stage.ticker().await.due.unwrap();
    assert_eq!(due, stage.now() + SignedDuration::from_secs(1));
    stage.tick(slow[0].0.clone()).await;
    assert!(stage.under_way().is_empty(), "the slow chain counts no more");
}

#[tokio::test]
async fn a_tick_that_can_not_send_its_successor_comes_back() {
    let stage = Stage::watched().await;
    let (step, _) = stage.under_way().remove(0);
    stage.pass(5_000);
    stage.queue.set_refusing(true);
    assert_eq!(stage.deliver(&[tick(Some(step.clone()))]).await, ["0"]);
    assert_eq!(stage.queue.take_postponed(), [1]);
    stage.queue.set_refusing(false);
    stage.tick(step.clone()).await;
    assert_eq!(stage.under_way(), [(step.next(), 5)]);
}
