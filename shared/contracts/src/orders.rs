//! Orders as fans write and read them.

use domain::{
    EventId, InvalidLines, Line, LineProblem, Money, Order, OrderId, OrderLine, OrderLines,
    OrderState, SeatLabel, TicketTypeId, UnitId, Wanted,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::problem::{FieldError, Text};

/// Body of `POST /events/{event}/orders`, as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceOrderBody {
    /// What is wanted, one line for each ticket type.
    pub lines: Vec<LineBody>,
}

/// One line of it: either a quantity or seats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineBody {
    /// The ticket type.
    pub ticket_type: TicketTypeId,
    /// How many places; beside `seats`, their number.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub quantity: Option<u32>,
    /// Which seats.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub seats: Option<Vec<SeatLabel>>,
    /// How many seats that belong together; not offered yet.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub best_available: Option<u32>,
}

/// A field that is there has a value: `null` is no way to leave it out.
fn given<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl PlaceOrderBody {
    /// The lines in canonical order.
    ///
    /// # Errors
    /// When they are no order; the first wrong field is named.
    pub fn parse(&self) -> Result<OrderLines, FieldError> {
        let lines: Vec<Line> = self
            .lines
            .iter()
            .enumerate()
            .map(|(at, line)| line.parse(&format!("/lines/{at}")))
            .collect::<Result<_, _>>()?;
        OrderLines::new(lines).map_err(|invalid| self.name_fault(&invalid))
    }

    fn name_fault(&self, invalid: &InvalidLines) -> FieldError {
        let pointer = match invalid {
            InvalidLines::None | InvalidLines::TooManyUnits => "/lines".to_owned(),
            InvalidLines::Line(at, LineProblem::TypeTwice) => format!("/lines/{at}/ticket_type"),
            InvalidLines::Line(at, LineProblem::Empty) => self.wanted_pointer(*at),
            InvalidLines::Line(at, LineProblem::SeatTwice(seat)) => {
                let second = |seats: &Vec<SeatLabel>| seats.iter().rposition(|one| one == seat);
                match self.lines.get(*at).and_then(|line| line.seats.as_ref()).and_then(second) {
                    Some(seat_at) => format!("/lines/{at}/seats/{seat_at}"),
                    None => format!("/lines/{at}/seats"),
                }
            }
        };
        FieldError::new(pointer, invalid)
    }

    /// The field of a line that says what is wanted.
    fn wanted_pointer(&self, at: usize) -> String {
        match self.lines.get(at) {
            Some(LineBody { seats: Some(_), .. }) => format!("/lines/{at}/seats"),
            _ => format!("/lines/{at}/quantity"),
        }
    }

    /// Where the body names a ticket type, as sent (lines are sorted further in).
    #[must_use]
    pub fn type_pointer(&self, ticket_type: &TicketTypeId) -> String {
        match self.line_of(ticket_type) {
            Some(at) => format!("/lines/{at}/ticket_type"),
            None => "/lines".to_owned(),
        }
    }

    /// Where the body says how many or which units of a type it wants.
    #[must_use]
    pub fn units_pointer(&self, ticket_type: &TicketTypeId) -> String {
        match self.line_of(ticket_type) {
            Some(at) => self.wanted_pointer(at),
            None => "/lines".to_owned(),
        }
    }

    /// Where the body names a seat.
    #[must_use]
    pub fn seat_pointer(&self, seat: &SeatLabel) -> String {
        let places = self.lines.iter().enumerate().flat_map(|(at, line)| {
            line.seats
                .iter()
                .flatten()
                .enumerate()
                .map(move |(seat_at, label)| (at, seat_at, label))
        });
        match places.into_iter().find(|(_, _, label)| *label == seat) {
            Some((at, seat_at, _)) => format!("/lines/{at}/seats/{seat_at}"),
            None => "/lines".to_owned(),
        }
    }

    fn line_of(&self, ticket_type: &TicketTypeId) -> Option<usize> {
        self.lines.iter().position(|line| line.ticket_type == *ticket_type)
    }
}

impl LineBody {
    fn parse(&self, pointer: &str) -> Result<Line, FieldError> {
        let wanted = match (&self.quantity, &self.seats, &self.best_available) {
            (_, _, Some(_)) => {
                let pointer = format!("{pointer}/best_available");
                return Err(FieldError::new(pointer, Text::NoBestAvailable));
            }
            (None, None, None) => {
                return Err(FieldError::new(pointer, Text::QuantityOrSeats));
            }
            (Some(quantity), Some(seats), None) if *quantity as usize != seats.len() => {
                let detail = Text::OtherCount { seats: seats.len() };
                return Err(FieldError::new(format!("{pointer}/quantity"), detail));
            }
            (_, Some(seats), None) => Wanted::Seats(seats.clone()),
            (Some(quantity), None, None) => Wanted::Quantity(*quantity),
        };
        Ok(Line { ticket_type: self.ticket_type.clone(), wanted })
    }
}

