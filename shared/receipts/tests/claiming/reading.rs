//! What AWS can answer and no local engine gives, in the words of the service.

use aws_sdk_dynamodb::Client;
use receipts::{Error, Failure, Patience, Reason, Transacted, transact};
use test_support::wire::Fault;

use crate::given::{GET, PATIENT, PUT, TRANSACT, World, key, request, text, with};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unavailable,
    Throttled,
    Contended,
    Invalid,
    Denied,
}

fn kind_of(error: &Error) -> Kind {
    match error {
        Error::Unavailable(_) => Kind::Unavailable,
        Error::Throttled(_) => Kind::Throttled,
        Error::Contended(_) => Kind::Contended,
        Error::Invalid(_) => Kind::Invalid,
        Error::Denied(_) => Kind::Denied,
        Error::Corrupt { .. } => panic!("{error:?}"),
    }
}

const ANSWERS: &[(&str, Kind)] = &[
    ("ProvisionedThroughputExceededException", Kind::Throttled),
    ("ThrottlingException", Kind::Throttled),
    ("Throttling", Kind::Throttled),
    ("RequestLimitExceeded", Kind::Throttled),
    ("TransactionConflictException", Kind::Contended),
    ("ReplicatedWriteConflictException", Kind::Contended),
    ("ValidationException", Kind::Invalid),
    ("SerializationException", Kind::Invalid),
    ("ItemCollectionSizeLimitExceededException", Kind::Invalid),
    ("AccessDeniedException", Kind::Denied),
    ("ExpiredTokenException", Kind::Denied),
    ("IncompleteSignatureException", Kind::Denied),
    ("InvalidSignatureException", Kind::Denied),
    ("MissingAuthenticationTokenException", Kind::Denied),
    ("ResourceNotFoundException", Kind::Denied),
    ("UnrecognizedClientException", Kind::Denied),
    ("TransactionInProgressException", Kind::Unavailable),
    ("IdempotentParameterMismatchException", Kind::Unavailable),
    ("NeverHeardOfException", Kind::Unavailable),
];

fn answers() -> Vec<(Fault, Kind)> {
    let named = ANSWERS.iter().map(|(code, kind)| (Fault::error(400, code, "because"), *kind));
    let nameless = [
        Fault::error(500, "InternalServerError", "The request processing has failed"),
        Fault::error(503, "ServiceUnavailable", "The service is temporarily unavailable"),
        Fault::Answer(502, "<html>bad gateway</html>".to_owned()),
        Fault::Answer(400, String::new()),
        Fault::RequestLost,
        Fault::ReplyLost,
    ];
    named.chain(nameless.map(|fault| (fault, Kind::Unavailable))).collect()
}

#[tokio::test]
async fn every_answer_of_the_service_is_read_as_what_it_means() {
    let world = World::start().await;
    for (fault, kind) in answers() {
        world.wire.next(GET, fault.clone());
        let error = world.receipts.find(&key("k")).await.unwrap_err();
        assert_eq!(kind_of(&error), kind, "{fault:?}");
        assert_eq!(error.is_outcome_unknown(), kind == Kind::Unavailable, "{fault:?}");
        assert_eq!(error.is_retryable(), kind != Kind::Invalid, "{fault:?}");
        assert!(std::error::Error::source(&error).is_some());

        if fault == Fault::ReplyLost {
            continue;
        }
        let once = Patience { tries: 1, ..PATIENT };
        for (action, claim) in [(PUT, request("k")), (TRANSACT, request("k").work(world.points()))]
        {
            world.wire.next(action, fault.clone());
            let error = world.receipts.claim(&claim, once).await.unwrap_err();
            assert_eq!(kind_of(&error), kind, "{action}: {fault:?}");
        }
        assert!(world.wire.is_spent());
    }
    assert_eq!(world.receipts.find(&key("k")).await.unwrap(), None);
}

#[test]
fn what_cannot_be_read_never_can() {
    let error = Error::corrupt("receipt k", "for a reason");
    assert!(!error.is_retryable() && !error.is_outcome_unknown());
    assert_eq!(error.to_string(), "item receipt k can't be read");
}

async fn cancelled(client: &Client, world: &World, codes: &[&str]) -> (Vec<Failure>, Error) {
    world.wire.next(TRANSACT, Fault::cancelled(codes));
    let items = vec![world.points(), world.seat("A-1", "ann"), world.seat("A-2", "ann")];
    match transact(client, items).await.unwrap() {
        Transacted::Cancelled { failures, error } => (failures, error),
        Transacted::Done => panic!("{codes:?}"),
    }
}

#[tokio::test]
async fn every_cancellation_reason_stands_at_its_items_position() {
    let world = World::start().await;
    use Reason::{ConditionFailed, Conflict, Invalid, None as Fine, Throttled, Unknown};
    let cases: [(&[&str], [Reason; 3], Kind); 9] = [
        (&["TransactionConflict", "None", "None"], [Conflict, Fine, Fine], Kind::Contended),
        (
            &["None", "ConditionalCheckFailed", "TransactionConflict"],
            [Fine, ConditionFailed, Conflict],
            Kind::Contended,
        ),
        (
            &["TransactionConflict", "ThrottlingError", "None"],
            [Conflict, Throttled, Fine],
            Kind::Throttled,
        ),
        (
            &["None", "None", "ProvisionedThroughputExceeded"],
            [Fine, Fine, Throttled],
            Kind::Throttled,
        ),
        (
            &["ThrottlingError", "ValidationError", "?"],
            [Throttled, Invalid, Unknown],
            Kind::Invalid,
        ),
        (
            &["ItemCollectionSizeLimitExceeded", "None", "None"],
            [Invalid, Fine, Fine],
            Kind::Invalid,
        ),
        (
            &["ThrottlingError", "NeverHeardOf", "None"],
            [Throttled, Unknown, Fine],
            Kind::Unavailable,
        ),
        // Reasons that don't stand beside the items say nothing about any.
        (&["ConditionalCheckFailed"], [Unknown; 3], Kind::Unavailable),
        (&[], [Unknown; 3], Kind::Unavailable),
    ];
    for (codes, expected, kind) in cases {
        let (failures, error) = cancelled(&world.client, &world, codes).await;
        let reasons: Vec<Reason> = failures.iter().map(|failure| failure.reason).collect();
        assert_eq!(reasons, expected, "{codes:?}");
        assert!(failures.iter().all(|failure| failure.present.is_none()));
        assert_eq!(kind_of(&error), kind, "{codes:?}");
    }
}

#[tokio::test]
async fn a_failed_condition_comes_with_the_item_that_was_there() {
    let world = World::start().await;
    world.claim(&request("k").work(world.seat("A-2", "ben"))).await;
    let items = vec![world.seat("A-1", "ann"), world.seat("A-2", "ann")];
    let outcome = transact(&world.client, items).await.unwrap();
    let Transacted::Cancelled { failures, .. } = outcome else { panic!("{outcome:?}") };
    let present = Some(with(key("A-2"), "owner", text("ben")));
    let expected = [
        Failure { reason: Reason::None, present: None },
        Failure { reason: Reason::ConditionFailed, present },
    ];
    assert_eq!(failures, expected);
}

#[tokio::test]
async fn a_transaction_that_is_not_cancelled_fails_as_its_answer_says() {
    let world = World::start().await;
    for (fault, kind) in answers() {
        world.wire.next(TRANSACT, fault.clone());
        let error = transact(&world.client, vec![world.points()]).await.unwrap_err();
        assert_eq!(kind_of(&error), kind, "{fault:?}");
    }
}
