//! Lost requests, lost replies, contention and throttling.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use receipts::{Claim, Error, Outcome, Patience, Transacted, transact};
use test_support::wire::{Fault, Sent};

use crate::given::{GET, PATIENT, PUT, TRANSACT, World, key, receipt, request};

fn conflict() -> Fault {
    Fault::cancelled(&["TransactionConflict", "None"])
}

fn busy() -> Fault {
    Fault::error(400, "ThrottlingException", "Throughput exceeds the current capacity")
}

fn is_consistent(sent: &Sent) -> bool {
    sent.action == GET && sent.request["ConsistentRead"] == true
}

/// The two kinds of claims, with the action each is written by.
fn both(world: &World) -> [(Claim, &'static str); 2] {
    [(request("with work").work(world.points()), TRANSACT), (request("without"), PUT)]
}

fn receipt_of(claim: &str) -> Outcome {
    Outcome::Replayed(receipt(if claim == TRANSACT { "with work" } else { "without" }))
}

#[tokio::test]
async fn after_a_lost_reply_the_receipt_is_read_consistently_before_anything_else() {
    // The SDK's own repeating is on, and yet nothing is sent before the look.
    let world = World::repeating().await;
    for (claim, action) in both(&world) {
        world.wire.next(action, Fault::ReplyLost);
        assert_eq!(world.claim(&claim).await, receipt_of(action));
        let sent = world.wire.take_sent();
        let [write, look] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!(write.action, action);
        assert!(is_consistent(look), "{look:?}");
    }
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn a_lost_request_is_looked_for_and_then_sent_again() {
    let world = World::start().await;
    for (claim, action) in both(&world) {
        world.wire.next(action, Fault::RequestLost);
        assert_eq!(world.claim(&claim).await, Outcome::New);
        assert_eq!(world.sent(), [action, GET, action]);
    }
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn where_the_look_fails_too_nothing_more_is_written_and_a_repeat_finds_out() {
    let world = World::start().await;
    for (claim, action) in both(&world) {
        world.wire.next(action, Fault::ReplyLost);
        // Even where the look's own failure is a known one.
        world.wire.next(GET, busy());
        let error = world.try_claim(&claim).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{error:?}");
        assert_eq!(world.sent(), [action, GET]);
        assert_eq!(world.claim(&claim).await, receipt_of(action));
        world.sent();
    }
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn a_doubt_lasts_until_a_receipt_or_a_write_ends_it() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    // The first request may still arrive, whatever the second one is told.
    for second in [busy(), conflict(), Fault::error(400, "AccessDeniedException", "No")] {
        world.wire.next(TRANSACT, Fault::RequestLost);
        world.wire.next(TRANSACT, second);
        let patience = Patience { tries: 2, ..PATIENT };
        let error = world.receipts.claim(&claim, patience).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{error:?}");
        assert!(world.wire.is_spent());
    }
    world.wire.next(TRANSACT, conflict());
    world.wire.next(TRANSACT, Fault::RequestLost);
    let patience = Patience { tries: 2, ..PATIENT };
    let error = world.receipts.claim(&claim, patience).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert_eq!(world.claim(&claim).await, Outcome::New);
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn a_refusal_of_the_work_ends_no_doubt_either() {
    let world = World::start().await;
    let claim = request("k").work(world.seat("A-1", "ann"));
    world.claim(&request("other").work(world.seat("A-1", "ben"))).await;
    // Were the seat free again when the lost request arrives, it would be ann's.
    world.wire.next(TRANSACT, Fault::RequestLost);
    let error = world.try_claim(&claim).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert!(matches!(world.claim(&claim).await, Outcome::WorkRefused(_)));
}

/// M3: DynamoDB compares the requests of one token byte by byte, and maps have no order.
#[tokio::test]
async fn m3_no_two_writes_share_a_token_so_that_no_order_of_maps_is_a_mismatch() {
    let world = World::repeating().await;
    let mut tokens = BTreeSet::new();
    for _ in 0..32 {
        // Built anew each time, as by a redelivery.
        world.claim(&request("k").work(world.points())).await;
        for sent in world.wire.take_sent() {
            let token = sent.request["ClientRequestToken"].as_str().unwrap_or_default().to_owned();
            assert!(!token.is_empty() && tokens.insert(token), "{sent:?}");
        }
    }
    assert_eq!((tokens.len(), world.balance().await), (32, 2));
}

#[tokio::test]
async fn contention_is_met_in_place() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    let begun = Instant::now();
    for _ in 0..2 {
        world.wire.next(TRANSACT, conflict());
    }
    assert_eq!(world.claim(&claim).await, Outcome::New);
    assert_eq!(world.sent(), [TRANSACT; 3]);
    assert!(begun.elapsed() >= Duration::from_millis(150), "the tries are spread");

    world.wire.next(PUT, Fault::error(400, "TransactionConflictException", "Ongoing"));
    assert_eq!(world.claim(&request("other")).await, Outcome::New);
    assert_eq!(world.sent(), [PUT, PUT]);
}

#[tokio::test]
async fn contention_without_end_is_handed_back_as_such() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    for _ in 0..3 {
        world.wire.next(TRANSACT, conflict());
    }
    let error = world.try_claim(&claim).await.unwrap_err();
    assert!(matches!(error, Error::Contended(_)), "{error:?}");
    assert!(error.is_retryable() && !error.is_outcome_unknown());
    assert_eq!(world.sent(), [TRANSACT; 3], "as many as there is patience for");
    assert_eq!(world.claim(&claim).await, Outcome::New);
}

#[tokio::test]
async fn no_further_try_is_begun_that_the_time_left_would_cut_off() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    world.wire.next(TRANSACT, conflict());
    let short = Patience { time_left: Duration::from_secs(1), ..PATIENT };
    let error = world.receipts.claim(&claim, short).await.unwrap_err();
    assert!(matches!(error, Error::Contended(_)), "{error:?}");
    assert_eq!(world.sent(), [TRANSACT]);
}

#[tokio::test]
async fn throttling_is_handed_back_also_where_there_is_contention_with_it() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    let mixed = Fault::cancelled(&["TransactionConflict", "ProvisionedThroughputExceeded"]);
    for fault in [mixed, Fault::cancelled(&["None", "ThrottlingError"]), busy()] {
        world.wire.next(TRANSACT, fault);
        let error = world.try_claim(&claim).await.unwrap_err();
        assert!(matches!(error, Error::Throttled(_)), "{error:?}");
        assert_eq!(world.sent(), [TRANSACT]);
    }
    world.wire.next(PUT, busy());
    let error = world.try_claim(&request("other")).await.unwrap_err();
    assert!(matches!(error, Error::Throttled(_)), "{error:?}");
    assert_eq!(world.sent(), [PUT]);
}

