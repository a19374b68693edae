//! Ticket types.

use domain::{Currency, Money, TicketKind, TicketType, TicketTypeId};
use serde::{Deserialize, Serialize};

use super::{Faults, given};
use crate::problem::{FieldError, Text};

/// Body of `PUT /events/{event}/ticket-types/{type}`: the type as it shall be, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TicketTypeEdit {
    /// General admission or reserved seating; fixed once the type is there.
    pub kind: TicketKind,
    /// What fans read.
    pub name: String,
    /// The price of one unit.
    pub price: PriceEdit,
    /// Units of this type one customer can have; left out: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_per_customer: Option<u32>,
    /// How many places shall be sold. General admission only: reserved seating
    /// has the seats of its sections.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
}

/// A price as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceEdit {
    /// Minor units.
    pub amount: i64,
    /// The event's currency.
    pub currency: Currency,
}

/// What an operator wants a type to be, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketTypeWish {
    /// General admission or reserved seating.
    pub kind: TicketKind,
    /// What fans read.
    pub name: String,
    /// The price of one unit.
    pub price: Money,
    /// Units of this type one customer can have.
    pub limit_per_customer: Option<u32>,
    /// Places to be sold; none exactly for reserved seating.
    pub capacity: Option<u32>,
}

impl TicketTypeEdit {
    /// Checks what the fields mean for an event of this currency.
    ///
    /// # Errors
    /// Every field that is wrong.
    pub fn parse(&self, currency: Currency) -> Result<TicketTypeWish, Vec<FieldError>> {
        let mut faults = Faults::default();
        let name = faults.text("/name", &self.name);
        let price = Money { amount: self.price.amount, currency: self.price.currency };
        if let Err(invalid) = Money::price(price.amount, price.currency) {
            faults.add("/price/amount", invalid);
        }
        if price.currency != currency {
            let currency = currency.as_str().to_owned();
            faults.add("/price/currency", Text::EventCurrency { currency });
        }
        let limit_per_customer = faults.limit("/limit_per_customer", self.limit_per_customer);
        self.check_capacity(&mut faults);
        faults.or(TicketTypeWish {
            kind: self.kind,
            name,
            price,
            limit_per_customer,
            capacity: self.capacity,
        })
    }

    fn check_capacity(&self, faults: &mut Faults) {
        const MAX: u32 = TicketType::MAX_CEILING;
        match (self.kind, self.capacity) {
            (TicketKind::GeneralAdmission, None) => {
                faults.add("/capacity", Text::CapacityMissing);
            }
            (TicketKind::GeneralAdmission, Some(capacity)) if !(1..=MAX).contains(&capacity) => {
                faults.add("/capacity", Text::Between { least: 1, most: MAX as usize });
            }
            (TicketKind::ReservedSeating, Some(_)) => {
                faults.add("/capacity", Text::CapacityOfSeats);
            }
            (TicketKind::GeneralAdmission, Some(_)) | (TicketKind::ReservedSeating, None) => {}
        }
    }
}

impl TicketTypeWish {
    /// Whether a type already is as wished.
    #[must_use]
    pub fn is_met_by(&self, ticket_type: &TicketType) -> bool {
        self.kind == ticket_type.kind
            && self.name == ticket_type.name
            && self.price == ticket_type.price
            && self.limit_per_customer == ticket_type.limit_per_customer
            && self.capacity.is_none_or(|capacity| capacity == ticket_type.capacity)
    }
}

/// A type as everybody reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketTypeBody {
    /// Its id.
    pub id: TicketTypeId,
    /// General admission or reserved seating.
    pub kind: TicketKind,
    /// What it is called.
    pub name: String,
    /// The price of one unit.
    pub price: Money,
    /// Units of this type one customer can have; none: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_per_customer: Option<u32>,
    /// How many there are to be sold in all.
    pub capacity: u32,
    /// How many can still be had.
    pub remaining: u32,
    /// Grows with each edit; `If-Match: "v<version>"` edits.
    pub version: u64,
}

