//! Batches: copies, poison, and the time they have.

use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{Epoch, Fingerprint, Money, OrderLine, OrderState, UnitId};
use dynamo_store::Patience;
use jiff::Timestamp;
use test_sale::{now, places, seats};
use test_support::wire::Fault;

use crate::desk::Desk;

#[tokio::test]
async fn m1_the_same_message_twice_in_one_batch_is_persisted_once() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let _ = desk.transactions();
    assert!(desk.batch(&[intent.clone(), intent.clone()]).await.is_empty());
    assert_eq!(desk.transactions(), 1);
    assert_eq!(desk.order(&intent).await.version, 1);
    assert_eq!(desk.sale.owned("floor").await, 2);
}

#[tokio::test]
async fn m1_the_same_message_in_two_batches_is_persisted_once() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.batch(std::slice::from_ref(&intent)).await;
    let first = desk.order(&intent).await;
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.order(&intent).await, first);
    assert_eq!(desk.sale.owned("floor").await, 2);
    assert_eq!(desk.counts("floor").await, (0, 2, 8));
}

#[tokio::test]
async fn m1_the_same_message_in_two_functions_at_once_is_persisted_once() {
    let desk = Desk::of(10, 0).await;
    let batch = [desk.sale.hold("ann", "k", vec![places(2)]).await];
    let (one, other) = tokio::join!(desk.batch(&batch), desk.batch(&batch));
    assert!(one.is_empty() && other.is_empty());
    assert_eq!(desk.order(&batch[0]).await.version, 1);
    assert_eq!(desk.sale.owned("floor").await, 2);
}

#[tokio::test]
async fn m2_one_that_can_never_be_persisted_is_buried_at_once_and_nine_persist() {
    let desk = Desk::of(10, 9).await;
    let mut intents = Vec::new();
    for number in 0..9 {
        intents.push(desk.sale.hold(&format!("fan-{number}"), "k", vec![seats([number])]).await);
    }
    // Its type is none of the event's.
    let mut poison = desk.sale.hold("poison", "k", vec![places(1)]).await;
    poison.lines[0].ticket_type = test_sale::kind("nosuch");
    intents.insert(4, poison.clone());
    assert!(desk.batch(&intents).await.is_empty());
    assert_eq!(desk.sale.owned("stalls").await, 9);
    let letters = desk.dead_letters.take_sent();
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].text, serde_json::to_string(&poison).unwrap());
    assert_eq!(letters[0].attributes["reason"], "unwritable");
    assert!(!letters[0].attributes["detail"].is_empty());
    // Whoever reads the dead letters ends the order.
    assert_eq!(desk.sale.stored("poison", &poison.order).await, None);
    assert_eq!(desk.counts("floor").await, (1, 0, 9));
}

#[tokio::test]
async fn what_no_till_writes_is_buried() {
    let desk = Desk::of(50, 0).await;
    let held = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let wrong: [fn(&mut OrderIntent); 13] = [
        |intent| intent.lines.clear(),
        |intent| intent.lines[0].units.clear(),
        |intent| intent.lines[0].units = (0..41).map(UnitId::Serial).collect(),
        |intent| intent.lines[0].unit_amount = -1,
        |intent| intent.lines[0].unit_amount = Money::MAX_AMOUNT + 1,
        |intent| intent.lines[0].unit_amount = i64::MAX,
        |intent| intent.lines[0].price_version = OrderLine::LAST_PRICE_VERSION + 1,
        |intent| intent.epoch.0 = Epoch::LAST.0 + 1,
        |intent| intent.held_at = Timestamp::MAX,
        |intent| intent.held_at = Timestamp::MIN,
        |intent| intent.expires_at = Timestamp::MAX,
        |intent| intent.expires_at = Timestamp::MIN,
        // Too late as well: no such refusal may be stored either.
        |intent| (intent.held_at, intent.expires_at) = (Timestamp::MAX, now()),
    ];
    for (number, spoil) in wrong.into_iter().enumerate() {
        let mut intent = held.clone();
        spoil(&mut intent);
        assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
        let letters = desk.dead_letters.take_sent();
        assert_eq!(letters.len(), 1, "{number}");
        assert_eq!(letters[0].attributes["reason"], "unwritable", "{number}");
        assert_eq!(desk.sale.stored("ann", &intent.order).await, None, "{number}");
    }
}

