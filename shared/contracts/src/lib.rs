//! What goes over a wire: HTTP bodies, problems, queue messages, WebSocket
//! frames and the table of routes. Shapes only; the rules are in `domain`.

pub mod catalog;
pub mod live;
pub mod messages;
pub mod orders;
pub mod problem;
pub mod queue;
pub mod routes;
pub mod seats;
