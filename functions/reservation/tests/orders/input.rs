//! Nothing malformed gets anywhere near a unit.

use lambda_kit::testing::TestRequest;
use serde_json::{Value, json};

use crate::shop::{ORDERS, Shop, places, pointers};

async fn nothing_moved(shop: &Shop) {
    assert_eq!(shop.sent(), []);
    assert_eq!(
        (shop.sale.counts("floor").await.held, shop.sale.counts("stalls").await.held),
        (0, 0)
    );
}

#[tokio::test]
async fn b7_what_is_no_order_is_refused_naming_the_field_and_nothing_moves() {
    let shop = Shop::of(50, 4).await;
    let many: Vec<Value> =
        (0..10_000).map(|n| json!({"ticket_type": format!("t{n}"), "quantity": 1})).collect();
    let many = json!({ "lines": many }).to_string();
    let line = |line: &str| format!(r#"{{"lines":[{line}]}}"#);
    let quantity = |text: &str| line(&format!(r#"{{"ticket_type":"floor","quantity":{text}}}"#));
    for (body, pointer) in [
        (quantity("-5"), "/lines/0/quantity"),
        (quantity("0"), "/lines/0/quantity"),
        (quantity("1.5"), "/lines/0/quantity"),
        (quantity("1000000000000000000"), "/lines/0/quantity"),
        (quantity("\"2\""), "/lines/0/quantity"),
        (quantity("null"), "/lines/0/quantity"),
        (quantity("41"), "/lines"),
        (line(r#"{"ticket_type":"stalls","seats":["A-1-1","A-1-2","A-1-1"]}"#), "/lines/0/seats/2"),
        (line(r#"{"ticket_type":"stalls","seats":["A-12"]}"#), "/lines/0/seats/0"),
        (line(r#"{"ticket_type":"stalls","seats":["A-1-1"],"quantity":2}"#), "/lines/0/quantity"),
        (line(r#"{"ticket_type":"stalls","seats":[]}"#), "/lines/0/seats"),
        (line(r#"{"ticket_type":"stalls","best_available":4}"#), "/lines/0/best_available"),
        (line(r#"{"ticket_type":"floor"}"#), "/lines/0"),
        (line(r#"{"ticket_type":"fl{oor}","quantity":1}"#), "/lines/0/ticket_type"),
        (line(r#"{"ticket_type":"floor","quantity":1,"price":1}"#), "/lines/0/price"),
        (line(r#"["floor",1]"#), "/lines/0"),
        (line(r#"["stalls",1,["A-1-1"]]"#), "/lines/0"),
        (r#"[[["floor",1]]]"#.to_owned(), ""),
        (r#"{"lines":[]}"#.to_owned(), "/lines"),
        (r#"{"lines":7}"#.to_owned(), "/lines"),
        (r#"{"lines":[],"coupon":"x"}"#.to_owned(), "/coupon"),
        (many, "/lines"),
        ("{".to_owned(), ""),
        (String::new(), ""),
    ] {
        let request = shop.request("ann", "k", &json!({})).text(&body);
        let answer = shop.send(request).await;
        let shown = &body[..body.len().min(100)];
        assert_eq!((answer.status, answer.reason().as_str()), (400, "invalid_request"), "{shown}");
        assert_eq!(answer.header("content-type"), "application/problem+json", "{shown}");
        assert_eq!(pointers(&answer), [pointer], "{shown}");
    }
    nothing_moved(&shop).await;
}

#[tokio::test]
async fn b7_broken_utf_8_and_too_much_of_it_are_refused() {
    let shop = Shop::of(5, 0).await;
    let broken =
        shop.request("ann", "k", &json!({})).bytes(b"{\"lines\":[{\"ticket_type\":\"\xff\"}]}");
    assert_eq!(shop.send(broken).await.status, 400);
    let huge = shop.request("ann", "k", &json!({"lines": "x".repeat(1_000_001)}));
    assert_eq!(shop.send(huge).await.status, 413);
    let text = shop.request("ann", "k", &places(1)).header("content-type", "text/plain");
    assert_eq!(shop.send(text).await.status, 415);
    nothing_moved(&shop).await;
}

#[tokio::test]
async fn b10_a_key_quoted_and_bare_is_one_key_and_what_is_no_key_is_refused() {
    let shop = Shop::of(5, 0).await;
    let bare = shop.accepted("ann", "k", &places(1)).await;
    let quoted = shop.accepted("ann", "\"k\"", &places(1)).await;
    assert_eq!(bare, quoted);
    assert_ne!(shop.accepted("ann", "K", &places(1)).await.id, bare.id, "case counts");
    for key in ["", "\"\"", &"k".repeat(300), "a b", "\"k", "k,k", "\"k\",\"k\"", "k;v=1"] {
        let answer = shop.order("ann", key, &places(1)).await;
        assert_eq!(answer.status, 400, "{key}");
        assert_eq!(pointers(&answer), ["header:Idempotency-Key"], "{key}");
    }
    let missing = TestRequest::post(ORDERS).fan("ann").json(&places(1));
    let answer = shop.send(missing).await;
    assert_eq!(
        (answer.status, pointers(&answer)),
        (400, vec!["header:Idempotency-Key".to_owned()])
    );
    assert_eq!(shop.sale.counts("floor").await.held, 2);
}

#[tokio::test]
async fn b21_an_invented_seat_or_type_is_none_and_the_wrong_way_to_ask_is_named() {
    let shop = Shop::of(5, 2).await;
    let unknown = json!({"lines": [
        {"ticket_type": "floor", "quantity": 1},
        {"ticket_type": "stalls", "seats": ["A-1-0", "A-1-7", "Z-1-1"]},
    ]});
    let answer = shop.order("ann", "a", &unknown).await;
    assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_seat"));
    assert_eq!(pointers(&answer), ["/lines/1/seats/1", "/lines/1/seats/2"]);

    let answer = shop
        .order("ann", "b", &json!({"lines": [{"ticket_type": "balcony", "quantity": 1}]}))
        .await;
    assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_ticket_type"));
    assert_eq!(pointers(&answer), ["/lines/0/ticket_type"]);

    let wrong = json!({"lines": [{"ticket_type": "stalls", "quantity": 1}]});
    let answer = shop.order("ann", "c", &wrong).await;
    assert_eq!((answer.status, pointers(&answer)), (400, vec!["/lines/0/quantity".to_owned()]));
    let wrong = json!({"lines": [{"ticket_type": "floor", "seats": ["A-1-0"]}]});
    let answer = shop.order("ann", "d", &wrong).await;
    assert_eq!((answer.status, pointers(&answer)), (400, vec!["/lines/0/seats".to_owned()]));
    nothing_moved(&shop).await;
}

#[tokio::test]
async fn an_unknown_event_is_404_and_the_wrong_method_405() {
    let shop = Shop::of(5, 0).await;
    for event in ["nosuch", "a%7Bb", &"x".repeat(65)] {
        let request = TestRequest::post(&format!("/events/{event}/orders"))
            .fan("ann")
            .header("idempotency-key", "k")
            .json(&places(1));
        let answer = shop.send(request).await;
        assert_eq!(
            (answer.status, pointers(&answer)),
            (404, vec!["path:event".to_owned()]),
            "{event}"
        );
    }
    let answer = shop.send(TestRequest::get(ORDERS).fan("ann")).await;
    assert_eq!((answer.status, answer.header("allow")), (405, "POST"));
    let answer =
        shop.send(TestRequest::post(ORDERS).header("idempotency-key", "k").json(&places(1)));
    assert_eq!(answer.await.status, 401);
}

#[tokio::test]
async fn the_gateways_own_event_is_understood() {
    let shop = Shop::of(5, 0).await;
    let event = serde_json::from_str(include_str!("../../events/order-post.json")).unwrap();
    let answer = shop.send(TestRequest::from_event(event)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (404, "not_found"));
    assert_eq!(answer.json()["title"], "找不到您要的內容");
}