#[tokio::test]
async fn the_most_that_an_intent_may_say_is_kept_by_both_stores() {
    let desk = Desk::of(40, 0).await;
    let mut intent = desk.sale.hold("ann", "k", vec![places(40)]).await;
    intent.lines[0].unit_amount = Money::MAX_AMOUNT;
    intent.lines[0].price_version = OrderLine::LAST_PRICE_VERSION;
    intent.epoch = Epoch::LAST;
    let last = Timestamp::from_second(Timestamp::MAX.as_second()).unwrap();
    (intent.held_at, intent.expires_at) = (last, last);
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    let order = desk.order(&intent).await;
    assert_eq!((&order.lines, order.epoch, order.created_at), (&intent.lines, Epoch::LAST, last));
    assert_eq!(desk.counts("floor").await, (0, 40, 0), "and Redis was told");
}

#[tokio::test]
async fn a_damaged_copy_does_not_speak_for_the_good_one() {
    for good_first in [false, true] {
        let desk = Desk::of(10, 0).await;
        let good = desk.sale.hold("ann", "k", vec![places(2)]).await;
        let damaged = OrderIntent { lines: Vec::new(), ..good.clone() };
        let mut both = [damaged.clone(), good.clone()];
        if good_first {
            both.reverse();
        }
        assert!(desk.batch(&both).await.is_empty());
        assert_eq!(desk.order(&good).await.state, OrderState::Pending);
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
        let letters = desk.dead_letters.take_sent();
        let buried: Vec<&str> = letters.iter().map(|letter| letter.text.as_str()).collect();
        assert_eq!(buried, [serde_json::to_string(&damaged).unwrap()]);
    }
}

#[tokio::test]
async fn of_two_intents_of_one_order_at_once_the_first_to_be_stored_decides() {
    let other: [fn(&mut OrderIntent); 4] = [
        |intent| {
            intent.lines[0].units.pop();
        },
        |intent| intent.fingerprint = Fingerprint([1; 32]),
        |intent| intent.epoch = Epoch(0),
        // Too late: this one refuses the order.
        |intent| intent.expires_at = now(),
    ];
    for (case, change) in other.into_iter().enumerate() {
        // Whoever is first at the tables is put off for a moment, or is not.
        for (turned, contended) in [(false, false), (false, true), (true, false), (true, true)] {
            let desk = Desk::of(10, 0).await;
            let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
            let mut changed = intent.clone();
            change(&mut changed);
            let both = if turned { [changed, intent.clone()] } else { [intent.clone(), changed] };
            if contended {
                let fault = Fault::cancelled(&["TransactionConflict", "None", "None"]);
                desk.sale.wire.next("TransactWriteItems", fault);
            }
            assert!(desk.batch(&both).await.is_empty());
            let order = desk.order(&intent).await;
            let units = order.units().count();
            let own = if order.state == OrderState::Pending { units } else { 0 };
            assert_eq!(units, own, "case {case}");
            assert_eq!(desk.sale.owned("floor").await, own, "case {case}");
            let own = u32::try_from(own).unwrap();
            assert_eq!(desk.counts("floor").await, (0, own, 10 - own), "case {case}");
            // Each of them again finds what was decided.
            for again in both {
                assert!(desk.batch(&[again]).await.is_empty());
                assert_eq!(desk.order(&intent).await, order, "case {case}");
                assert_eq!(desk.counts("floor").await, (0, own, 10 - own), "case {case}");
            }
        }
    }
}

#[tokio::test]
async fn an_intent_that_dynamodb_refuses_is_buried_with_its_reason() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let invalid = Fault::error(400, "ValidationException", "an attribute is not as it must be");
    desk.sale.wire.next("TransactWriteItems", invalid);
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    let letters = desk.dead_letters.take_sent();
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].attributes["reason"], "unwritable");
    let detail = &letters[0].attributes["detail"];
    assert!(detail.contains("an attribute is not as it must be"), "{detail}");
}

#[tokio::test]
async fn a_late_intent_that_can_not_even_be_refused_is_buried_too() {
    let desk = Desk::of(10, 0).await;
    let late = Duration::from_secs(35);
    let intent = desk.sale.hold_for("ann", "k", vec![places(1)], late).await;
    desk.sale.wire.next("PutItem", Fault::error(400, "ValidationException", "no"));
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    assert_eq!(desk.dead_letters.take_sent()[0].attributes["reason"], "unwritable");
}

#[tokio::test]
async fn an_intent_that_can_not_be_buried_now_comes_back() {
    let desk = Desk::of(10, 0).await;
    let mut intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    intent.lines[0].ticket_type = test_sale::kind("nosuch");
    desk.dead_letters.set_refusing(true);
    assert_eq!(desk.batch(std::slice::from_ref(&intent)).await, ["0"]);
    assert_eq!(desk.intents.take_postponed(), [1]);
    desk.dead_letters.set_refusing(false);
    assert!(desk.batch(&[intent]).await.is_empty());
    assert_eq!(desk.dead_letters.take_sent().len(), 1);
}

