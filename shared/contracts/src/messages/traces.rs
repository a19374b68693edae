//! An intent whose message is damaged.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use domain::{Currency, CustomerId, Epoch, Event, EventId, Fingerprint, Order, OrderId};
use jiff::Timestamp;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
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
        let fields: Fields = serde_json::from_str(text).ok()?;
        Some(Self {
            order: fields.readable("order")?,
            customer: fields.readable("customer")?,
            event: fields.readable("event")?,
            epoch: fields.readable("epoch"),
            fingerprint: fields.readable("fingerprint"),
            currency: fields.readable("currency"),
            held_at: fields.readable("held_at"),
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

/// The fields of an object, raw: what stands there may be no value at all (a number that none
/// is, or too deep). None: it stands there more than once, and not the same.
struct Fields(HashMap<String, Option<Box<RawValue>>>);

impl Fields {
    fn readable<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.0.get(name)?.as_ref()?.get()).ok()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self(HashMap::new()))
    }
}

impl<'de> Visitor<'de> for Fields {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Self, A::Error> {
        while let Some((name, value)) = fields.next_entry::<String, Box<RawValue>>()? {
            match self.0.entry(name) {
                Entry::Vacant(first) => {
                    first.insert(Some(value));
                }
                Entry::Occupied(mut before) => {
                    if before.get().as_deref().map(RawValue::get) != Some(value.get()) {
                        before.insert(None);
                    }
                }
            }
        }
        Ok(self)
    }
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
    fn a_field_that_stands_there_twice_hides_no_other_and_contradicts_itself_alone() {
        let whole = head_of(&letter().to_string()).unwrap();
        let twice = |field: &str, other: &Value| {
            with(field, &format!("{}, {field:?}: {other}", letter()[field]))
        };
        for field in ["order", "epoch", "fingerprint", "currency", "held_at", "lines"] {
            let same = head_of(&twice(field, &letter()[field]));
            assert_eq!(same.as_ref(), Some(&whole), "{field}");
        }
        let epoch = head_of(&twice("epoch", &json!(4))).unwrap();
        assert_eq!(epoch, IntentHead { epoch: Epoch(0), ..whole });
        let other = Fingerprint([8; 32]).to_hex();
        assert_eq!(head_of(&twice("fingerprint", &json!(other))), None);
        assert_eq!(IntentTraces::read(&twice("event", &json!("other"))), None);
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
