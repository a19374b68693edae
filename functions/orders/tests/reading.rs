//! Reading orders through the handler, on a real Redis and a DynamoDB engine.

#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use contracts::orders::{OrderBody, OrderStateBody, OrdersBody};
use domain::{Epoch, OrderId, OrderState, Rejection};
use lambda_kit::http::adapt;
use lambda_kit::testing::{TestRequest, TestResponse};
use orders::handler::router;
use orders::reading::Reader;
use serde_json::Value;
use test_sale::{LONG, Sale, places, seats};
use test_support::wire::Fault;

struct Desk {
    sale: Sale,
    router: Router,
}

impl Desk {
    async fn of(places: u32, seats: u32) -> Self {
        Self::over(Sale::of(places, seats).await)
    }

    fn over(sale: Sale) -> Self {
        let reader = Reader {
            orders: sale.orders.clone(),
            inventory: sale.inventory.clone(),
            events: sale.event_cache(),
        };
        let router = adapt(router(Arc::new(reader)));
        Self { sale, router }
    }

    async fn get(&self, fan: &str, path: &str) -> TestResponse {
        TestRequest::get(path).fan(fan).send(&self.router).await
    }

    async fn order(&self, fan: &str, order: &OrderId) -> TestResponse {
        self.get(fan, &format!("/events/show/orders/{order}")).await
    }

    async fn page(&self, fan: &str, query: &str) -> OrdersBody {
        let answer = self.get(fan, &format!("/orders{query}")).await;
        assert_eq!(answer.status, 200, "{}", answer.raw.body);
        serde_json::from_value(answer.json()).unwrap()
    }
}

fn body_of(answer: &TestResponse) -> OrderBody {
    assert_eq!(answer.status, 200, "{}", answer.raw.body);
    serde_json::from_value(answer.json()).unwrap()
}

#[tokio::test]
async fn an_order_is_read_from_the_hold_on() {
    let desk = Desk::of(10, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1), seats([1])]).await;
    let queued = body_of(&desk.order("ann", &intent.order).await);
    assert_eq!((queued.state, queued.version), (OrderStateBody::QUEUED, 0));
    assert_eq!(queued.expires_at, Some(intent.expires_at));
    assert_eq!(queued.lines[1].units, ["A-1-1"]);
    assert_eq!(queued.total.amount, test_sale::PRICES.0 + test_sale::PRICES.1);

    let stored = desk.sale.persist(&intent, LONG).await;
    let pending = body_of(&desk.order("ann", &intent.order).await);
    assert_eq!(pending.state, OrderStateBody::Stored(OrderState::Pending));
    assert_eq!((&pending.lines, pending.total), (&queued.lines, queued.total));
    assert_eq!((pending.version, pending.expires_at.is_some()), (1, true));
    assert_eq!(pending.created_at, Some(stored.created_at));
}

#[tokio::test]
async fn an_owners_answer_is_kept_by_no_cache() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    assert_eq!(desk.order("ann", &intent.order).await.header("cache-control"), "no-store");
}

#[tokio::test]
async fn a_hold_that_lapsed_is_stored_as_refused_before_it_is_told() {
    let desk = Desk::of(10, 0).await;
    let brief = Duration::from_millis(30);
    let intent = desk.sale.hold_for("ann", "k", vec![places(2)], brief).await;
    desk.sale.until_lapsed(&intent).await;
    let first = desk.order("ann", &intent.order).await;
    let told = body_of(&first);
    assert_eq!(told.state, OrderStateBody::Stored(OrderState::Rejected));
    assert_eq!(told.reason.as_deref(), Some("hold_expired"));
    let stored = desk.sale.stored("ann", &intent.order).await.unwrap();
    assert_eq!(stored.rejection, Some(Rejection::HoldExpired));
    assert!(stored.fingerprint.is_same_content(&intent.fingerprint), "a repeat finds its own");
    assert_eq!(desk.order("ann", &intent.order).await.raw.body, first.raw.body);
}

