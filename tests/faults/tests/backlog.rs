//! A backlog that outlasts its holds. `tests/backlog` runs it with 100,000 intents.

#![cfg(test)]

use faults::backlog::{Outcome, outlast};

#[tokio::test]
async fn m9_every_intent_of_a_backlog_is_decided_however_long_the_tables_were_away() {
    let outcome = outlast(400).await;
    let expected = Outcome { queued: 400, came_back: 400, persisted: 200, refused: 200, lost: 0 };
    assert_eq!(outcome, expected);
}
