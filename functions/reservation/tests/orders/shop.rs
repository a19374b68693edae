//! A shop: the function's router over a sale, and fans who write to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use contracts::messages::OrderIntent;
use contracts::orders::OrderBody;
use domain::{HoldTime, OrderId, SessionId};
use dynamo_store::{EventCache, StoredKey};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::http::adapt;
use lambda_kit::testing::{TestRequest, TestResponse};
use queues::IntentQueue;
use reservation::admission::{HEADER, key_ring};
use reservation::handler::router;
use reservation::till::{LONGEST, Till};
use serde_json::{Value, json};
use test_sale::{Sale, customer, now, show};
use test_support::queue::FakeQueue;
use tokens::{Admission, Signer};

pub(crate) const ORDERS: &str = "/events/show/orders";
const SECRET: &str = "a secret of more than thirty-two characters";

pub(crate) struct Shop {
    pub(crate) sale: Sale,
    pub(crate) queue: FakeQueue,
    pub(crate) signer: Signer,
    /// How many seconds passed for what the function remembers.
    aged: Arc<AtomicI64>,
    router: Router,
}

impl Shop {
    /// A sale of so many places and seats.
    pub(crate) async fn of(places: u32, seats: u32) -> Self {
        Self::over(Sale::of(places, seats).await).await
    }

    pub(crate) async fn over(sale: Sale) -> Self {
        Self::patient(sale, LONGEST).await
    }

    /// One that works on a request for so long.
    pub(crate) async fn patient(sale: Sale, longest: Duration) -> Self {
        let queue = FakeQueue::start().await;
        let signer = Signer::derive(SECRET).unwrap();
        let key = signer.public_key();
        let stored = StoredKey { kid: key.kid.clone(), jwk: key.jwk.to_string() };
        sale.catalog.key_put(&stored).await.unwrap();
        let intents =
            IntentQueue::new(queues::client(&queue.sdk_config()), queue.queue_url("order-intents"));
        let aged = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&aged);
        let till = Till {
            catalog: sale.catalog.clone(),
            orders: sale.orders.clone(),
            inventory: sale.inventory.clone(),
            intents,
            keys: key_ring(sale.catalog.clone()),
            events: EventCache::new(sale.catalog.clone(), move || {
                Timestamp::UNIX_EPOCH + SignedDuration::from_secs(clock.load(Ordering::SeqCst))
            }),
            partitions: sale.partition_cache(),
            hold: HoldTime::default(),
            longest,
        };
        let router = adapt(router(Arc::new(till)));
        Self { sale, queue, signer, aged, router }
    }

    /// The function's environment sleeps for so long.
    pub(crate) fn sleep(&self, seconds: i64) {
        self.aged.fetch_add(seconds, Ordering::SeqCst);
    }

    /// A fan's request under a key, admitted.
    pub(crate) fn request(&self, fan: &str, key: &str, body: &Value) -> TestRequest {
        bare(fan, key, body).header(HEADER, &self.token(fan))
    }

    pub(crate) fn token(&self, fan: &str) -> String {
        self.signer.admission(&admission(fan, Duration::from_secs(300))).unwrap()
    }

    pub(crate) async fn send(&self, request: TestRequest) -> TestResponse {
        request.send(&self.router).await
    }

    /// Orders for an admitted fan under a key.
    pub(crate) async fn order(&self, fan: &str, key: &str, body: &Value) -> TestResponse {
        self.send(self.request(fan, key, body)).await
    }

    /// Orders what is surely to be had.
    pub(crate) async fn accepted(&self, fan: &str, key: &str, body: &Value) -> OrderBody {
        let answer = self.order(fan, key, body).await;
        assert_eq!(answer.status, 202, "{}", answer.raw.body);
        order_of(&answer)
    }

    /// The intents that were sent, and sent again.
    pub(crate) fn sent(&self) -> Vec<OrderIntent> {
        let sent = self.queue.take_sent().into_iter();
        sent.map(|message| serde_json::from_value(message.body).unwrap()).collect()
    }
}

/// A fan's request under a key, without an admission.
pub(crate) fn bare(fan: &str, key: &str, body: &Value) -> TestRequest {
    TestRequest::post(ORDERS).fan(fan).header("idempotency-key", key).json(body)
}

/// An admission to the show, for so long.
pub(crate) fn admission(fan: &str, lives: Duration) -> Admission {
    Admission {
        customer: customer(fan),
        event: show(),
        session: SessionId::parse("1-1").unwrap(),
        issued_at: now(),
        expires_at: now() + SignedDuration::try_from(lives).unwrap(),
    }
}

/// A body that asks for so many places.
pub(crate) fn places(quantity: u32) -> Value {
    json!({"lines": [{"ticket_type": "floor", "quantity": quantity}]})
}

/// A body that asks for these seats.
pub(crate) fn seats(numbers: &[u32]) -> Value {
    let seats: Vec<String> = numbers.iter().map(|number| format!("A-1-{number}")).collect();
    json!({"lines": [{"ticket_type": "stalls", "seats": seats}]})
}

pub(crate) fn order_of(answer: &TestResponse) -> OrderBody {
    serde_json::from_value(answer.json()).unwrap()
}

/// The order that a refusal is about.
pub(crate) fn refused_order(answer: &TestResponse) -> OrderId {
    OrderId::parse(answer.json()["order"].as_str().unwrap()).unwrap()
}

pub(crate) fn pointers(answer: &TestResponse) -> Vec<String> {
    let errors = answer.json()["errors"].clone();
    let errors: Vec<contracts::problem::FieldErrorBody> =
        serde_json::from_value(errors).unwrap_or_default();
    errors.into_iter().map(|error| error.pointer).collect()
}

/// An instant so far from now; negative: before.
pub(crate) fn in_seconds(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}
