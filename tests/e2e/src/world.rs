//! A running stack, as people meet it.

use crate::error::ClientError;
use crate::http::HttpApi;
use crate::identity::Identity;
use crate::live::LiveConnection;
use crate::stack::Stack;

/// A running stack and the clients for it.
#[derive(Debug, Clone)]
pub struct World {
    /// Where everything is.
    pub stack: Stack,
    /// The HTTP API.
    pub api: HttpApi,
    /// Who people are.
    pub identity: Identity,
}

/// More requests at once than any journey sends at one instant on purpose.
const AT_ONCE: usize = 64;

impl World {
    /// The running stack.
    ///
    /// # Errors
    /// When there is none.
    pub fn connect() -> Result<Self, ClientError> {
        Self::with_requests_at_once(AT_ONCE)
    }

    /// The running stack, with a bound on requests at once.
    ///
    /// # Errors
    /// When there is none.
    pub fn with_requests_at_once(at_once: usize) -> Result<Self, ClientError> {
        let stack = Stack::read()?;
        let api = HttpApi::new(&stack.http_url, at_once)?;
        let identity = Identity::new(&stack)?;
        Ok(Self { stack, api, identity })
    }

    /// Opens a WebSocket with any token.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn connect_live(&self, token: &str) -> Result<LiveConnection, ClientError> {
        LiveConnection::open(&self.stack.ws_url, token).await
    }
}
