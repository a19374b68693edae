//! Opens, serves and closes WebSocket connections.
//!
//! - **Trigger:** the WebSocket API's `$connect`, `$disconnect` and `$default`.
//! - **Input:** the connection's id, whom the authorizer found behind its token,
//!   and the client's messages: `subscribe`, `unsubscribe`, `ping`.
//! - **Effects:** the connection and what it watches in the connections table; a
//!   first tick to live-updates for whoever subscribes; frames to this one
//!   connection. Nothing else: who disconnects loses no hold, no place in line
//!   and no order.
//! - **Idempotency key:** the connection's id, and the event for subscriptions.
//!   Everything can be done twice.
//! - **When it fails:** a connection that can't be stored is refused. A message
//!   that can't be understood or carried out is answered with an `error` frame,
//!   and the connection stays open. A `$disconnect` that never comes or fails
//!   leaves items that the first post to the dead connection removes.
//!
//! [`socket`] reads what the gateway sends, [`handler`] decides, `subscribing`
//! registers a watcher and says where the map stands.

pub mod config;
pub mod handler;
pub mod socket;
mod subscribing;
