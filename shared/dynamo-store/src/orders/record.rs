//! The order's item: pk the customer's key, sk the order id.
//!
//! The partition is the customer's short key and not the id, as Redis knows no
//! other: an order that it names (one that was not paid in time, say) can be read.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{
    Currency, CustomerId, CustomerKey, Epoch, EventId, FINGERPRINT_VERSION, Fingerprint, Money,
    Order, OrderId, OrderState,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::packed::{pack_lines, pack_reason, unpack_lines, unpack_reason};
use crate::StoreError;
use crate::table::{Item, Key, decode, encode};

/// Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    pk: String,
    sk: OrderId,
    customer: CustomerId,
    event: EventId,
    state: OrderState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    version: u64,
    #[serde(with = "fingerprint_bytes")]
    fingerprint: Fingerprint,
    /// The fingerprint's version: a receipt is compared by the rule it was made by.
    fv: u8,
    epoch: Epoch,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    lines: String,
    total: i64,
    currency: Currency,
    created_at: i64,
    updated_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pay_by: Option<i64>,
}

impl Record {
    fn of(order: &Order) -> Self {
        Self {
            pk: partition_of(&order.customer.key()),
            sk: order.id,
            customer: order.customer.clone(),
            event: order.event.clone(),
            state: order.state,
            reason: order.rejection.as_ref().map(pack_reason),
            version: order.version,
            fingerprint: order.fingerprint,
            fv: FINGERPRINT_VERSION,
            epoch: order.epoch,
            lines: pack_lines(&order.lines),
            total: order.total.amount,
            currency: order.total.currency,
            created_at: order.created_at.as_millisecond(),
            updated_at: order.updated_at.as_millisecond(),
            pay_by: order.pay_by.map(Timestamp::as_millisecond),
        }
    }

    fn into_order(self) -> Result<Order, StoreError> {
        let corrupt = |what: &'static str| StoreError::corrupt(format!("order {}", self.sk), what);
        let instant = |ms| Timestamp::from_millisecond(ms).map_err(|_| corrupt("no instant"));
        if self.fv != FINGERPRINT_VERSION {
            return Err(corrupt("its fingerprint has a version this code does not know"));
        }
        let unpack = |packed: &String| unpack_reason(packed).ok_or_else(|| corrupt("no reason"));
        let rejection = self.reason.as_ref().map(unpack).transpose()?;
        if rejection.is_some() != (self.state == OrderState::Rejected) {
            return Err(corrupt("a reason without a rejection, or a rejection without a reason"));
        }
        Ok(Order {
            rejection,
            lines: unpack_lines(&self.lines).ok_or_else(|| corrupt("no lines"))?,
            created_at: instant(self.created_at)?,
            updated_at: instant(self.updated_at)?,
            pay_by: self.pay_by.map(instant).transpose()?,
            id: self.sk,
            customer: self.customer,
            event: self.event,
            epoch: self.epoch,
            state: self.state,
            version: self.version,
            fingerprint: self.fingerprint,
            total: Money { amount: self.total, currency: self.currency },
        })
    }
}

/// The partition of a customer's orders.
pub(super) fn partition_of(customer: &CustomerKey) -> String {
    URL_SAFE_NO_PAD.encode(customer.0)
}

pub(super) fn order_key(customer: &CustomerKey, order: &OrderId) -> Key {
    Key::new(partition_of(customer), order.to_string())
}

pub(super) fn item_of(order: &Order) -> Result<Item, StoreError> {
    encode(&Record::of(order))
}

pub(super) fn order_of(item: Item) -> Result<Order, StoreError> {
    decode::<Record>("order", item)?.into_order()
}

/// Whether two orders are the same item (an item keeps milliseconds only).
pub(super) fn is_same_item(one: &Order, other: &Order) -> bool {
    Record::of(one) == Record::of(other)
}

/// The order in an image of the orders table's stream.
///
/// # Errors
/// When the image is no order.
pub fn order_of_image(image: serde_dynamo::Item) -> Result<Order, StoreError> {
    serde_dynamo::from_item::<_, Record>(image)
        .map_err(|source| StoreError::corrupt("order", source))?
        .into_order()
}

mod fingerprint_bytes {
    use std::fmt;

