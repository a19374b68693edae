//! Claims at the same instant, driven by barriers.

use futures::future::join_all;
use receipts::{Claim, Item, Outcome};
use test_support::wire::Fault;

use crate::given::{GET, TRANSACT, World, content, key, receipt, request, text, with};

/// Sends the claims so that all are on their way before one arrives.
async fn at_once(world: &World, claims: &[Claim]) -> Vec<Outcome> {
    world.wire.gather(TRANSACT, claims.len());
    join_all(claims.iter().map(|claim| world.claim(claim))).await
}

fn count(outcomes: &[Outcome], wanted: &Outcome) -> usize {
    outcomes.iter().filter(|outcome| *outcome == wanted).count()
}

#[tokio::test]
async fn two_claims_of_one_key_at_once_do_the_work_once() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    let outcomes = at_once(&world, &[claim.clone(), claim]).await;
    assert_eq!(count(&outcomes, &Outcome::New), 1);
    assert_eq!(count(&outcomes, &Outcome::Replayed(receipt("k"))), 1);
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn of_sixteen_claims_of_one_key_at_once_one_is_new() {
    let world = World::start().await;
    let claims = vec![request("k").work(world.points()); 16];
    let outcomes = at_once(&world, &claims).await;
    assert_eq!(count(&outcomes, &Outcome::New), 1);
    assert_eq!(count(&outcomes, &Outcome::Replayed(receipt("k"))), 15);
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn of_two_contents_under_one_key_at_once_one_is_a_mismatch() {
    let world = World::start().await;
    let one = Claim::new(key("k"), content(1)).work(world.points());
    let other = Claim::new(key("k"), content(2)).work(world.points());
    let outcomes = at_once(&world, &[one, other]).await;
    assert_eq!(count(&outcomes, &Outcome::New), 1);
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Mismatch(_))));
    assert_eq!(world.balance().await, 2);
}

#[tokio::test]
async fn of_two_keys_for_one_seat_at_once_one_is_refused_and_sees_the_owner() {
    let world = World::start().await;
    let claims = ["ann", "ben"].map(|fan| request(fan).work(world.seat("A-1", fan)));
    let outcomes = at_once(&world, &claims).await;
    assert_eq!(count(&outcomes, &Outcome::New), 1);
    let owner = world.work_item("A-1").await.unwrap();
    let refused = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::WorkRefused(refused) => Some(refused),
        Outcome::New | Outcome::Replayed(_) | Outcome::Mismatch(_) => None,
    });
    let refused = refused.unwrap();
    assert_eq!(refused.len(), 1);
    assert_eq!((refused[0].at, refused[0].present.as_ref()), (0, Some(&owner)));
}

#[tokio::test]
async fn a_claim_paused_before_it_is_sent_replays_what_another_did_meanwhile() {
    let paused = World::start().await;
    let quick = paused.other_wire();
    paused.wire.gather(TRANSACT, 2);
    let claim = request("k").work(paused.points());
    let meanwhile = async {
        assert_eq!(quick.claim(&claim).await, Outcome::New);
        assert_eq!(paused.sent(), [""; 0], "nothing was sent while it was paused");
        // Any second request lets the first one go on.
        paused.claim(&request("other").work(paused.seat("A-1", "ann"))).await;
    };
    let (outcome, ()) = futures::join!(paused.claim(&claim), meanwhile);
    assert_eq!(outcome, Outcome::Replayed(receipt("k")));
    assert_eq!(quick.balance().await, 2);
}

#[tokio::test]
async fn of_three_on_one_key_the_first_of_which_dies_after_its_write_all_others_replay_it() {
    let world = World::start().await;
    let claim = request("k").work(world.seat("A-1", "ann")).work(world.points());
    world.wire.next(TRANSACT, Fault::ReplyLost);
    world.wire.next(GET, Fault::RequestLost);
    let died = world.try_claim(&claim).await.unwrap_err();
    assert!(died.is_outcome_unknown());
    let outcomes = at_once(&world, &[claim.clone(), claim]).await;
    assert_eq!(count(&outcomes, &Outcome::Replayed(receipt("k"))), 2);
    assert_eq!(world.balance().await, 2);
    let seat = world.work_item("A-1").await;
    assert_eq!(seat, Some(with(key("A-1"), "owner", text("ann"))));
}

#[tokio::test]
async fn a_claim_and_the_refusal_of_the_same_request_at_once_leave_one_decision() {
    let world = World::start().await;
    let accepted = request("k").work(world.points());
    let refused = Claim::new(key("k"), content(7))
        .storing(with(Item::new(), "answer", text("no")))
        .work(world.seat("list of refusals", "ann"));
    let outcomes = at_once(&world, &[accepted, refused]).await;
    let stored = world.receipts.find(&key("k")).await.unwrap().unwrap();
    let yes = stored["answer"] == text("yes");
    let (first, second) = (Outcome::New, Outcome::Replayed(stored));
    assert_eq!(outcomes, if yes { [first, second] } else { [second, first] });
    assert_eq!(world.balance().await, if yes { 2 } else { 0 });
}