#[tokio::test]
async fn nobody_reads_what_is_not_theirs_or_not_there() {
    let desk = Desk::of(10, 0).await;
    let queued = desk.sale.hold("ann", "queued", vec![places(1)]).await;
    let stored = desk.sale.hold("ann", "stored", vec![places(1)]).await;
    desk.sale.persist(&stored, LONG).await;
    for order in [queued.order, stored.order] {
        let answer = desk.order("ben", &order).await;
        assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_order"));
        let elsewhere = desk.get("ann", &format!("/events/other/orders/{order}")).await;
        assert_eq!((elsewhere.status, elsewhere.reason().as_str()), (404, "unknown_order"));
    }
    let never = OrderId::from_bytes([7; 16]);
    assert_eq!(desk.order("ann", &never).await.reason(), "unknown_order");
    let nonsense = desk.get("ann", "/events/show/orders/nonsense").await;
    assert_eq!((nonsense.status, nonsense.reason().as_str()), (404, "unknown_order"));
    assert!(desk.page("ben", "").await.orders.is_empty());
    let anonymous = TestRequest::get("/orders").send(&desk.router).await;
    assert_eq!(anonymous.status, 401);
}

#[tokio::test]
async fn own_orders_are_paged_newest_first() {
    let desk = Desk::of(10, 0).await;
    let mut placed = Vec::new();
    for key in ["a", "b", "c", "d", "e"] {
        let mut intent = desk.sale.hold("ann", key, vec![places(1)]).await;
        // Apart by a second, whatever the machine's speed.
        let later = i64::try_from(placed.len()).unwrap();
        intent.held_at += jiff::SignedDuration::from_secs(later);
        placed.insert(0, desk.sale.persist(&intent, LONG).await.id);
    }
    let ids = |page: &OrdersBody| page.orders.iter().map(|order| order.id).collect::<Vec<_>>();
    let all = desk.page("ann", "").await;
    assert_eq!((ids(&all), all.next), (placed.clone(), None));
    let first = desk.page("ann", "?limit=2").await;
    assert_eq!(ids(&first), placed[..2]);
    let second = desk.page("ann", &format!("?limit=2&next={}", first.next.unwrap())).await;
    assert_eq!(ids(&second), placed[2..4]);
    let last = desk.page("ann", &format!("?limit=2&next={}", second.next.unwrap())).await;
    assert_eq!((ids(&last), last.next), (placed[4..].to_vec(), None));
}

