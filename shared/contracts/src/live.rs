//! The WebSocket: what clients send, what they are sent, and how a client keeps
//! a seat map equal to the store.
//!
//! Both directions name what a message is in `action`, since an error carries
//! the fields of a problem, among them `type`.

mod request;
mod view;

use domain::{CustomerId, EventId, InvalidId, LogPosition, OrderId, OrderState, SectionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use request::{ClientMessage, MAX_REQUEST_BYTES, MAX_SECTIONS};
pub use view::{Followed, SeatView};

use crate::problem::{Language, Problem, ProblemBody};
use crate::seats::SeatChangesBody;

/// The most bytes of a frame; the gateway takes no larger message.
pub const MAX_FRAME_BYTES: usize = 128 * 1024;

/// What the server sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Frame {
    /// Fetch the seats: what changed is not at hand, or too much.
    Snapshot(SnapshotFrame),
    /// What changed since the position the client is at.
    Changes(SeatChangesBody),
    /// An order of one's own has a new state.
    Order(OrderFrame),
    /// The last message was not understood, or not carried out.
    Error(ProblemBody),
    /// Here.
    Pong,
}

/// Where to fetch the seats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotFrame {
    /// Which event.
    pub event: EventId,
    /// Which log the sequence belongs to; 0 before the sale was first opened.
    pub epoch: u64,
    /// What is fetched must be at least as new as this.
    pub sequence: u64,
    /// The path at the HTTP interface.
    pub url: String,
}

/// An order's new state, for its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderFrame {
    /// Which event.
    pub event: EventId,
    /// The order.
    pub order: OrderId,
    /// Its state.
    pub state: OrderState,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Grows with each change: an older one that comes late is told by it.
    pub version: u64,
}

impl Frame {
    /// "Fetch the seats; they are at least at this position."
    #[must_use]
    pub fn snapshot(event: &EventId, position: LogPosition) -> Self {
        Self::Snapshot(SnapshotFrame {
            url: format!("/events/{event}/seats"),
            event: event.clone(),
            epoch: position.epoch,
            sequence: position.sequence,
        })
    }

    /// "You have all there is", to a client that is at this position.
    #[must_use]
    pub fn nothing_new(event: &EventId, position: LogPosition) -> Self {
        Self::Changes(SeatChangesBody::none(event, position))
    }

    /// What changed, for a client that watches these sections (none: all). It is
    /// sent also where nothing changed in them: the client moves on with the
    /// others, and sees by the next frame when one was lost. What the gateway
    /// would not take is a snapshot to fetch.
    #[must_use]
    pub fn changes(changes: &SeatChangesBody, sections: &[SectionId]) -> Self {
        let mut body = changes.clone();
        if !sections.is_empty() {
            body.sections.retain(|changed| sections.contains(&changed.section));
        }
        let frame = Self::Changes(body);
        if frame.to_text().len() <= MAX_FRAME_BYTES {
            return frame;
        }
        let position = LogPosition { epoch: changes.epoch, sequence: changes.to };
        Self::snapshot(&changes.event, position)
    }

    /// The answer to a message that can't be carried out.
    #[must_use]
    pub fn error(problem: &Problem, language: Language) -> Self {
        Self::Error(problem.body(language))
    }

    /// Reads a frame; none: of a kind this client doesn't know, to be passed over.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// As it goes over the wire.
    #[must_use]
    pub fn to_text(&self) -> String {
        // None of these shapes has anything that JSON can't say.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Who opened a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// A customer, who is told about own orders.
    Customer(CustomerId),
    /// Somebody who only watches.
    Viewer,
}

impl Principal {
    /// The customer, where it is one.
    #[must_use]
    pub fn customer(self) -> Option<CustomerId> {
        match self {
            Self::Customer(customer) => Some(customer),
            Self::Viewer => None,
        }
    }
}

/// What a connection's token said, and which language its client reads, as the
/// authorizer tells the connection's function: the gateway hands its context on
/// with every message, and the handshake's headers with none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// Who opened it.
    pub principal: Principal,
    /// The only event that the token is for; none: any.
    pub event: Option<EventId>,
    /// What problems are told in.
    pub language: Language,
}

impl Pass {
    const CUSTOMER: &str = "customer";
    const EVENT: &str = "event";
    const LANGUAGE: &str = "language";

    /// Of somebody who has shown no token at all: there is no authorizer.
    pub const OPEN: Self =
        Self { principal: Principal::Viewer, event: None, language: Language::English };

    /// The authorizer's context.
    #[must_use]
    pub fn to_context(&self) -> Map<String, Value> {
        let mut context = Map::new();
        if let Principal::Customer(customer) = &self.principal {
            context.insert(Self::CUSTOMER.to_owned(), Value::from(customer.as_str()));
        }
        if let Some(event) = &self.event {
            context.insert(Self::EVENT.to_owned(), Value::from(event.as_str()));
        }
        context.insert(Self::LANGUAGE.to_owned(), Value::from(self.language.tag()));
        context
    }

    /// From the authorizer's context; none: it names a customer or an event that
    /// is none.
    #[must_use]
    pub fn from_context(context: &Map<String, Value>) -> Option<Self> {
        let customer = named(context, Self::CUSTOMER, CustomerId::parse)?;
        let event = named(context, Self::EVENT, EventId::parse)?;
        let principal = customer.map_or(Principal::Viewer, Principal::Customer);
        let language = context.get(Self::LANGUAGE).and_then(Value::as_str).unwrap_or_default();
        Some(Self { principal, event, language: Language::negotiate(language) })
    }

