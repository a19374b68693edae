//! The routes.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use contracts::orders::{OrderBody, OrdersBody};
use contracts::problem::{FieldError, Reason, Text};
use domain::{EventId, OrderId};
use dynamo_store::{OrderStore, PageCursor};
use lambda_kit::clock;
use lambda_kit::http::{Answer, Failure, Fan, PathId, QueryParams};
use store_failures::OrFail;

use crate::reading::Reader;

const DEFAULT_PAGE: usize = 20;

/// The routes of this function.
pub fn router(reader: Arc<Reader>) -> Router {
    Router::new()
        .route("/events/{event}/orders/{order}", get(order))
        .route("/orders", get(orders))
        .with_state(reader)
}

async fn order(
    State(reader): State<Arc<Reader>>,
    Fan(customer): Fan,
    PathId(event): PathId<EventId>,
    PathId(order): PathId<OrderId>,
) -> Answer {
    let found = reader.order(&customer, &event, &order, clock::now()).await?;
    let body = found.ok_or_else(|| Failure::new(Reason::UnknownOrder))?;
    Ok(Json(body).into_response())
}

async fn orders(
    State(reader): State<Arc<Reader>>,
    Fan(customer): Fan,
    query: QueryParams,
) -> Answer {
    let limit = limit_of(&query)?;
    let after = query.optional::<String>("next")?.map(|text| cursor_of(&text)).transpose()?;
    let page = reader.orders.orders_list(&customer, limit, after.as_ref()).await;
    let page = page.or_fail()?;
    let orders = page.orders.into_iter().map(OrderBody::from).collect();
    let next = page.next.map(|cursor| cursor.to_string());
    Ok(Json(OrdersBody { orders, next }).into_response())
}

fn limit_of(query: &QueryParams) -> Result<usize, Failure> {
    let limit = query.optional("limit")?.unwrap_or(DEFAULT_PAGE);
    if (1..=OrderStore::MAX_PAGE).contains(&limit) {
        return Ok(limit);
    }
    let detail = Text::Between { least: 1, most: OrderStore::MAX_PAGE };
    Err(FieldError::new("query:limit", detail).into())
}

fn cursor_of(text: &str) -> Result<PageCursor, Failure> {
    PageCursor::parse(text).map_err(|_| FieldError::new("query:next", Text::PageCursor).into())
}