#[tokio::test]
async fn a_page_that_can_not_be_is_refused_naming_the_parameter() {
    let desk = Desk::of(1, 0).await;
    for (query, pointer) in [
        ("?limit=0", "query:limit"),
        ("?limit=101", "query:limit"),
        ("?limit=-1", "query:limit"),
        ("?limit=two", "query:limit"),
        ("?limit=1&limit=2", "query:limit"),
        ("?next=nonsense", "query:next"),
        ("?next=", "query:next"),
    ] {
        let answer = desk.get("ann", &format!("/orders{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{query}");
    }
}

#[tokio::test]
async fn an_order_held_in_a_newer_epoch_is_found() {
    let desk = Desk::of(10, 0).await;
    let old = desk.sale.hold("ann", "old", vec![places(1)]).await;
    body_of(&desk.order("ann", &old.order).await);
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    let new = desk.sale.hold("ann", "new", vec![places(1)]).await;
    assert_eq!(body_of(&desk.order("ann", &new.order).await).state, OrderStateBody::QUEUED);
}

#[tokio::test]
async fn an_order_that_was_accepted_is_not_denied_while_there_is_no_inventory() {
    for flush in [false, true] {
        let desk = Desk::of(10, 0).await;
        let queued = desk.sale.hold("ann", "queued", vec![places(1)]).await;
        let stored = desk.sale.hold("ann", "stored", vec![places(1)]).await;
        desk.sale.persist(&stored, LONG).await;
        assert_eq!(body_of(&desk.order("ann", &queued.order).await).state, OrderStateBody::QUEUED);
        if flush {
            let client = redis::Client::open(desk.sale.redis.url()).unwrap();
            let _: () =
                redis::cmd("FLUSHALL").query(&mut client.get_connection().unwrap()).unwrap();
        } else {
            desk.sale.build_begin().await;
        }
        let answer = desk.order("ann", &queued.order).await;
        assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
        assert_eq!(answer.header("retry-after"), "2");
        body_of(&desk.order("ann", &stored.order).await);
    }
}

/// An old inventory is back: what was accepted since is not in it.
#[tokio::test]
async fn an_inventory_behind_the_durable_epoch_denies_no_order() {
    let desk = Desk::of(10, 0).await;
    desk.sale.epoch_raise().await;
    let answer = desk.order("ann", &OrderId::from_bytes([7; 16])).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
}

#[tokio::test]
async fn of_an_event_that_never_was_on_sale_there_is_no_order() {
    let desk = Desk::over(Sale::announced(10, 0).await);
    let answer = desk.order("ann", &OrderId::from_bytes([7; 16])).await;
    assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_order"));
}

#[tokio::test]
async fn an_order_that_nobody_knows_costs_the_orders_table_a_read_and_the_catalogue_none() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    body_of(&desk.order("ann", &intent.order).await);
    let _ = desk.sale.wire.take_sent();
    for _ in 0..2 {
        let answer = desk.order("ann", &OrderId::from_bytes([7; 16])).await;
        assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_order"));
        let sent = desk.sale.wire.take_sent();
        let tables: Vec<_> = sent.iter().map(|sent| &sent.request["TableName"]).collect();
        assert_eq!(tables, [&Value::from(desk.sale.dynamo.tables.orders.as_str())]);
    }
}

#[tokio::test]
async fn with_redis_out_of_reach_stored_orders_are_read_and_others_not_denied() {
    let desk = Desk::of(10, 0).await;
    let stored = desk.sale.hold("ann", "stored", vec![places(1)]).await;
    desk.sale.persist(&stored, LONG).await;
    let queued = desk.sale.hold("ann", "queued", vec![places(1)]).await;
    let client = redis::Client::open(desk.sale.redis.url()).unwrap();
    // The server ends without an answer.
    let ended: Result<redis::Value, _> =
        redis::cmd("SHUTDOWN").arg("NOSAVE").query(&mut client.get_connection().unwrap());
    assert!(ended.is_err());
    body_of(&desk.order("ann", &stored.order).await);
    let answer = desk.order("ann", &queued.order).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
}

#[tokio::test]
async fn the_gateways_own_events_are_understood() {
    let desk = Desk::of(1, 0).await;
    let event = |text: &str| TestRequest::from_event(serde_json::from_str::<Value>(text).unwrap());
    let order = event(include_str!("../events/order-get.json")).send(&desk.router).await;
    assert_eq!((order.status, order.reason().as_str()), (404, "unknown_order"));
    let orders = event(include_str!("../events/orders-get.json")).send(&desk.router).await;
    assert_eq!(orders.status, 200);
}

#[tokio::test]
async fn an_order_that_can_not_be_read_is_our_fault_and_nobody_is_told_to_repeat() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    let corrupt = r#"{"pk": {"S": "customer"}, "sk": {"S": "order"}}"#;
    let item = Fault::Answer(200, format!(r#"{{"Item": {corrupt}}}"#));
    desk.sale.wire.next("GetItem", item);
    let page = Fault::Answer(200, format!(r#"{{"Items": [{corrupt}], "Count": 1}}"#));
    desk.sale.wire.next("Query", page);
    for answer in [desk.order("ann", &intent.order).await, desk.get("ann", "/orders").await] {
        assert_eq!((answer.status, answer.reason().as_str()), (500, "internal"));
    }
    assert!(desk.sale.wire.is_spent());
}
