//! What the function answers with, and its routes.

use std::sync::Arc;
use std::time::Duration;

use axum::routing::{get, post, put};
use axum::{Extension, Router};
use dynamo_store::{CatalogStore, EventCache};
use lambda_kit::clock;
use lambda_kit::http::{Failure, GroupsClaim};
use redis_store::{Inventory, Redis, WaitingRoom};
use tokens::Signer;

use crate::failures::at_loading;
use crate::line::Lines;
use crate::signing::Signing;
use crate::{place, public, settings};

/// How long a request waits for the signer, where it is not there yet.
const PATIENCE: Duration = Duration::from_secs(3);

/// Everything that handlers need.
#[derive(Clone)]
pub struct App {
    pub(crate) lines: Lines,
    pub(crate) catalog: CatalogStore,
    pub(crate) events: Arc<EventCache>,
    signing: Signing,
}

impl App {
    /// Over these.
    #[must_use]
    pub fn new(redis: Redis, catalog: CatalogStore, signing: Signing) -> Self {
        let room = WaitingRoom::new(redis.clone());
        Self {
            lines: Lines::new(room, Inventory::new(redis), catalog.clone()),
            events: Arc::new(EventCache::new(catalog.clone(), clock::now)),
            catalog,
            signing,
        }
    }

    pub(crate) async fn signer(&self) -> Result<Arc<Signer>, Failure> {
        self.signing.get(PATIENCE).await.map_err(at_loading)
    }
}

/// The routes of the table that this function answers.
pub fn router(app: App, groups: GroupsClaim) -> Router {
    Router::new()
        .route("/events/{event}/queue", get(public::status))
        .route("/events/{event}/queue/settings", put(settings::replace))
        .route("/events/{event}/queue/places", post(place::join))
        .route("/events/{event}/queue/places/mine", get(place::mine).delete(place::leave))
        .route("/events/{event}/queue/places/mine/admission", post(place::enter))
        .route("/events/{event}/viewers", post(public::viewer))
        .route("/.well-known/jwks.json", get(public::keys))
        .layer(Extension(groups))
        .with_state(app)
}