/// The state of an order as fans read it: a stored state, or `queued`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OrderStateBody {
    /// Its units are held, its intent is on its way.
    Queued(Queued),
    /// It is stored.
    Stored(OrderState),
}

/// The word `queued`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queued {
    /// As it stands on the wire.
    Queued,
}

impl OrderStateBody {
    /// Held, not stored yet.
    pub const QUEUED: Self = Self::Queued(Queued::Queued);
}

/// An order, as its owner reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderBody {
    /// Its id.
    pub id: OrderId,
    /// The event it is for.
    pub event: EventId,
    /// Its state.
    pub state: OrderStateBody,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it got, at which price.
    pub lines: Vec<OrderLineBody>,
    /// The sum.
    pub total: Money,
    /// When its units were held, or it was refused; not said while it is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Queued: when the hold lapses. Pending: by when it must be paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Grows with each change; 0 while queued.
    pub version: u64,
}

/// One line of an order with its units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLineBody {
    /// The ticket type.
    pub ticket_type: TicketTypeId,
    /// The price of one unit when it was held.
    pub unit_price: Money,
    /// Seats by name; places of general admission by serial number.
    pub units: Vec<String>,
}

/// A page of a fan's own orders, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrdersBody {
    /// The orders.
    pub orders: Vec<OrderBody>,
    /// What `next` must be to read on; none: this was the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A hold whose order is not stored yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedOrder {
    /// Its id.
    pub id: OrderId,
    /// The event it is for.
    pub event: EventId,
    /// What is held.
    pub lines: Vec<OrderLine>,
    /// The sum.
    pub total: Money,
    /// When it lapses.
    pub expires_at: Timestamp,
}

impl From<QueuedOrder> for OrderBody {
    fn from(queued: QueuedOrder) -> Self {
        Self {
            id: queued.id,
            event: queued.event,
            state: OrderStateBody::QUEUED,
            reason: None,
            lines: line_bodies(queued.lines, queued.total),
            total: queued.total,
            created_at: None,
            expires_at: Some(queued.expires_at),
            version: 0,
        }
    }
}

impl From<Order> for OrderBody {
    fn from(order: Order) -> Self {
        let expires_at = order.pay_by.filter(|_| order.state == OrderState::Pending);
        Self {
            id: order.id,
            event: order.event,
            state: OrderStateBody::Stored(order.state),
            reason: order.rejection.map(|rejection| rejection.reason().to_owned()),
            lines: line_bodies(order.lines, order.total),
            total: order.total,
            created_at: Some(order.created_at),
            expires_at,
            version: order.version,
        }
    }
}

fn line_bodies(lines: Vec<OrderLine>, total: Money) -> Vec<OrderLineBody> {
    lines
        .into_iter()
        .map(|line| OrderLineBody {
            ticket_type: line.ticket_type,
            unit_price: Money { amount: line.unit_amount, currency: total.currency },
            units: line.units.iter().map(unit_name).collect(),
        })
        .collect()
}