    /// Whether it lets its bearer watch this event.
    #[must_use]
    pub fn admits_to(&self, event: &EventId) -> bool {
        self.event.as_ref().is_none_or(|only| only == event)
    }
}

/// What a context names; none: something that is no such name.
fn named<T>(
    context: &Map<String, Value>,
    name: &str,
    parse: fn(&str) -> Result<T, InvalidId>,
) -> Option<Option<T>> {
    match context.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(value) => parse(value.as_str()?).ok().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Reason;
    use crate::seats::SectionChanges;
    use serde_json::json;

    fn event() -> EventId {
        EventId::parse("show").unwrap()
    }

    fn value(frame: &Frame) -> Value {
        serde_json::from_str(&frame.to_text()).unwrap()
    }

    #[test]
    fn frames_say_what_they_are() {
        let position = LogPosition { epoch: 3, sequence: 1041 };
        let snapshot = Frame::snapshot(&event(), position);
        let expected = json!({"action": "snapshot", "event": "show", "epoch": 3,
                              "sequence": 1041, "url": "/events/show/seats"});
        assert_eq!(value(&snapshot), expected);
        let error = Frame::error(&Problem::new(Reason::NotFound), Language::TraditionalChinese);
        assert_eq!(value(&error)["action"], "error");
        assert_eq!(value(&error)["type"], "https://onsale.dev/problems/not_found");
        assert_eq!(value(&error)["title"], "找不到您要的內容");
        assert_eq!(value(&Frame::Pong), json!({"action": "pong"}));
        for frame in [snapshot, error, Frame::Pong] {
            assert_eq!(Frame::parse(&frame.to_text()), Some(frame));
        }
    }

    fn changes(section: &str, held: Vec<u32>) -> SeatChangesBody {
        let section = SectionId::parse(section).unwrap();
        let (free, sold, withdrawn) = (vec![], vec![], vec![]);
        SeatChangesBody {
            event: event(),
            epoch: 3,
            from: 1,
            to: 9,
            sections: vec![SectionChanges { section, free, held, sold, withdrawn }],
            ticket_types: vec![],
        }
    }

    #[test]
    fn a_client_is_told_of_its_sections_and_moves_on_with_the_others() {
        let all = changes("A", vec![4]);
        let told = |sections: &[&str]| {
            let sections: Vec<_> =
                sections.iter().map(|id| SectionId::parse(id).unwrap()).collect();
            value(&Frame::changes(&all, &sections))
        };
        assert_eq!(told(&[])["sections"][0], json!({"section": "A", "held": [4]}));
        assert_eq!(told(&["B", "A"]), told(&[]));
        assert_eq!(told(&["B"])["sections"], json!([]));
        assert_eq!(
            (told(&["B"])["from"].as_u64(), told(&["B"])["to"].as_u64()),
            (Some(1), Some(9))
        );
    }

    #[test]
    fn what_the_gateway_would_not_take_is_a_snapshot_to_fetch() {
        let huge = changes("A", (0..40_000).collect());
        let position = LogPosition { epoch: 3, sequence: 9 };
        assert_eq!(Frame::changes(&huge, &[]), Frame::snapshot(&event(), position));
        let other = SectionId::parse("B").unwrap();
        assert!(matches!(Frame::changes(&huge, &[other]), Frame::Changes(_)));
        let hall = changes("A", (0..15_000).collect());
        assert!(matches!(Frame::changes(&hall, &[]), Frame::Changes(_)), "a whole hall fits");
    }

    #[test]
    fn a_frame_of_an_unknown_kind_is_passed_over_and_unknown_fields_too() {
        assert_eq!(Frame::parse(r#"{"action":"confetti"}"#), None);
        assert_eq!(Frame::parse(r#"{"action":"pong","colour":1}"#), Some(Frame::Pong));
    }

    #[test]
    fn a_pass_survives_the_authorizers_context() {
        let fan = Principal::Customer(CustomerId::parse("fan-1").unwrap());
        for principal in [fan, Principal::Viewer] {
            for only in [None, Some(event())] {
                for language in [Language::English, Language::TraditionalChinese] {
                    let (principal, event) = (principal.clone(), only.clone());
                    let pass = Pass { principal, event, language };
                    assert_eq!(Pass::from_context(&pass.to_context()), Some(pass));
                }
            }
        }
        let other = json!({"principalId": "x", "integrationLatency": 3, "customer": null});
        assert_eq!(Pass::from_context(other.as_object().unwrap()), Some(Pass::OPEN));
        for wrong in [json!({"customer": ""}), json!({"event": "a b"}), json!({"event": 7})] {
            assert_eq!(Pass::from_context(wrong.as_object().unwrap()), None, "{wrong}");
        }
    }

    #[test]
    fn a_pass_for_an_event_admits_to_no_other() {
        let other = EventId::parse("other").unwrap();
        let only = Pass { event: Some(event()), ..Pass::OPEN };
        assert!(only.admits_to(&event()) && !only.admits_to(&other));
        assert!(Pass::OPEN.admits_to(&event()) && Pass::OPEN.admits_to(&other));
    }

    #[test]
    fn a_viewer_is_nobodys_customer() {
        let fan = CustomerId::parse("fan").unwrap();
        assert_eq!(Principal::Customer(fan.clone()).customer(), Some(fan));
        assert_eq!(Principal::Viewer.customer(), None);
    }
}
