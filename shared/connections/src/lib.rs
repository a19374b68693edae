//! Posting frames to open WebSocket connections (`@connections`).
//!
//! **Architecture invariant:** a connection that is gone is a value, not an
//! error: the caller forgets it and goes on with the others.

use std::time::Duration;

use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_apigatewaymanagement::config::{Builder, http::HttpResponse};
use aws_sdk_apigatewaymanagement::error::SdkError;
use aws_sdk_apigatewaymanagement::operation::post_to_connection::PostToConnectionError;
use aws_sdk_apigatewaymanagement::{Client, primitives::Blob};
use domain::ConnectionId;

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    /// The gateway took it.
    Sent,
    /// The connection is gone.
    Gone,
}

/// The gateway did not take a frame: throttled, unreachable or broken, or the
/// frame is too large. Whether it was sent is unknown.
#[derive(Debug, thiserror::Error)]
#[error("it is unknown whether the gateway took the frame")]
pub struct PostError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// The gateway's connections.
#[derive(Debug, Clone)]
pub struct Connections {
    client: Client,
}

impl Connections {
    /// The connections behind this endpoint (`https://{api}…/{stage}`).
    ///
    /// The SDK refuses an endpoint of one's own together with dual-stack
    /// addresses; the endpoint's name answers over IPv6 all the same.
    #[must_use]
    pub fn new(config: &SdkConfig, endpoint: &str) -> Self {
        let config = Builder::from(config)
            .endpoint_url(endpoint)
            .use_dual_stack(false)
            .timeout_config(timeouts())
            .build();
        Self { client: Client::from_conf(config) }
    }

    /// Posts one frame. A frame can arrive twice (a reply was lost, the SDK
    /// repeats): clients ignore what they have.
    ///
    /// # Errors
    /// When it is unknown whether the gateway took it.
    pub async fn post(&self, connection: &ConnectionId, frame: &str) -> Result<Posted, PostError> {
        let request = self.client.post_to_connection().connection_id(connection.as_str());
        match request.data(Blob::new(frame)).send().await {
            Ok(_) => Ok(Posted::Sent),
            Err(error) if is_gone(&error) => Ok(Posted::Gone),
            Err(error) => Err(PostError(Box::new(error))),
        }
    }
}

/// One connection that hangs must not hold up what others are told.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(Duration::from_millis(1_500))
        .operation_timeout(Duration::from_secs(3))
        .build()
}

/// By the exception, or by the status where the body names none.
fn is_gone(error: &SdkError<PostToConnectionError, HttpResponse>) -> bool {
    error.as_service_error().is_some_and(PostToConnectionError::is_gone_exception)
        || error.raw_response().is_some_and(|response| response.status().as_u16() == 410)
}
