//! A backlog that outlasts its holds. `tests/backlog` runs it with 100,000 intents.

#![cfg(test)]

use faults::backlog::outlast;

#[tokio::test]
async fn m9_every_intent_of_a_backlog_is_decided_however_long_the_tables_were_away() {
    let outcome = outlast(400).await;
    assert_eq!((outcome.queued, outcome.came_back), (400, 400));
    assert_eq!((outcome.persisted, outcome.refused, outcome.lost), (200, 200, 0));
}
