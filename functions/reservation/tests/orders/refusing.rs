//! Refusals: which are decisions, and which are not.

use domain::{Event, OrderState, SaleSwitch};
use dynamo_store::{Consistency, EventUpdated};
use serde_json::json;
use test_sale::{EPOCH, Sale, show};

use crate::shop::{Shop, in_seconds, order_of, places, refused_order, seats};

#[tokio::test]
async fn a_refusal_is_a_decision_stored_and_told_the_same_after_a_restock() {
    let shop = Shop::of(2, 1).await;
    let held =
        shop.sale.hold("other", "k", vec![test_sale::places(2), test_sale::seats([0])]).await;
    let sold_out = shop.order("ann", "a", &places(1)).await;
    let taken = shop.order("ann", "b", &seats(&[0])).await;
    for (answer, reason) in [(&sold_out, "sold_out"), (&taken, "seat_taken")] {
        assert_eq!((answer.status, answer.reason().as_str()), (409, reason));
        let order = refused_order(answer);
        assert_eq!(answer.header("location"), format!("/events/show/orders/{order}"));
        let stored = shop.sale.stored("ann", &order).await.unwrap();
        assert_eq!(stored.state, OrderState::Rejected);
        assert_eq!(stored.rejection.unwrap().reason(), reason);
    }
    shop.sale.release(&held).await;
    // B11.
    assert_eq!(shop.order("ann", "a", &places(1)).await.raw.body, sold_out.raw.body);
    assert_eq!(shop.order("ann", "b", &seats(&[0])).await.raw.body, taken.raw.body);
    shop.accepted("ann", "c", &places(1)).await;
    shop.accepted("ann", "d", &seats(&[0])).await;
}

#[tokio::test]
async fn b6_a_limit_of_one_holds_within_an_order_over_orders_and_at_once() {
    let shop = Shop::of(10, 4).await;
    shop.sale.set_sale(2, |sale| sale.limit_per_customer = Some(1)).await;
    let both = json!({"lines": [
        {"ticket_type": "floor", "quantity": 1},
        {"ticket_type": "stalls", "seats": ["A-1-0"]},
    ]});
    let answer = shop.order("ann", "both", &both).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "over_limit"));
    assert_eq!(answer.json()["limit"], 1);

    shop.accepted("ann", "first", &places(1)).await;
    assert_eq!(shop.order("ann", "second", &seats(&[0])).await.reason(), "over_limit");
    // Twice: it is stored.
    assert_eq!(shop.order("ann", "second", &seats(&[0])).await.reason(), "over_limit");

    let (one, other) = (places(1), seats(&[1]));
    let answers =
        futures::join!(shop.order("ben", "one", &one), shop.order("ben", "other", &other));
    let mut statuses = [answers.0.status, answers.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409]);
}

#[tokio::test]
async fn b6_a_types_own_limit_names_the_type() {
    let shop = Shop::of(10, 0).await;
    shop.sale.set_type("floor", 2, |floor| floor.limit_per_customer = Some(2)).await;
    let answer = shop.order("ann", "k", &places(3)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "over_limit"));
    assert_eq!(
        (&answer.json()["limit"], &answer.json()["ticket_type"]),
        (&json!(2), &json!("floor"))
    );
}

#[tokio::test]
async fn b22_what_was_refused_for_a_pause_or_an_early_hour_is_accepted_under_the_same_key() {
    let shop = Shop::of(10, 0).await;
    let opens_at = in_seconds(3_600);
    shop.sale.set_sale(2, |sale| sale.window.opens_at = opens_at).await;
    let early = shop.order("ann", "k", &places(1)).await;
    assert_eq!((early.status, early.reason().as_str()), (409, "not_open"));
    assert!(early.json()["opens_at"].is_string());

    shop.sale.set_sale(3, |sale| sale.switch = SaleSwitch::Paused).await;
    assert_eq!(shop.order("ann", "k", &places(1)).await.reason(), "paused");
    shop.sale.set_sale(4, |sale| sale.window.closes_at = in_seconds(-1)).await;
    assert_eq!(shop.order("ann", "k", &places(1)).await.reason(), "closed");
    assert_eq!(shop.sent(), []);

    shop.sale.set_sale(5, |_| {}).await;
    shop.accepted("ann", "k", &places(1)).await;
}

#[tokio::test]
async fn an_event_that_never_was_on_sale_is_not_open_and_sells_once_it_is() {
    let shop = Shop::over(Sale::announced(10, 0).await).await;
    // Its operator opened it, but nothing is loaded yet.
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
    shop.sale.open_epoch(EPOCH, 10, 0).await;
    shop.accepted("ann", "k", &places(1)).await;
}

#[tokio::test]
async fn a_sale_that_was_stopped_before_it_was_ever_on_is_paused() {
    let shop = Shop::over(Sale::announced(10, 0).await).await;
    let event = shop.sale.catalog.event_fetch(&show(), Consistency::Strong).await;
    let event = event.unwrap().unwrap();
    let paused = Event { switch: SaleSwitch::Paused, version: event.version + 1, ..event };
    let updated = shop.sale.catalog.event_update(&paused).await.unwrap();
    assert_eq!(updated, EventUpdated::Updated);
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "paused"));
    // Nothing was stored: once it is on, the same key buys.
    shop.sale.open_epoch(EPOCH, 10, 0).await;
    shop.accepted("ann", "k", &places(1)).await;
}

#[tokio::test]
async fn a_refusal_is_told_in_the_fans_language() {
    let shop = Shop::of(0, 0).await;
    let request = shop.request("ann", "k", &places(1)).header("accept-language", "zh-TW,en;q=0.5");
    let answer = shop.send(request).await;
    assert_eq!(answer.json()["title"], "已售完");
    assert_eq!(answer.json()["reason"], "sold_out");
    assert_eq!(answer.header("content-language"), "zh-Hant");
    let request = shop.request("ann", "k2", &places(0)).header("accept-language", "zh-TW");
    let answer = shop.send(request).await;
    let error = json!({"pointer": "/lines/0/quantity", "detail": "至少要有一張"});
    assert_eq!(answer.json()["errors"], json!([error]));
}

#[tokio::test]
async fn b21_a_sold_seat_stays_sold_after_the_hold_time() {
    let shop = Shop::of(0, 1).await;
    let order = shop.accepted("ann", "k", &seats(&[0])).await;
    let intent = shop.sent().remove(0);
    shop.sale.persist(&intent, test_sale::LONG).await;
    let answer = shop.order("ben", "k", &seats(&[0])).await;
    assert_eq!((answer.status, answer.reason().as_str()), (409, "seat_taken"));
    let again = order_of(&shop.order("ann", "k", &seats(&[0])).await);
    assert_eq!((again.id, again.lines), (order.id, order.lines));
}