    use domain::Fingerprint;
    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(
        fingerprint: &Fingerprint,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&fingerprint.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Fingerprint, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Fingerprint;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("32 bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Fingerprint, E> {
                let fingerprint = bytes.try_into().map(Fingerprint);
                fingerprint.map_err(|_| E::invalid_length(bytes.len(), &self))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_dynamodb::types::AttributeValue;
    use domain::{Intent, Operation, OrderLine, Rejection, SeatLabel, TicketTypeId, UnitId};

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn order(customer: &str, lines: Vec<OrderLine>) -> Order {
        let customer = CustomerId::parse(customer).unwrap();
        let event = EventId::parse("mayday-2026-taipei").unwrap();
        let key = domain::IdempotencyKey::parse("k").unwrap();
        Order {
            id: OrderId::derive(&customer, Operation::PlaceOrder, &event, &key),
            customer,
            event,
            epoch: Epoch(3),
            state: OrderState::Pending,
            rejection: None,
            version: 1,
            fingerprint: Fingerprint([7; 32]),
            total: Money { amount: Order::sum(&lines), currency: Currency::parse("TWD").unwrap() },
            lines,
            created_at: at("2026-12-01T02:00:00.123Z"),
            updated_at: at("2026-12-01T02:00:01.456Z"),
            pay_by: Some(at("2026-12-01T02:10:01.456Z")),
        }
    }

    fn line(ticket_type: &str, units: Vec<UnitId>) -> OrderLine {
        let ticket_type = TicketTypeId::parse(ticket_type).unwrap();
        OrderLine { ticket_type, unit_amount: 880_000, price_version: 12, units }
    }

    /// DynamoDB's own rule: names and texts in UTF-8 bytes, binaries in bytes,
    /// numbers at most half their digits and one byte more.
    fn size(item: &Item) -> usize {
        let value = |value: &AttributeValue| match (value.as_s(), value.as_n(), value.as_b()) {
            (Ok(text), ..) => text.len(),
            (_, Ok(digits), _) => digits.len().div_ceil(2) + 1,
            (.., Ok(bytes)) => bytes.as_ref().len(),
            _ => panic!("an order holds no {value:?}"),
        };
        item.iter().map(|(name, held)| name.len() + value(held)).sum()
    }

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let pending = order("fan-1", vec![line("floor", vec![UnitId::Serial(17)])]);
        assert_eq!(order_of(item_of(&pending).unwrap()).unwrap(), pending);
        let intent = Intent {
            order: pending.id,
            customer: pending.customer.clone(),
            event: pending.event.clone(),
            fingerprint: pending.fingerprint,
        };
        let refusal = Order::refusal(
            intent,
            Epoch(3),
            Rejection::OverLimit { ticket_type: None, limit: 4 },
            pending.total.currency,
            pending.created_at,
        );
        assert_eq!(order_of(item_of(&refusal).unwrap()).unwrap(), refusal);
    }

    #[test]
    fn an_image_of_the_stream_is_an_order() {
        let pending = order("fan-1", vec![line("floor", vec![UnitId::Serial(17)])]);
        let image: serde_dynamo::Item = serde_dynamo::to_item(Record::of(&pending)).unwrap();
        assert_eq!(order_of_image(image).unwrap(), pending);
        assert!(order_of_image(serde_dynamo::Item::default()).is_err());
    }

    #[test]
    fn a_one_ticket_order_takes_at_most_512_bytes() {
        let uuid = "0b9f7cf4-6a6a-4b3e-9c7a-0d2f0e8d1a11";
        let usual = item_of(&order(uuid, vec![line("floor", vec![UnitId::Serial(17)])])).unwrap();
        println!("a one-ticket order takes {} bytes", size(&usual));
        assert!(size(&usual) <= 320, "{}", size(&usual));

        // With the longest names there are; the longest subject of an issuer takes 127 more.
        let longest = "x".repeat(64);
        for (subject, most) in [(128, 512), (255, 640)] {
            let lines = vec![line(&longest, vec![UnitId::Serial(999_999)])];
            let mut order = order(&"x".repeat(subject), lines);
            order.event = EventId::parse(&longest).unwrap();
            let largest = item_of(&order).unwrap();
            assert!(size(&largest) <= most, "{}", size(&largest));
        }
    }

    #[test]
    fn the_largest_order_stays_far_below_an_items_limit() {
        let seat = |n| SeatLabel::parse(&format!("{}-{n:02}-1", "x".repeat(59))).unwrap();
        let seats = (0..40).map(|n| UnitId::Seat(seat(n))).collect();
        let item = item_of(&order("fan-1", vec![line("stalls", seats)])).unwrap();
        assert!(size(&item) < 4_096, "{}", size(&item));
    }

    #[test]
    fn what_is_no_order_is_not_read_as_one() {
        let good = item_of(&order("fan-1", vec![line("floor", vec![UnitId::Serial(1)])])).unwrap();
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let bad = [
            ("lines", text("floor")),
            ("reason", text("hold_expired")),
            ("state", text("rejected")),
            ("state", text("sold")),
            ("fv", AttributeValue::N("2".to_owned())),
            ("fingerprint", AttributeValue::B(vec![1u8; 31].into())),
            ("created_at", AttributeValue::N(i64::MAX.to_string())),
        ];
        for (name, value) in bad {
            let mut item = good.clone();
            item.insert(name.to_owned(), value);
            let error = order_of(item).unwrap_err();
            assert!(matches!(error, StoreError::Corrupt { .. }), "{name}: {error:?}");
            assert!(!error.is_retryable());
        }
    }
}
