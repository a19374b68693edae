//! The route: reads a request into types, and answers with what it came to.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use contracts::orders::PlaceOrderBody;
use domain::{EventId, Fingerprint, Intent, Operation, OrderId, OrderLines};
use http::HeaderMap;
use lambda_kit::http::{Answer, Failure, Fan, JsonBody, PathId, idempotency_key};

use crate::answer;
use crate::till::Till;

/// A request, checked. Nothing further in looks at it twice.
#[derive(Debug, Clone)]
pub struct PlaceOrder {
    /// Who wants what, under which order id.
    pub intent: Intent,
    /// The lines in canonical order.
    pub lines: OrderLines,
    /// The lines as sent: answers point into these.
    pub body: PlaceOrderBody,
}

/// The routes of this function.
pub fn router(till: Arc<Till>) -> Router {
    Router::new().route("/events/{event}/orders", post(place_order)).with_state(till)
}

async fn place_order(
    State(till): State<Arc<Till>>,
    Fan(customer): Fan,
    PathId(event): PathId<EventId>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PlaceOrderBody>,
) -> Answer {
    let key = idempotency_key(&headers)?;
    let lines = body.parse().map_err(Failure::from)?;
    let order = OrderId::derive(&customer, Operation::PlaceOrder, &event, &key);
    let fingerprint = Fingerprint::v1(&lines);
    let request =
        PlaceOrder { intent: Intent { order, customer, event, fingerprint }, lines, body };
    let outcome = till.place(&request, &headers).await;
    Ok(answer::response(outcome, &request))
}
