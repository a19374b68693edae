//! Keys that are fetched ahead or when they are needed, and not more often.

#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use domain::EventId;
use jiff::{SignedDuration, Timestamp};
use tokens::{KeyRing, PublicKey, Signer, TokenError, VerifyError, Viewer};

fn signer(name: &str) -> Signer {
    Signer::derive(&format!("{name}-0123456789abcdef0123456789abcdef")).unwrap()
}

fn after(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn token(signer: &Signer) -> String {
    let event = EventId::parse("show").unwrap();
    let viewer = Viewer { event, issued_at: after(0), expires_at: after(10_000) };
    signer.viewer(&viewer).unwrap()
}

#[derive(Debug, thiserror::Error)]
#[error("the table is down")]
struct Down;

/// A ring over keys that change from fetch to fetch, and how often it fetched.
fn ring(answers: Vec<Result<Vec<PublicKey>, ()>>) -> (KeyRing, Arc<AtomicU32>) {
    let fetches = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&fetches);
    let ring = KeyRing::new(move || {
        let at = counter.fetch_add(1, Ordering::SeqCst) as usize;
        let answer = answers[at.min(answers.len() - 1)].clone();
        async move { answer.map_err(|()| Down) }
    });
    (ring, fetches)
}

/// A ring over this signer's key whose first fetch never ends.
fn ring_whose_first_fetch_hangs(signer: &Signer) -> KeyRing {
    let keys = vec![public(signer)];
    let fetches = AtomicU32::new(0);
    KeyRing::new(move || {
        let first = fetches.fetch_add(1, Ordering::SeqCst) == 0;
        let keys = keys.clone();
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok::<_, Down>(keys)
        }
    })
}

fn public(signer: &Signer) -> PublicKey {
    signer.public_key().clone()
}

fn is_unknown(result: &Result<Viewer, VerifyError>) -> bool {
    matches!(result, Err(VerifyError::Token(TokenError::UnknownKey)))
}

