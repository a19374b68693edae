//! One environment's clock is minutes ahead: what it noted keeps nothing from the
//! watchers (P10).

use dynamo_store::Look;
use jiff::SignedDuration;
use test_sale::gala;

use crate::stage::Stage;

const AHEAD: i64 = 300_000;

/// The seconds of the next minute in which `c` hears something, of the ticks that
/// are delivered at once.
async fn heard_within_a_minute(stage: &Stage) -> Vec<i64> {
    let mut heard = Vec::new();
    for second in 1..=60 {
        stage.pass(1_000);
        if let Some((step, _)) = stage.under_way().pop() {
            stage.tick(step).await;
        }
        heard.extend(stage.heard("c").iter().map(|_| second));
    }
    heard
}

#[tokio::test]
async fn a_frame_that_was_told_by_a_clock_that_is_ahead_and_got_lost_is_repeated_in_time() {
    let stage = Stage::watched().await;
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.pass(AHEAD);
    let (step, _) = stage.under_way().pop().unwrap();
    stage.tick(step).await;
    assert_eq!(stage.heard("c").len(), 1, "it gets lost");
    stage.pass(-AHEAD);
    assert_eq!(heard_within_a_minute(&stage).await, [1, 11], "twice, ten seconds apart");
}

#[tokio::test]
async fn a_teller_that_died_keeps_the_lease_no_longer_when_its_clock_is_ahead() {
    let stage = Stage::watched().await;
    let (connections, ahead) = (&stage.hall.connections, SignedDuration::from_millis(AHEAD));
    let its_now = stage.now() + ahead;
    let until = its_now + SignedDuration::from_secs(5);
    assert!(connections.ticker_claim(&gala(), "dead", its_now, until).await.unwrap().is_some());
    stage.hall.hold("fan", &["A-1-1"]).await;
    let heard = heard_within_a_minute(&stage).await;
    assert!(heard.first().is_some_and(|second| *second <= 15), "{heard:?}");
}

#[tokio::test]
async fn a_chain_that_died_after_a_tick_of_a_clock_that_is_ahead_is_begun_anew() {
    let stage = Stage::watched().await;
    stage.pass(AHEAD);
    let (step, _) = stage.under_way().pop().unwrap();
    stage.tick(step).await;
    assert_eq!(stage.under_way().len(), 1, "the next one gets lost");
    stage.pass(-AHEAD);
    stage.nudge().await;
    assert_eq!(stage.under_way().len(), 1);
}

#[tokio::test]
async fn a_nudge_looks_although_a_clock_that_is_ahead_noted_the_last_look() {
    let stage = Stage::watched().await;
    let (connections, now) = (&stage.hall.connections, stage.now());
    let until = now + SignedDuration::from_secs(5);
    let ticker = connections.ticker_claim(&gala(), "ahead", now, until).await.unwrap().unwrap();
    let at = now + SignedDuration::from_millis(AHEAD);
    let look = Look { at, ..ticker.look.unwrap() };
    assert!(connections.ticker_release(&gala(), "ahead", &look).await.unwrap());
    stage.hall.hold("fan", &["A-1-1"]).await;
    stage.nudge().await;
    assert_eq!(stage.heard("c").len(), 1);
}
