//! One key, one decision.

use contracts::orders::OrderStateBody;
use domain::OrderState;
use futures::future::join_all;
use serde_json::json;
use test_sale::{LONG, PATIENT};

use crate::shop::{Shop, order_of, places, pointers, refused_order, seats};

#[tokio::test]
async fn a_repeat_finds_the_hold_sends_its_intent_again_and_tells_the_same() {
    let shop = Shop::of(10, 4).await;
    let first = shop.order("ann", "k", &seats(&[1, 2])).await;
    let again = shop.order("ann", "k", &seats(&[2, 1])).await;
    assert_eq!((first.status, again.status), (202, 202));
    assert_eq!(first.raw.body, again.raw.body);
    let sent = shop.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
    assert_eq!(shop.sale.counts("stalls").await.held, 2);
}

#[tokio::test]
async fn b8_the_same_cart_four_times_at_once_is_one_order() {
    let shop = Shop::of(10, 0).await;
    let cart = places(2);
    let answers = join_all((0..4).map(|_| shop.order("ann", "k", &cart))).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.raw.body), (202, &answers[0].raw.body));
    }
    assert_eq!(shop.sale.counts("floor").await.held, 2);
}

#[tokio::test]
async fn b9_the_same_key_with_another_body_changes_nothing() {
    let shop = Shop::of(10, 4).await;
    let held = shop.accepted("ann", "k", &places(2)).await;
    for other in [places(3), seats(&[0])] {
        let answer = shop.order("ann", "k", &other).await;
        assert_eq!((answer.status, answer.reason().as_str()), (422, "key_reused"));
    }
    let intent = shop.sent().remove(0);
    shop.sale.persist(&intent, LONG).await;
    let answer = shop.order("ann", "k", &places(3)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (422, "key_reused"));
    assert_eq!(shop.sale.counts("floor").await.sold, 2);
    // Another fan's key of the same name is another key.
    assert_ne!(shop.accepted("ben", "k", &places(3)).await.id, held.id);
}

#[tokio::test]
async fn b12_once_stored_the_first_order_is_told_at_its_first_price_without_an_admission() {
    let shop = Shop::of(10, 0).await;
    let held = shop.accepted("ann", "k", &places(2)).await;
    let intent = shop.sent().remove(0);
    shop.sale.persist(&intent, LONG).await;
    shop.sale.set_type("floor", 2, |floor| floor.amount = 99_000).await;
    let answer = shop.send(crate::shop::bare("ann", "k", &places(2))).await;
    assert_eq!(answer.status, 202);
    let stored = order_of(&answer);
    assert_eq!((stored.id, &stored.lines, stored.total), (held.id, &held.lines, held.total));
    assert_eq!(stored.state, OrderStateBody::Stored(OrderState::Pending));
    assert_eq!(shop.sent(), [], "a stored order is not sent again");
}

#[tokio::test]
async fn an_order_that_is_stored_while_its_repeat_is_under_way_is_told_as_it_is() {
    let shop = Shop::of(10, 0).await;
    let held = shop.accepted("ann", "k", &places(2)).await;
    let intent = shop.sent().remove(0);
    // The repeat looked before that; Redis has not heard of it.
    shop.sale.persist_unsettled(&intent, LONG).await;
    shop.sale.wire.next("GetItem", test_support::wire::Fault::Answer(200, json!({}).to_string()));
    let told = shop.accepted("ann", "k", &places(2)).await;
    assert!(shop.sale.wire.is_spent());
    assert_eq!((told.id, told.state), (held.id, OrderStateBody::Stored(OrderState::Pending)));
    assert_eq!(shop.sent(), [], "a stored order is not sent again");
}

#[tokio::test]
async fn once_stored_an_order_is_told_with_redis_gone() {
    let shop = Shop::of(10, 0).await;
    let held = shop.accepted("ann", "k", &places(2)).await;
    let intent = shop.sent().remove(0);
    shop.sale.persist(&intent, LONG).await;
    let Shop { sale, .. } = &shop;
    let client = redis::Client::open(sale.redis.url()).unwrap();
    let _: () = redis::cmd("FLUSHALL").query(&mut client.get_connection().unwrap()).unwrap();
    assert_eq!(shop.accepted("ann", "k", &places(2)).await.id, held.id);
    // A new attempt can't be decided, and is not.
    let answer = shop.order("ann", "new", &places(2)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    assert!(!answer.header("retry-after").is_empty());
    assert_eq!(pointers(&answer), Vec::<String>::new());
}

#[tokio::test]
async fn b24_a_hold_that_lapsed_is_the_end_of_its_key_and_told_so_twice() {
    let shop = Shop::of(10, 0).await;
    let lapsed = shop.sale.hold_for("ann", "k", vec![test_sale::places(2)], LAPSE).await;
    shop.sale.until_lapsed(&lapsed).await;
    for _ in 0..2 {
        let answer = shop.order("ann", "k", &places(2)).await;
        assert_eq!((answer.status, answer.reason().as_str()), (409, "hold_expired"));
        assert_eq!(refused_order(&answer), lapsed.order);
    }
    let stored = shop.sale.stored("ann", &lapsed.order).await.unwrap();
    assert_eq!(stored.state, OrderState::Rejected);
    assert_eq!(shop.sent(), []);
    assert_eq!(shop.sale.counts("floor").await.remaining, 10);
    shop.accepted("ann", "new", &places(2)).await;
}

const LAPSE: std::time::Duration = std::time::Duration::from_millis(30);

#[tokio::test]
async fn a_decision_of_someone_else_for_the_same_order_is_the_answer() {
    // B23: one request sees sold out while the other's hold is already stored.
    let shop = Shop::of(1, 0).await;
    let other = shop.sale.hold("ben", "k", vec![test_sale::places(1)]).await;
    shop.sale.wire.next("GetItem", test_support::wire::Fault::Answer(200, json!({}).to_string()));
    let ann = test_sale::intent("ann", "k", &[test_sale::places(1)]);
    let stored = domain::Order {
        id: ann.order,
        customer: ann.customer.clone(),
        fingerprint: ann.fingerprint,
        lines: Vec::new(),
        ..other.clone().into_order(&domain::HoldTime::default(), test_sale::now())
    };
    shop.sale.orders.order_persist(&stored, &test_sale::partitions(), PATIENT).await.unwrap();
    // The request's own read was before that.
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!(answer.status, 202, "{}", answer.raw.body);
    assert_eq!(order_of(&answer).id, ann.order);
    assert!(shop.sale.wire.is_spent());
}