#[tokio::test]
async fn keys_are_fetched_once_for_many_tokens() {
    let one = signer("one");
    let (ring, fetches) = ring(vec![Ok(vec![public(&one)])]);
    assert_eq!(fetches.load(Ordering::SeqCst), 0, "nothing is fetched before it is needed");
    for at in 0..100 {
        assert!(ring.viewer(&token(&one), after(at)).await.is_ok());
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn made_up_key_names_are_no_flood_of_reads() {
    let (one, forger) = (signer("one"), signer("forger"));
    let (ring, fetches) = ring(vec![Ok(vec![public(&one)])]);
    for _ in 0..50 {
        assert!(is_unknown(&ring.viewer(&token(&forger), after(100)).await));
    }
    assert!(is_unknown(&ring.viewer(&token(&forger), after(109)).await));
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
    assert!(is_unknown(&ring.viewer(&token(&forger), after(110)).await));
    assert_eq!(fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_new_key_is_found_and_the_old_one_stays_while_it_is_published() {
    let (one, two) = (signer("one"), signer("two"));
    let (ring, _) = ring(vec![Ok(vec![public(&one)]), Ok(vec![public(&one), public(&two)])]);
    assert!(ring.viewer(&token(&one), after(0)).await.is_ok());
    assert!(ring.viewer(&token(&two), after(10)).await.is_ok());
    assert!(ring.viewer(&token(&one), after(11)).await.is_ok());
}

#[tokio::test]
async fn keys_that_can_not_be_read_are_no_verdict_on_the_token() {
    let one = signer("one");
    let (ring, fetches) = ring(vec![Err(()), Ok(vec![public(&one)])]);
    for at in [0, 0] {
        let result = ring.viewer(&token(&one), after(at)).await;
        assert!(matches!(result, Err(VerifyError::Keys(_))), "{result:?}");
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1, "a store that is down is not hammered");
    assert!(ring.viewer(&token(&one), after(1)).await.is_ok());
}

#[tokio::test]
async fn known_keys_outlive_a_store_that_is_down() {
    let (one, two) = (signer("one"), signer("two"));
    let (ring, _) = ring(vec![Ok(vec![public(&one)]), Err(())]);
    assert!(ring.viewer(&token(&one), after(0)).await.is_ok());
    let unknown = ring.viewer(&token(&two), after(60)).await;
    assert!(matches!(unknown, Err(VerifyError::Keys(_))));
    assert!(ring.viewer(&token(&one), after(61)).await.is_ok());
}

#[tokio::test]
async fn a_key_that_was_withdrawn_is_trusted_an_hour_at_most() {
    let (one, two) = (signer("one"), signer("two"));
    let (ring, _) = ring(vec![Ok(vec![public(&one)]), Err(()), Ok(vec![public(&two)])]);
    assert!(ring.viewer(&token(&one), after(0)).await.is_ok());
    assert!(ring.viewer(&token(&one), after(3_599)).await.is_ok());
    assert!(ring.viewer(&token(&one), after(3_600)).await.is_ok(), "the store is down");
    assert!(is_unknown(&ring.viewer(&token(&one), after(3_601)).await));
}

#[tokio::test]
async fn keys_that_were_fetched_before_the_clock_was_set_back_are_fetched_anew() {
    let (one, two) = (signer("one"), signer("two"));
    let (ring, fetches) = ring(vec![Ok(vec![public(&one)]), Ok(vec![public(&two)])]);
    assert!(ring.viewer(&token(&one), after(7_200)).await.is_ok());
    assert!(ring.viewer(&token(&two), after(7_190)).await.is_ok(), "a new key is found");
    assert_eq!(fetches.load(Ordering::SeqCst), 2);
    assert!(ring.viewer(&token(&two), after(0)).await.is_ok());
    assert_eq!(
        fetches.load(Ordering::SeqCst),
        3,
        "nothing says that they are younger than an hour"
    );
}

#[tokio::test]
async fn a_fetch_that_was_given_up_does_not_keep_the_next_from_trying() {
    let one = signer("one");
    let ring = ring_whose_first_fetch_hangs(&one);
    let token = token(&one);
    tokio::select! {
        biased;
        _ = ring.viewer(&token, after(0)) => unreachable!("the first fetch never ends"),
        () = tokio::task::yield_now() => {}
    }
    assert!(ring.viewer(&token, after(0)).await.is_ok());
}

#[tokio::test]
async fn keys_that_are_loaded_ahead_are_there_before_the_first_token() {
    let one = signer("one");
    let (ring, fetches) = ring(vec![Ok(vec![public(&one)]), Err(())]);
    let ring = ring.load_ahead(after(0));
    tokio::task::yield_now().await;
    assert_eq!(fetches.load(Ordering::SeqCst), 1, "no token has come");
    assert!(ring.viewer(&token(&one), after(60)).await.is_ok());
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_comes_while_keys_are_loaded_ahead_waits_for_those() {
    let one = signer("one");
    let keys = vec![public(&one)];
    let fetches = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&fetches);
    let ring = KeyRing::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
        let keys = keys.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok::<_, Down>(keys)
        }
    })
    .load_ahead(after(0));
    assert!(ring.viewer(&token(&one), after(0)).await.is_ok());
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn loading_ahead_that_hangs_delays_nothing_but_the_first_token_by_a_second() {
    let one = signer("one");
    let begun = tokio::time::Instant::now();
    let ring = ring_whose_first_fetch_hangs(&one).load_ahead(after(0));
    assert_eq!(begun.elapsed(), Duration::ZERO, "starting does not wait");
    assert!(ring.viewer(&token(&one), after(0)).await.is_ok());
    let waited = begun.elapsed();
    assert!(waited <= Duration::from_millis(1_001), "{waited:?}");
    assert!(ring.viewer(&token(&one), after(1)).await.is_ok());
    assert_eq!(begun.elapsed(), waited, "the next one waits for nothing");
}

#[tokio::test]
async fn loading_ahead_that_fails_counts_for_nobody() {
    let one = signer("one");
    let (ring, fetches) = ring(vec![Err(()), Ok(vec![public(&one)])]);
    let ring = ring.load_ahead(after(0));
    assert!(ring.viewer(&token(&one), after(0)).await.is_ok());
    assert_eq!(fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_key_that_came_just_after_loading_ahead_is_found_at_once() {
    let one = signer("one");
    let (ring, _) = ring(vec![Ok(vec![]), Ok(vec![public(&one)])]);
    let ring = ring.load_ahead(after(0));
    assert!(ring.viewer(&token(&one), after(0)).await.is_ok());
}

#[tokio::test]
async fn keys_that_were_loaded_ahead_long_ago_are_fetched_anew() {
    let (one, two) = (signer("one"), signer("two"));
    let (ring, _) = ring(vec![Ok(vec![public(&one)]), Ok(vec![public(&two)])]);
    let ring = ring.load_ahead(after(0));
    tokio::task::yield_now().await;
    assert!(is_unknown(&ring.viewer(&token(&one), after(3_600)).await));
}
