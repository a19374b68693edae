//! Who may open a WebSocket: a fan with the identity provider's token, a fan
//! with an admission, or anybody with a viewer's pass.
//!
//! - **Trigger:** REQUEST authorizer of the WebSocket API's `$connect`.
//! - **Input:** the query parameter `token`. A browser can't set headers on a
//!   WebSocket, so it stands in the address; it is never logged.
//! - **Effects:** none. Reads our public keys from the catalogue table and the
//!   issuer's from its key set, both kept, and read again for an unknown key at
//!   most every ten seconds.
//! - **Idempotency key:** none needed.
//! - **When it fails:** a token that is not to be accepted is denied (403). Keys
//!   that can't be read say nothing about the token: the call fails, the client
//!   gets a 500 and tries again.

pub mod config;
mod fan;
mod handler;
mod issuer;
mod policy;

pub use fan::{FanError, FanTokens};
pub use handler::{ConnectEvent, Handler, KeysUnavailable};
pub use issuer::{Issuer, IssuerKeys};
pub use policy::Authorization;
