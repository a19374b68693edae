//! The routes of this function.

use std::sync::Arc;

use axum::routing::{get, put};
use axum::{Extension, Router};
use lambda_kit::http::GroupsClaim;

use crate::catalogue::Catalogue;
use crate::{event, sale, seat_map, seats, ticket_type, withdrawal};

/// The routes. Whatever is none of them (and of no other function) is 404 or 405.
pub fn router(catalogue: Arc<Catalogue>, groups: GroupsClaim) -> Router {
    Router::new()
        .route("/events/{event}", get(event::read).put(event::write))
        .route("/events/{event}/ticket-types", get(ticket_type::list))
        .route("/events/{event}/ticket-types/{type}", put(ticket_type::write))
        .route("/events/{event}/seat-map", get(seat_map::read))
        .route("/events/{event}/seat-map/sections/{section}", put(seat_map::write))
        .route("/events/{event}/sale", put(sale::write))
        .route(
            "/events/{event}/withdrawals/{withdrawal}",
            put(withdrawal::write).delete(withdrawal::remove),
        )
        .route("/events/{event}/seats", get(seats::snapshot))
        .route("/events/{event}/seats/changes", get(seats::changes))
        .route("/events/{event}/seats/{seat}/lock-status", get(seats::lock_status))
        .layer(Extension(groups))
        .with_state(catalogue)
}