#[tokio::test]
async fn what_can_not_be_read_is_buried_as_it_came_and_holds_up_nothing() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let readable = serde_json::to_string(&intent).unwrap();
    let texts = ["nonsense", &readable, r#"{"order":7}"#, "nonsense"].map(str::to_owned);
    assert!(desk.texts(&texts, 30).await.is_empty());
    assert_eq!(desk.order(&intent).await.state, OrderState::Pending);
    let mut letters = desk.dead_letters.take_sent();
    letters.sort_by(|one, other| one.text.cmp(&other.text));
    let buried: Vec<&str> = letters.iter().map(|letter| letter.text.as_str()).collect();
    assert_eq!(buried, ["nonsense", r#"{"order":7}"#], "copies are one");
    assert!(letters.iter().all(|letter| letter.attributes["reason"] == "unreadable"));
}

#[tokio::test]
async fn of_a_mixed_batch_exactly_those_come_back_that_are_not_done_with() {
    let desk = Desk::of(10, 0).await;
    let contended = desk.sale.hold("ben", "k", vec![places(1)]).await;
    let mut poison = desk.sale.hold("cat", "k", vec![places(1)]).await;
    poison.lines[0].ticket_type = test_sale::kind("nosuch");
    for _ in 0..Patience::of(Duration::ZERO).tries {
        desk.sale
            .wire
            .next("TransactWriteItems", Fault::cancelled(&["TransactionConflict", "None"]));
    }
    let _ = desk.transactions();
    let intents = [&contended, &poison, &contended, &poison];
    let texts = intents.map(|intent| serde_json::to_string(intent).unwrap());
    let texts = [&texts[..], &["nonsense".to_owned()]].concat();
    assert_eq!(desk.texts(&texts, 30).await, ["0", "2"]);
    assert_eq!(desk.intents.take_postponed(), [1], "copies are postponed as one");
    assert_eq!(desk.dead_letters.take_sent().len(), 2);
    assert!(desk.batch(std::slice::from_ref(&contended)).await.is_empty());
    assert_eq!(desk.order(&contended).await.state, OrderState::Pending);
}

#[tokio::test]
async fn nothing_is_begun_that_can_not_be_finished() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let _ = desk.sale.wire.take_sent();
    let text = serde_json::to_string(&intent).unwrap();
    assert_eq!(desk.texts(&[text], 1).await, ["0"]);
    assert!(desk.sale.wire.take_sent().is_empty());
}

#[tokio::test]
async fn a_redis_that_stands_still_brings_no_message_back_whose_order_is_stored() {
    // Whoever connects waits for ever.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    // With the function's longest timeout, and with its shortest.
    for (seconds, count) in [(30, 10), (2, 1)] {
        let mut desk = Desk::of(10, 0).await;
        let mut intents = Vec::new();
        for number in 0..count {
            let intent = desk.sale.hold(&format!("fan-{number}"), "k", vec![places(1)]).await;
            intents.push(serde_json::to_string(&intent).unwrap());
        }
        desk.reach_redis_at(&format!("redis://{}", listener.local_addr().unwrap()));
        assert_eq!(desk.texts(&intents, seconds).await, Vec::<String>::new());
        assert_eq!(desk.sale.owned("floor").await, count);
    }
}

#[tokio::test]
async fn what_takes_too_long_is_put_off_while_there_is_time_to() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    desk.sale.wire.slow_down(Duration::from_secs(60));
    let text = serde_json::to_string(&intent).unwrap();
    assert_eq!(desk.texts(&[text], 2).await, ["0"]);
    assert_eq!(desk.intents.take_postponed(), [1]);
}

#[tokio::test]
async fn the_queues_own_event_is_understood() {
    let desk = Desk::of(10, 0).await;
    let fixture: aws_lambda_events::sqs::SqsEvent =
        serde_json::from_str(include_str!("../../events/intents.json")).unwrap();
    let bodies: Vec<String> =
        fixture.records.iter().filter_map(|record| record.body.clone()).collect();
    assert!(!bodies.is_empty());
    for body in &bodies {
        let read: Result<contracts::messages::OrderIntent, _> = serde_json::from_str(body);
        assert!(read.is_ok(), "{body}");
    }
    // They are of a hold that has long lapsed, or of an event that is not here.
    assert!(desk.texts(&bodies, 30).await.is_empty());
}
