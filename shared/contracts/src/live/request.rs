//! What a client sends: parsed by hand, so that a wrong field is named and an
//! unknown one is passed over.

use domain::{EventId, InvalidId, LogPosition, SectionId};
use serde_json::{Map, Value};

use crate::problem::{FieldError, Problem, Reason, Text};

/// The most bytes a client's message may have. A subscription with all its
/// sections named stays far below.
pub const MAX_REQUEST_BYTES: usize = 16 * 1024;
/// The most sections one subscription may name.
pub const MAX_SECTIONS: usize = 100;

/// A client's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Tell me what changes.
    Subscribe {
        /// About this event.
        event: EventId,
        /// In these sections; empty: in all of them.
        sections: Vec<SectionId>,
        /// What the client has already; none: nothing.
        have: Option<LogPosition>,
    },
    /// Tell me no more.
    Unsubscribe {
        /// About this event.
        event: EventId,
    },
    /// Are you there?
    Ping,
}

impl ClientMessage {
    /// Reads a message.
    ///
    /// # Errors
    /// The problem to answer, naming the field that is wrong.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        if text.len() > MAX_REQUEST_BYTES {
            let detail = Text::MessageTooLarge { most: MAX_REQUEST_BYTES };
            return Err(Problem::new(Reason::TooLarge).with_detail(detail));
        }
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return Err(FieldError::new("", Text::Object).into());
        };
        match fields.get("action").and_then(Value::as_str) {
            Some("subscribe") => Ok(subscribe(&fields)?),
            Some("unsubscribe") => Ok(Self::Unsubscribe { event: event(&fields)? }),
            Some("ping") => Ok(Self::Ping),
            Some(_) | None => {
                let words = "subscribe, unsubscribe, ping".to_owned();
                Err(FieldError::new("/action", Text::OneOf { words }).into())
            }
        }
    }
}

fn subscribe(fields: &Map<String, Value>) -> Result<ClientMessage, FieldError> {
    Ok(ClientMessage::Subscribe {
        event: event(fields)?,
        sections: sections(fields)?,
        have: have(fields)?,
    })
}

fn event(fields: &Map<String, Value>) -> Result<EventId, FieldError> {
    id("/event", fields.get("event").unwrap_or(&Value::Null), EventId::parse)
}

fn sections(fields: &Map<String, Value>) -> Result<Vec<SectionId>, FieldError> {
    let sections = match fields.get("sections") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(sections)) => sections,
        Some(_) => return Err(FieldError::new("/sections", Text::List)),
    };
    if sections.len() > MAX_SECTIONS {
        return Err(FieldError::new("/sections", Text::TooManySections { most: MAX_SECTIONS }));
    }
    let parse = |(at, value)| id(&format!("/sections/{at}"), value, SectionId::parse);
    sections.iter().enumerate().map(parse).collect()
}

fn have(fields: &Map<String, Value>) -> Result<Option<LogPosition>, FieldError> {
    match (number(fields, "epoch")?, number(fields, "after")?) {
        (Some(epoch), Some(sequence)) => Ok(Some(LogPosition { epoch, sequence })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(FieldError::new("/after", Text::GivenWith { field: "epoch" })),
        (None, Some(_)) => Err(FieldError::new("/epoch", Text::GivenWith { field: "after" })),
    }
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<u64>, FieldError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| FieldError::new(format!("/{name}"), Text::NotNegative)),
    }
}

fn id<T>(
    pointer: &str,
    value: &Value,
    parse: fn(&str) -> Result<T, InvalidId>,
) -> Result<T, FieldError> {
    let text = value.as_str().ok_or_else(|| FieldError::new(pointer, Text::String))?;
    parse(text).map_err(|invalid| FieldError::new(pointer, invalid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(text: &str) -> String {
        let problem = ClientMessage::parse(text).unwrap_err();
        assert_eq!(problem.reason, Reason::InvalidRequest, "{text}");
        problem.errors[0].pointer.clone()
    }

    #[test]
    fn a_subscription_says_what_is_wanted_and_what_is_there_already() {
        let text = r#"{"action":"subscribe","event":"e1","sections":["A","B"],"epoch":3,
                       "after":1041,"colour":"red"}"#;
        assert_eq!(
            ClientMessage::parse(text),
            Ok(ClientMessage::Subscribe {
                event: EventId::parse("e1").unwrap(),
                sections: ["A", "B"].map(|id| SectionId::parse(id).unwrap()).to_vec(),
                have: Some(LogPosition { epoch: 3, sequence: 1041 }),
            })
        );
        let text = r#"{"action":"subscribe","event":"e1","sections":null}"#;
        assert_eq!(
            ClientMessage::parse(text),
            Ok(ClientMessage::Subscribe {
                event: EventId::parse("e1").unwrap(),
                sections: vec![],
                have: None
            })
        );
        assert_eq!(ClientMessage::parse(r#"{"action":"ping"}"#), Ok(ClientMessage::Ping));
        assert!(ClientMessage::parse(r#"{"action":"unsubscribe","event":"e1"}"#).is_ok());
    }

    #[test]
    fn the_field_that_is_wrong_is_named() {
        for (text, expected) in [
            ("", ""),
            ("hello", ""),
            ("[1]", ""),
            ("\u{fffd}\u{0}", ""),
            ("{}", "/action"),
            (r#"{"action":7}"#, "/action"),
            (r#"{"action":"shout"}"#, "/action"),
            (r#"{"action":"subscribe"}"#, "/event"),
            (r#"{"action":"subscribe","event":"a b"}"#, "/event"),
            (r#"{"action":"unsubscribe","event":1}"#, "/event"),
            (r#"{"action":"subscribe","event":"e","sections":"A"}"#, "/sections"),
            (r#"{"action":"subscribe","event":"e","sections":["A",2]}"#, "/sections/1"),
            (r#"{"action":"subscribe","event":"e","epoch":1}"#, "/after"),
            (r#"{"action":"subscribe","event":"e","after":1}"#, "/epoch"),
            (r#"{"action":"subscribe","event":"e","after":-1,"epoch":1}"#, "/after"),
            (r#"{"action":"subscribe","event":"e","after":1,"epoch":1.5}"#, "/epoch"),
        ] {
            assert_eq!(pointer(text), expected, "{text}");
        }
        let many = serde_json::json!({
            "action": "subscribe", "event": "e", "sections": vec!["A"; MAX_SECTIONS + 1],
        });
        assert_eq!(pointer(&many.to_string()), "/sections");
        let most = serde_json::json!({
            "action": "subscribe", "event": "e", "sections": vec!["A"; MAX_SECTIONS],
        });
        assert!(ClientMessage::parse(&most.to_string()).is_ok());
    }

    #[test]
    fn a_message_has_16_kib_at_most() {
        let of = |bytes: usize| {
            let head = r#"{"action":"ping","padding":""#;
            format!("{head}{}\"}}", "x".repeat(bytes - head.len() - 2))
        };
        assert_eq!(ClientMessage::parse(&of(16_384)), Ok(ClientMessage::Ping));
        let too_large = ClientMessage::parse(&of(16_385)).unwrap_err();
        assert_eq!(too_large.reason, Reason::TooLarge);
    }

    #[test]
    fn a_message_of_200_kb_is_too_large() {
        let text = format!(r#"{{"action":"ping","padding":"{}"}}"#, "x".repeat(200_000));
        assert_eq!(ClientMessage::parse(&text).unwrap_err().reason, Reason::TooLarge);
    }
}
