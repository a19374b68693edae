//! Journeys through the public interfaces of a running stack, and a simulated
//! crowd that buys out a sale on it (`demo`), also while parts of it die (`soak`).
//!
//! Everything here is a client: it talks HTTP and WebSocket, and signs in at the
//! local user pool. Only the account at the end of a demo looks into Redis and
//! DynamoDB, to compare them with what the clients were told.

pub mod clock;
pub mod demo;
pub mod edge;
pub mod error;
pub mod http;
pub mod identity;
pub mod live;
pub mod mapping;
pub mod plan;
pub mod sale;
pub mod soak;
pub mod stack;
pub mod stores;
pub mod until;
pub mod watcher;
pub mod world;