fn unit_name(unit: &UnitId) -> String {
    match unit {
        UnitId::Serial(serial) => serial.to_string(),
        UnitId::Seat(label) => label.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Currency;
    use serde_json::json;

    fn body(lines: serde_json::Value) -> PlaceOrderBody {
        serde_json::from_value(json!({ "lines": lines })).unwrap()
    }

    fn fault(lines: serde_json::Value) -> String {
        body(lines).parse().unwrap_err().pointer
    }

    #[test]
    fn a_wrong_field_is_named_where_the_client_wrote_it() {
        assert_eq!(fault(json!([])), "/lines");
        assert_eq!(fault(json!([{"ticket_type": "a"}])), "/lines/0");
        assert_eq!(fault(json!([{"ticket_type": "a", "quantity": 0}])), "/lines/0/quantity");
        assert_eq!(fault(json!([{"ticket_type": "a", "seats": []}])), "/lines/0/seats");
        assert_eq!(fault(json!([{"ticket_type": "a", "quantity": 41}])), "/lines");
        assert_eq!(
            fault(json!([{"ticket_type": "a", "seats": ["A-1-1"], "quantity": 2}])),
            "/lines/0/quantity"
        );
        assert_eq!(
            fault(json!([{"ticket_type": "b", "quantity": 1},
                         {"ticket_type": "a", "seats": ["A-1-2", "A-1-1", "A-1-2"]}])),
            "/lines/1/seats/2"
        );
        assert_eq!(
            fault(
                json!([{"ticket_type": "a", "quantity": 1}, {"ticket_type": "a", "quantity": 1}])
            ),
            "/lines/1/ticket_type"
        );
        assert_eq!(
            fault(json!([{"ticket_type": "a", "best_available": 4}])),
            "/lines/0/best_available"
        );
        let many: Vec<_> =
            (0..10_000).map(|n| json!({"ticket_type": format!("t{n}"), "quantity": 1})).collect();
        assert_eq!(fault(json!(many)), "/lines");
    }

    #[test]
    fn a_quantity_is_a_whole_number_and_null_is_none() {
        for quantity in
            ["-5", "1.5", "1000000000000000000", "1e3", "\"2\"", "null", "true", "[]", "{}"]
        {
            let text = format!(r#"{{"lines":[{{"ticket_type":"a","quantity":{quantity}}}]}}"#);
            assert!(serde_json::from_str::<PlaceOrderBody>(&text).is_err(), "{quantity}");
        }
        for line in [
            json!({"ticket_type": "a", "quantity": 1, "price": 1}),
            json!({"ticket_type": "a", "seats": null}),
            json!({"ticket_type": "a", "seats": ["A-12"]}),
            json!({"ticket_type": "a b", "quantity": 1}),
            json!({"quantity": 1}),
        ] {
            let text = json!({ "lines": [line] }).to_string();
            assert!(serde_json::from_str::<PlaceOrderBody>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn seats_may_come_with_their_number() {
        let with = body(json!([{"ticket_type": "a", "seats": ["A-1-1"], "quantity": 1}]));
        let without = body(json!([{"ticket_type": "a", "seats": ["A-1-1"]}]));
        assert_eq!(with.parse(), without.parse());
    }

    #[test]
    fn what_is_said_about_a_line_points_to_where_it_was_sent() {
        let body = body(json!([{"ticket_type": "z", "quantity": 1},
                               {"ticket_type": "a", "seats": ["A-1-1", "A-1-2"]}]));
        let id = |text| TicketTypeId::parse(text).unwrap();
        assert_eq!(body.type_pointer(&id("z")), "/lines/0/ticket_type");
        assert_eq!(body.units_pointer(&id("z")), "/lines/0/quantity");
        assert_eq!(body.units_pointer(&id("a")), "/lines/1/seats");
        assert_eq!(body.seat_pointer(&SeatLabel::parse("A-1-2").unwrap()), "/lines/1/seats/1");
        assert_eq!(body.units_pointer(&id("other")), "/lines");
    }

    #[test]
    fn an_order_reads_the_same_way_it_was_written() {
        let currency = Currency::parse("TWD").unwrap();
        let queued = QueuedOrder {
            id: OrderId::from_bytes([7; 16]),
            event: EventId::parse("show").unwrap(),
            lines: vec![OrderLine {
                ticket_type: TicketTypeId::parse("floor").unwrap(),
                unit_amount: 8_800,
                price_version: 1,
                units: vec![UnitId::Serial(3), UnitId::Serial(4)],
            }],
            total: Money { amount: 17_600, currency },
            expires_at: Timestamp::UNIX_EPOCH,
        };
        let body = OrderBody::from(queued);
        let json = serde_json::to_value(&body).unwrap();
        assert_eq!(json["state"], "queued");
        assert_eq!(json["lines"][0]["units"], json!(["3", "4"]));
        assert_eq!(json["lines"][0]["unit_price"], json!({"amount": 8800, "currency": "TWD"}));
        assert_eq!(serde_json::from_value::<OrderBody>(json).unwrap(), body);
        let stored: OrderStateBody = serde_json::from_value(json!("refunding")).unwrap();
        assert_eq!(stored, OrderStateBody::Stored(OrderState::Refunding));
    }

    #[test]
    fn only_an_order_that_waits_for_its_money_ends_by_itself() {
        let pay_by = Timestamp::from_second(600).unwrap();
        let order = |state| Order {
            id: OrderId::from_bytes([7; 16]),
            customer: domain::CustomerId::parse("fan").unwrap(),
            event: EventId::parse("show").unwrap(),
            epoch: domain::Epoch(1),
            state,
            rejection: None,
            version: 1,
            fingerprint: domain::Fingerprint([7; 32]),
            lines: vec![],
            total: Money { amount: 0, currency: Currency::parse("TWD").unwrap() },
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            pay_by: Some(pay_by),
        };
        let expires_at = |state| OrderBody::from(order(state)).expires_at;
        assert_eq!(expires_at(OrderState::Pending), Some(pay_by));
        assert_eq!(expires_at(OrderState::Expired), None);
    }
}
