//! What a claim comes to when nothing fails but conditions.

use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, TransactWriteItem, Update,
};
use receipts::{Claim, Error, Fingerprint, Item, Outcome, RefusedWork};
use test_support::wire::Sent;

use crate::given::{GET, PUT, TRANSACT, World, content, key, number, receipt, request, text, with};

#[tokio::test]
async fn a_claim_is_new_once_and_then_replayed() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    assert_eq!(world.claim(&claim).await, Outcome::New);
    for _ in 0..3 {
        assert_eq!(world.claim(&claim).await, Outcome::Replayed(receipt("k")));
    }
    assert_eq!(world.balance().await, 2);
    assert_eq!(world.receipts.find(&key("k")).await.unwrap(), Some(receipt("k")));
    assert_eq!(world.receipts.find(&key("other")).await.unwrap(), None);
}

#[tokio::test]
async fn another_key_is_another_request() {
    let world = World::start().await;
    for name in ["k", "K", "k "] {
        let claim = request(name).work(world.points());
        assert_eq!(world.claim(&claim).await, Outcome::New, "{name:?}");
    }
    assert_eq!(world.balance().await, 6);
}

#[tokio::test]
async fn the_same_key_with_other_content_is_a_mismatch_and_changes_nothing() {
    let world = World::start().await;
    world.claim(&request("k")).await;
    let other = Claim::new(key("k"), content(8));
    for claim in [other.clone(), other.work(world.points())] {
        assert_eq!(world.claim(&claim).await, Outcome::Mismatch(receipt("k")));
    }
    assert_eq!(world.balance().await, 0);
}

#[tokio::test]
async fn a_receipt_is_compared_by_the_rule_that_made_it() {
    let world = World::start().await;
    world.claim(&request("k")).await;
    let newer = Claim::new(key("k"), Fingerprint::new(2, [9; 32]));
    let same = newer.clone().or_older(content(7));
    assert_eq!(world.claim(&same).await, Outcome::Replayed(receipt("k")));
    let other = newer.clone().or_older(content(8));
    assert_eq!(world.claim(&other).await, Outcome::Mismatch(receipt("k")));
    // An older function meets a newer one's receipt: it can't say, and does not guess.
    let error = world.try_claim(&newer).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");

    let claim = Claim::new(key("new"), Fingerprint::new(2, [9; 32])).or_older(content(7));
    assert_eq!(world.claim(&claim).await, Outcome::New);
    let stored = world.receipts.find(&key("new")).await.unwrap().unwrap();
    assert_eq!(stored["fv"], number(2), "the newest rule's is stored");
}

#[tokio::test]
async fn an_item_that_is_no_receipt_is_never_replayed() {
    let world = World::start().await;
    let broken: [fn(&mut Item); 4] = [
        |item| drop(item.remove("fingerprint")),
        |item| drop(item.remove("fv")),
        |item| drop(item.insert("fv".to_owned(), number(256))),
        |item| drop(item.insert("fingerprint".to_owned(), text("hash"))),
    ];
    for (n, breaking) in broken.into_iter().enumerate() {
        let name = format!("k{n}");
        let mut item = receipt(&name);
        breaking(&mut item);
        let put = world.client.put_item().table_name(world.receipts_table());
        put.set_item(Some(item)).send().await.unwrap();
        let error = world.try_claim(&request(&name).work(world.points())).await.unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{n}: {error:?}");
    }
    assert_eq!(world.balance().await, 0);
}

#[tokio::test]
async fn a_replay_is_the_receipt_as_it_is_now() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    world.claim(&claim).await;
    let update = world.client.update_item().table_name(world.receipts_table());
    let update = update.set_key(Some(key("k"))).update_expression("SET answer = :later");
    update.expression_attribute_values(":later", text("paid")).send().await.unwrap();
    let now = with(receipt("k"), "answer", text("paid"));
    assert_eq!(world.claim(&claim).await, Outcome::Replayed(now));
}

#[tokio::test]
async fn another_items_condition_is_never_taken_for_a_duplicate() {
    let world = World::start().await;
    world.claim(&request("first").work(world.seat("A-2", "ann"))).await;
    let claim = request("k")
        .work(world.points())
        .work(world.seat("A-1", "ben"))
        .work(world.seat("A-2", "ben"));
    let present = Some(with(key("A-2"), "owner", text("ann")));
    let refused = Outcome::WorkRefused(vec![RefusedWork { at: 2, present }]);
    assert_eq!(world.claim(&claim).await, refused);
    // All or nothing, the receipt too: it was no decision.
    assert_eq!(world.receipts.find(&key("k")).await.unwrap(), None);
    assert_eq!((world.balance().await, world.work_item("A-1").await), (0, None));

    let delete = world.client.delete_item().table_name(world.work_table());
    delete.set_key(Some(key("A-2"))).send().await.unwrap();
    assert_eq!(world.claim(&claim).await, Outcome::New);
}

