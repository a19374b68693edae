//! What can be had, and by how many.

use contracts::orders::OrderStateBody;
use futures::future::join_all;
use serde_json::json;
use test_sale::PRICES;

use crate::shop::{Shop, in_seconds, order_of, places, seats};

#[tokio::test]
async fn an_order_of_several_lines_is_held_queued_and_told() {
    let shop = Shop::of(100, 4).await;
    let body = json!({"lines": [
        {"ticket_type": "stalls", "seats": ["A-1-2", "A-1-1"]},
        {"ticket_type": "floor", "quantity": 2},
    ]});
    let answer = shop.order("ann", "k", &body).await;
    assert_eq!(answer.status, 202, "{}", answer.raw.body);
    let order = order_of(&answer);
    assert_eq!(answer.header("location"), format!("/events/show/orders/{}", order.id));
    assert_eq!(order.state, OrderStateBody::QUEUED);
    assert_eq!(order.total.amount, 2 * PRICES.0 + 2 * PRICES.1);
    assert_eq!(order.lines[0].unit_price.amount, PRICES.0);
    assert_eq!(order.lines[1].units, ["A-1-1", "A-1-2"]);
    let expires_at = order.expires_at.unwrap();
    assert!(expires_at > in_seconds(595) && expires_at <= in_seconds(600));

    let sent = shop.queue.take_sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].group, "show");
    let intent: contracts::messages::OrderIntent =
        serde_json::from_value(sent[0].body.clone()).unwrap();
    assert_eq!((intent.order, intent.expires_at), (order.id, expires_at));
    assert_eq!(intent.expires_at.duration_since(intent.held_at).as_secs(), 600);
    let units: usize = intent.lines.iter().map(|line| line.units.len()).sum();
    assert_eq!(units, 4);
    assert_eq!(
        (shop.sale.counts("floor").await.held, shop.sale.counts("stalls").await.held),
        (2, 2)
    );
}

#[tokio::test]
async fn a_warm_function_takes_an_order_with_one_read_one_script_and_one_message() {
    let shop = Shop::of(100, 4).await;
    shop.accepted("ann", "first", &places(1)).await;
    let (_, _) = (shop.sale.wire.take_sent(), shop.queue.take_sent());
    let before = shop.sale.redis.scripts_run();
    shop.accepted("ben", "k", &places(1)).await;
    let reads = shop.sale.wire.take_sent();
    assert_eq!(reads.len(), 1, "{reads:?}");
    assert_eq!(reads[0].action, "GetItem");
    assert_eq!(reads[0].request["ConsistentRead"], true);
    assert!(reads[0].read <= 1.0);
    assert_eq!(shop.sale.redis.scripts_run() - before, 1);
    assert_eq!(shop.queue.take_sent().len(), 1);
}

#[tokio::test]
async fn b1_one_place_left_and_fifty_who_want_it_one_is_accepted_and_49_clearly_refused() {
    let shop = Shop::of(1, 0).await;
    one_of_fifty(&shop, &places(1)).await;
    assert_eq!(shop.sale.counts("floor").await.held, 1);
}

#[tokio::test]
async fn b1_one_seat_left_and_fifty_who_want_it_one_is_accepted_and_49_clearly_refused() {
    let shop = Shop::of(1, 1).await;
    one_of_fifty(&shop, &seats(&[0])).await;
    assert_eq!(shop.sale.counts("stalls").await.held, 1);
}

async fn one_of_fifty(shop: &Shop, body: &serde_json::Value) {
    let fans: Vec<String> = (0..50).map(|number| format!("fan-{number}")).collect();
    let answers = join_all(fans.iter().map(|fan| shop.order(fan, "k", body))).await;
    let accepted = answers.iter().filter(|answer| answer.status == 202).count();
    let refused = answers.iter().filter(|answer| {
        answer.status == 409 && ["sold_out", "seat_taken"].contains(&answer.reason().as_str())
    });
    assert_eq!((accepted, refused.count()), (1, 49));
    assert_eq!(shop.sent().len(), 1);
}

#[tokio::test]
async fn b2_the_last_unit_alone_is_accepted_and_not_called_sold_out() {
    let shop = Shop::of(1, 1).await;
    shop.accepted("ann", "a", &places(1)).await;
    shop.accepted("ann", "b", &seats(&[0])).await;
    assert_eq!(shop.order("ben", "a", &places(1)).await.reason(), "sold_out");
}

#[tokio::test]
async fn b3_three_left_and_five_asked_is_refused_and_three_are_still_left() {
    let shop = Shop::of(3, 0).await;
    let answer = shop.order("ann", "five", &places(5)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "sold_out"));
    assert_eq!(answer.json()["ticket_type"], "floor");
    assert_eq!(shop.sale.counts("floor").await.remaining, 3);
    assert_eq!(shop.sent(), []);
    shop.accepted("ann", "three", &places(3)).await;
}

#[tokio::test]
async fn b20_one_left_is_sold_to_one_and_refused_to_three() {
    let shop = Shop::of(1, 0).await;
    assert_eq!(shop.order("ann", "three", &places(3)).await.reason(), "sold_out");
    assert_eq!(shop.sale.counts("floor").await.remaining, 1);
    shop.accepted("ann", "one", &places(1)).await;
}

#[tokio::test]
async fn all_lines_are_had_or_none() {
    let shop = Shop::of(5, 2).await;
    shop.accepted("ann", "k", &seats(&[1])).await;
    let both = json!({"lines": [
        {"ticket_type": "floor", "quantity": 2},
        {"ticket_type": "stalls", "seats": ["A-1-0", "A-1-1"]},
    ]});
    let answer = shop.order("ben", "k", &both).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "seat_taken"));
    assert_eq!(answer.json()["seats"], json!(["A-1-1"]));
    assert_eq!(shop.sale.counts("floor").await.held, 0);
    assert_eq!(shop.sale.counts("stalls").await.held, 1);
}