impl TicketTypeBody {
    /// The type with what remains of it.
    #[must_use]
    pub fn of(ticket_type: &TicketType, remaining: u32) -> Self {
        Self {
            id: ticket_type.id.clone(),
            kind: ticket_type.kind,
            name: ticket_type.name.clone(),
            price: ticket_type.price,
            limit_per_customer: ticket_type.limit_per_customer,
            capacity: ticket_type.capacity,
            remaining,
            version: ticket_type.version,
        }
    }
}

/// The types of an event, in the order they were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketTypesBody {
    /// The types.
    pub ticket_types: Vec<TicketTypeBody>,
    /// What `next` must be to read on; none: this was the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pointers(body: Value) -> Vec<String> {
        let edit: TicketTypeEdit = serde_json::from_value(body).unwrap();
        let parsed = edit.parse(Currency::parse("TWD").unwrap());
        parsed.err().into_iter().flatten().map(|fault| fault.pointer).collect()
    }

    fn standing() -> Value {
        json!({
            "kind": "general_admission",
            "name": "Standing",
            "price": {"amount": 280_000, "currency": "TWD"},
            "capacity": 600,
        })
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = standing();
        body[field] = value;
        body
    }

    #[test]
    fn places_have_a_capacity_and_seats_have_none() {
        assert!(pointers(standing()).is_empty());
        assert_eq!(pointers(with("kind", json!("reserved_seating"))), ["/capacity"]);
        let mut seats = with("kind", json!("reserved_seating"));
        seats.as_object_mut().unwrap().remove("capacity");
        assert!(pointers(seats.clone()).is_empty());
        seats["kind"] = json!("general_admission");
        assert_eq!(pointers(seats), ["/capacity"]);
        for capacity in [0, 1_000_001] {
            assert_eq!(pointers(with("capacity", json!(capacity))), ["/capacity"]);
        }
        for shape in [json!(-1), json!(1.5), json!(null), json!("600"), json!(1e18)] {
            let body = with("capacity", shape);
            assert!(serde_json::from_value::<TicketTypeEdit>(body).is_err());
        }
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        let wrong = json!({
            "kind": "general_admission",
            "name": "",
            "price": {"amount": -1, "currency": "USD"},
            "limit_per_customer": 0,
            "capacity": 0,
        });
        let expected =
            ["/name", "/price/amount", "/price/currency", "/limit_per_customer", "/capacity"];
        assert_eq!(pointers(wrong), expected);
    }

    #[test]
    fn a_wish_is_met_by_a_type_that_is_all_it_asks_for() {
        let edit: TicketTypeEdit =
            serde_json::from_value(with("limit_per_customer", json!(4))).unwrap();
        let wish = edit.parse(Currency::parse("TWD").unwrap()).unwrap();
        let met = TicketType {
            id: TicketTypeId::parse("standing").unwrap(),
            index: 1,
            kind: TicketKind::GeneralAdmission,
            name: "Standing".to_owned(),
            price: wish.price,
            limit_per_customer: Some(4),
            ceiling: 700,
            capacity: 600,
            partitions: 1,
            version: 3,
        };
        assert!(wish.is_met_by(&met));
        let dearer = Money { amount: wish.price.amount + 1, currency: wish.price.currency };
        for other in [
            TicketType { kind: TicketKind::ReservedSeating, ..met.clone() },
            TicketType { name: "Seated".to_owned(), ..met.clone() },
            TicketType { price: dearer, ..met.clone() },
            TicketType { limit_per_customer: None, ..met.clone() },
            TicketType { capacity: 599, ..met.clone() },
        ] {
            assert!(!wish.is_met_by(&other), "{other:?}");
        }
        let of_seats = TicketTypeWish { capacity: None, ..wish };
        assert!(of_seats.is_met_by(&met), "that follows from the seats");
    }
}