#[tokio::test]
async fn a_condition_of_the_work_counts_only_where_nothing_else_was_in_the_way() {
    let world = World::start().await;
    let claim = request("k").work(world.points()).work(world.seat("A-1", "ann"));
    // The receipt is in conflict: this very request may be landing elsewhere.
    world.wire.next(
        TRANSACT,
        Fault::cancelled(&["TransactionConflict", "None", "ConditionalCheckFailed"]),
    );
    assert_eq!(world.claim(&claim).await, Outcome::New);
    assert_eq!(world.sent(), [TRANSACT, TRANSACT]);

    let cases = [
        ("ThrottlingError", "Throttled"),
        ("ValidationError", "Invalid"),
        ("TransactionConflict", "Contended"),
        ("NeverHeardOf", "Unavailable"),
    ];
    for (code, kind) in cases {
        let once = Patience { tries: 1, ..PATIENT };
        world.wire.next(TRANSACT, Fault::cancelled(&["None", code, "ConditionalCheckFailed"]));
        let claim = request(code).work(world.points()).work(world.seat("A-2", "ann"));
        let error = world.receipts.claim(&claim, once).await.unwrap_err();
        assert!(format!("{error:?}").starts_with(kind), "{code}: {error:?}");
    }
}

#[tokio::test]
async fn the_receipts_own_condition_comes_before_every_other_reason() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    world.claim(&claim).await;
    world.sent();
    // The item does not always come along: then it is read.
    for other in ["None", "TransactionConflict", "ThrottlingError", "ValidationError", "?"] {
        world.wire.next(TRANSACT, Fault::cancelled(&["ConditionalCheckFailed", other]));
        assert_eq!(world.claim(&claim).await, Outcome::Replayed(receipt("k")), "{other}");
        assert_eq!(world.sent(), [TRANSACT, GET], "{other}");
    }
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn a_receipt_that_was_there_and_is_not_is_claimed_again() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    world.wire.next(TRANSACT, Fault::cancelled(&["ConditionalCheckFailed", "None"]));
    assert_eq!(world.claim(&claim).await, Outcome::New);
    let put = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}"#;
    world.wire.next(PUT, Fault::Answer(400, put.to_owned()));
    assert_eq!(world.claim(&request("other")).await, Outcome::New);
}

#[tokio::test]
async fn reasons_that_do_not_stand_beside_the_items_say_nothing_about_any() {
    let world = World::start().await;
    let once = Patience { tries: 1, ..PATIENT };
    let claim = request("k").work(world.seat("A-1", "ann"));
    let codes: [&[&str]; 3] = [&["ConditionalCheckFailed"], &[], &["None"; 3]];
    for codes in codes {
        world.wire.next(TRANSACT, Fault::cancelled(codes));
        let error = world.receipts.claim(&claim, once).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{codes:?}: {error:?}");
        assert_eq!(world.sent(), [TRANSACT, GET]);
    }
}

#[tokio::test]
async fn a_claim_ends_in_its_time_whatever_the_table_does() {
    let world = World::start().await;
    // It waits for a second one, which doesn't come.
    world.wire.gather(TRANSACT, 2);
    let claim = request("k").work(world.points());
    let short = Patience { time_left: Duration::from_millis(50), ..PATIENT };
    let error = world.receipts.claim(&claim, short).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert_eq!(world.claim(&claim).await, Outcome::New);
}

#[tokio::test]
async fn a_transaction_that_is_no_claim_is_repeated_by_the_sdk_under_its_token() {
    let world = World::repeating().await;
    world.wire.next(TRANSACT, Fault::ReplyLost);
    let done = transact(&world.client, vec![world.points()]).await.unwrap();
    assert!(matches!(done, Transacted::Done));
    assert_eq!(world.sent(), [TRANSACT, TRANSACT]);
    assert_eq!(world.balance().await, 2);
    assert_eq!(world.receipts.find(&key("k")).await.unwrap(), None);
}
