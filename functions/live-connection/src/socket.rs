//! What the gateway sends about a connection, and what it wants back.

use contracts::live::Pass;
use contracts::problem::Language;
use domain::ConnectionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An event of the WebSocket API.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SocketEvent {
    /// About whom, and what.
    pub request_context: RequestContext,
    /// The client's message.
    #[serde(default)]
    pub body: Option<String>,
    /// Whether the message was binary.
    #[serde(default)]
    pub is_base64_encoded: bool,
}

/// About whom an event is, and what happened.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestContext {
    /// What happened.
    pub event_type: EventType,
    /// The connection.
    pub connection_id: ConnectionId,
    /// This event's own name.
    pub request_id: String,
    /// What the authorizer said when the connection was opened.
    #[serde(default)]
    pub authorizer: Option<Map<String, Value>>,
}

/// What happened to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EventType {
    /// It wants to be opened.
    Connect,
    /// The client sent a message.
    Message,
    /// It is closed.
    Disconnect,
}

impl RequestContext {
    /// What the connection's token said; none: the authorizer named a customer
    /// or an event that is none.
    #[must_use]
    pub fn pass(&self) -> Option<Pass> {
        self.authorizer.as_ref().map_or(Some(Pass::OPEN), Pass::from_context)
    }

    /// What the client reads.
    #[must_use]
    pub fn language(&self) -> Language {
        self.pass().map(|pass| pass.language).unwrap_or_default()
    }
}

/// What the gateway is told: only the status counts, and only for `$connect`.
/// A body would be sent to the client by some gateways and not by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SocketAnswer {
    /// The status; other than 2xx refuses a connection.
    pub status_code: u16,
}

impl SocketAnswer {
    /// All is well.
    pub const OK: Self = Self { status_code: 200 };
    /// Not with this token.
    pub const FORBIDDEN: Self = Self { status_code: 403 };
    /// Not now.
    pub const UNAVAILABLE: Self = Self { status_code: 503 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_gateway_sends_is_read() {
        let read = |text| serde_json::from_str::<SocketEvent>(text).unwrap();
        let connect = read(include_str!("../events/connect.json"));
        assert_eq!(connect.request_context.event_type, EventType::Connect);
        let subscribe = read(include_str!("../events/subscribe.json"));
        assert_eq!(subscribe.request_context.event_type, EventType::Message);
        assert!(subscribe.body.is_some_and(|body| body.contains("subscribe")));
        assert!(read(include_str!("../events/ping.json")).body.is_some());
        let disconnect = read(include_str!("../events/disconnect.json"));
        assert_eq!(disconnect.request_context.event_type, EventType::Disconnect);
    }

    #[test]
    fn the_answer_has_a_status_and_no_body() {
        assert_eq!(serde_json::to_string(&SocketAnswer::OK).unwrap(), r#"{"statusCode":200}"#);
    }
}
