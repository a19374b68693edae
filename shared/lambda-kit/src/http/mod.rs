//! Answering HTTP: an API Gateway event (payload format 2.0) becomes a request
//! for an [`axum::Router`], and every failure becomes a problem in the client's
//! language.
//!
//! **Architecture invariant:** who a client is comes from
//! `requestContext.authorizer.jwt.claims` and from nowhere else. A token in a
//! header is read for one thing only, a person's groups, and only if it is the
//! one that those claims are of.

mod edge;
pub mod etag;
mod extract;
mod failure;
mod gateway;
mod json;
mod layers;
mod token;

pub use edge::{EDGE_HEADER, EDGE_SECRET};
pub use extract::{
    Fan, GroupsClaim, JsonBody, NamedInPath, NoBody, Operator, PathId, QueryParams, idempotency_key,
};
pub use failure::{Answer, Failure};
pub use gateway::{Claims, GatewayEvent, GatewayResponse, answer};
pub use layers::{adapt, adapt_behind_edge};

use lambda_runtime::{LambdaEvent, service_fn};

use crate::StartError;
use crate::config::Variables;

/// The header of a request that has an effect once, as the gateway spells it.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Serves a router as a Lambda function, for as long as the environment lives,
/// behind the CDN where [`EDGE_SECRET`] is set.
///
/// # Errors
/// When the runtime ends, which it does not by itself.
pub async fn serve(router: axum::Router) -> Result<(), StartError> {
    let router = adapt_behind_edge(router, Variables::read().optional_secret(EDGE_SECRET));
    lambda_runtime::run(service_fn(|event: LambdaEvent<GatewayEvent>| {
        let router = router.clone();
        async move { Ok::<_, StartError>(gateway::answer_in_time(router, event).await) }
    }))
    .await
}