#[tokio::test]
async fn a_replay_comes_before_the_refusal_of_work_that_was_done() {
    let world = World::start().await;
    let claim = request("k").work(world.seat("A-1", "ann"));
    assert_eq!(world.claim(&claim).await, Outcome::New);
    // Now the work's own condition fails, too.
    assert_eq!(world.claim(&claim).await, Outcome::Replayed(receipt("k")));
}

#[tokio::test]
async fn refused_work_of_every_kind_comes_with_what_was_there() {
    let world = World::start().await;
    let names = ["put", "update", "delete", "check"];
    for name in names {
        world.claim(&request(&format!("seat {name}")).work(world.seat(name, "ann"))).await;
    }
    let table = world.work_table();
    let free = "attribute_not_exists(pk)";
    let put = Put::builder().table_name(table).set_item(Some(key("put")));
    let update = Update::builder().table_name(table).set_key(Some(key("update")));
    let delete = Delete::builder().table_name(table).set_key(Some(key("delete")));
    let check = ConditionCheck::builder().table_name(table).set_key(Some(key("check")));
    let unowned = ConditionCheck::builder().table_name(table).set_key(Some(key("nobody")));
    let item = TransactWriteItem::builder;
    let claim = request("k")
        .work(item().put(put.condition_expression(free).build().unwrap()).build())
        .work(
            item()
                .update(
                    update
                        .condition_expression(free)
                        .update_expression("SET x = :x")
                        .expression_attribute_values(":x", AttributeValue::Bool(true))
                        .build()
                        .unwrap(),
                )
                .build(),
        )
        .work(item().delete(delete.condition_expression(free).build().unwrap()).build())
        .work(item().condition_check(check.condition_expression(free).build().unwrap()).build())
        .work(
            item()
                .condition_check(
                    unowned.condition_expression("attribute_exists(pk)").build().unwrap(),
                )
                .build(),
        );
    let mut expected: Vec<RefusedWork> = names
        .into_iter()
        .enumerate()
        .map(|(at, name)| RefusedWork { at, present: Some(with(key(name), "owner", text("ann"))) })
        .collect();
    expected.push(RefusedWork { at: 4, present: None });
    assert_eq!(world.claim(&claim).await, Outcome::WorkRefused(expected));
}

#[tokio::test]
async fn a_claim_without_work_is_one_plain_write() {
    let world = World::start().await;
    for outcome in [Outcome::New, Outcome::Replayed(receipt("k"))] {
        assert_eq!(world.claim(&request("k")).await, outcome);
        let sent = world.wire.take_sent();
        let [Sent { action, written, .. }] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!(action, PUT);
        assert!(*written <= 1.0, "{written}");
    }
}

#[tokio::test]
async fn a_claim_with_work_is_one_transaction_and_reads_nothing() {
    let world = World::start().await;
    let claim = request("k").work(world.points());
    world.claim(&claim).await;
    world.claim(&claim).await;
    assert_eq!(world.sent(), [TRANSACT, TRANSACT]);
}

#[tokio::test]
async fn asking_for_a_receipt_is_a_consistent_read() {
    let world = World::start().await;
    world.receipts.find(&key("k")).await.unwrap();
    let sent = world.wire.take_sent();
    assert_eq!((sent.len(), sent[0].action.as_str()), (1, GET));
    assert_eq!(sent[0].request["ConsistentRead"], true);
    assert_eq!(sent[0].request["TableName"], world.receipts_table());
}

#[tokio::test]
async fn a_key_without_an_attribute_is_refused_before_anything_is_sent() {
    let world = World::start().await;
    let claim = Claim::new(Item::new(), content(7));
    for claim in [claim.clone(), claim.work(world.points())] {
        let error = world.try_claim(&claim).await.unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    }
    assert_eq!(world.sent(), [""; 0]);
}

#[tokio::test]
async fn what_is_stored_cannot_displace_key_or_fingerprint() {
    let world = World::start().await;
    let stored = with(with(key("other"), "fv", number(9)), "fingerprint", text("x"));
    let claim = request("k").storing(stored);
    assert_eq!(world.claim(&claim).await, Outcome::New);
    assert_eq!(world.receipts.find(&key("k")).await.unwrap(), Some(receipt("k")));
}
