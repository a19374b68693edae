//! An intent whose message is damaged.

use std::collections::HashMap;

use domain::{Currency, CustomerId, Epoch, Event, EventId, Fingerprint, Order, OrderId};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{IntentHead, fingerprint_hex};

/// What can be read of an intent whose message is damaged: whose order it is, or
/// nothing could be done for it, and of the rest whatever is as a till writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentTraces {
    /// The order.
    pub order: OrderId,
    /// Who owns it.
    pub customer: CustomerId,
    /// Which event.
    pub event: EventId,
    epoch: Option<Epoch>,
    fingerprint: Option<FingerprintHex>,
    currency: Option<Currency>,
    held_at: Option<Timestamp>,
}

impl IntentTraces {
    /// Reads a message's text; none: it does not even say whose order it is.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        // Raw, as what stands there may be no value at all (a number that none is, or too
        // deep), or stand there twice.
        let fields: HashMap<String, Box<RawValue>> = serde_json::from_str(text).ok()?;
        Some(Self {
            order: readable(&fields, "order")?,
            customer: readable(&fields, "customer")?,
            event: readable(&fields, "event")?,
            epoch: readable(&fields, "epoch"),
            fingerprint: readable(&fields, "fingerprint"),
            currency: readable(&fields, "currency"),
            held_at: readable(&fields, "held_at"),
        })
    }

    /// What was asked for.
    #[must_use]
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint.map(|hex| hex.0)
    }

    /// The head. What can't be read is as the event has it now; none: not even that
    /// has it.
    #[must_use]
    pub fn head(
        &self,
        event: Option<&Event>,
        fingerprint: Option<Fingerprint>,
        now: Timestamp,
    ) -> Option<IntentHead> {
        let epoch = self.epoch.filter(|epoch| *epoch <= Epoch::LAST);
        Some(IntentHead {
            order: self.order,
            customer: self.customer.clone(),
            event: self.event.clone(),
            epoch: epoch.or(event.map(|event| event.epoch)).unwrap_or(Epoch(0)),
            fingerprint: fingerprint?,
            currency: self.currency.or(event.map(|event| event.currency))?,
            held_at: self.held_at.filter(|at| Order::keeps(*at)).unwrap_or(now),
        })
    }
}

fn readable<T: DeserializeOwned>(fields: &HashMap<String, Box<RawValue>>, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct FingerprintHex(#[serde(with = "fingerprint_hex")] Fingerprint);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const ASKED: Fingerprint = Fingerprint([7; 32]);
    const HELD: &str = "2026-12-01T10:00:00Z";

    fn letter() -> Value {
        json!({
            "order": OrderId::from_bytes([7; 16]),
            "customer": "fan",
            "event": "show",
            "epoch": 3,
            "fingerprint": ASKED.to_hex(),
            "currency": "TWD",
            "held_at": HELD,
            "lines": "gone",
        })
    }

    /// The letter with this text in place of a field.
    fn with(field: &str, text: &str) -> String {
        let mut letter = letter();
        letter[field] = json!("here");
        letter.to_string().replace(r#""here""#, text)
    }

    fn head_of(text: &str) -> Option<IntentHead> {
        let traces = IntentTraces::read(text).expect("whose order it is");
        traces.head(None, traces.fingerprint(), NOW)
    }

    #[test]
    fn what_is_as_a_till_writes_it_is_told() {
        let head = head_of(&letter().to_string()).unwrap();
        assert_eq!(head.order, OrderId::from_bytes([7; 16]));
        assert_eq!((head.customer.as_str(), head.event.as_str()), ("fan", "show"));
        assert_eq!((head.epoch, head.fingerprint), (Epoch(3), ASKED));
        assert_eq!(head.currency, Currency::parse("TWD").unwrap());
        assert_eq!(head.held_at, HELD.parse().unwrap());
    }

    #[test]
    fn a_damaged_field_hides_no_other() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let whole = head_of(&letter().to_string()).unwrap();
        for damage in ["1e400", r#""\ud800""#, &deep, "null", "{}", r#""?""#, "-1"] {
            let epoch = head_of(&with("epoch", damage)).unwrap();
            assert_eq!(epoch, IntentHead { epoch: Epoch(0), ..whole.clone() }, "{damage}");
            let held_at = head_of(&with("held_at", damage)).unwrap();
            assert_eq!(held_at, IntentHead { held_at: NOW, ..whole.clone() }, "{damage}");
            assert_eq!(head_of(&with("fingerprint", damage)), None, "{damage}");
            assert_eq!(head_of(&with("currency", damage)), None, "{damage}");
            assert_eq!(head_of(&with("lines", damage)).as_ref(), Some(&whole), "{damage}");
        }
    }

    #[test]
    fn a_field_that_stands_there_twice_hides_no_other() {
        let whole = head_of(&letter().to_string()).unwrap();
        for field in ["epoch", "fingerprint", "currency", "held_at", "lines"] {
            let twice = format!("{}, {:?}: {}", letter()[field], field, letter()[field]);
            assert_eq!(head_of(&with(field, &twice)).as_ref(), Some(&whole), "{field}");
        }
    }

    #[test]
    fn what_no_order_can_have_is_not_believed() {
        let epoch = |epoch: u64| head_of(&with("epoch", &epoch.to_string())).unwrap().epoch;
        assert_eq!(epoch(Epoch::LAST.0), Epoch::LAST);
        assert_eq!(epoch(Epoch::LAST.0 + 1), Epoch(0));
        let held_at = |at: &str| head_of(&with("held_at", at)).unwrap().held_at;
        assert_eq!(held_at(r#""1969-12-31T23:59:59Z""#), NOW);
    }

    #[test]
    fn without_a_name_there_is_nothing_to_do() {
        for name in ["order", "customer", "event"] {
            assert_eq!(IntentTraces::read(&with(name, "7")), None, "{name}");
        }
        let text = letter().to_string();
        assert_eq!(IntentTraces::read(&text[..text.len() - 1]), None, "cut off");
    }
}
