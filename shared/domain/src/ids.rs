//! One type for each kind of identifier: a function that takes an order and an
//! event can't be called with the two the other way round.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::hashing::{sha256_of_fields, truncated};
use crate::lines::{OrderLines, Wanted};

/// The rule that a text breaks which is not an identifier of the kind it was
/// read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// Of what operators name.
    #[error("must be 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'")]
    Name,
    /// Of seats.
    #[error("must be section-row-number, at most 64 characters of A-Z, a-z, 0-9, '_' and '-'")]
    Seat,
    /// Of what others name, with the most characters.
    #[error("must be 1 to {0} visible ASCII characters")]
    Visible(usize),
    /// Of customers: this begins the name of an owner that is no person.
    #[error("must not begin with 'withdrawn:'")]
    Reserved,
    /// Of a client's keys.
    #[error("must be 1 to 255 printable ASCII characters")]
    Key,
    /// Of keys between quotes in a header.
    #[error("must be one text between quotes, in which quotes and backslashes follow a backslash")]
    Quoted,
    /// Of keys without quotes in a header.
    #[error(
        "must be between quotes where it holds spaces, commas, semicolons, quotes or backslashes"
    )]
    Bare,
    /// Of orders.
    #[error("must be an order id")]
    Order,
}

fn is_plain_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn is_visible_ascii(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(|b| (0x21..=0x7e).contains(&b))
}

/// The most characters OpenID Connect lets a subject have: a fan with a longer one
/// than we took could never buy.
const LONGEST_SUBJECT: usize = 255;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $valid:expr, $rule:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Reads the identifier, or says what it must look like.
            ///
            /// # Errors
            /// When the text breaks the rule of this kind of identifier.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) { Ok(Self(text.to_owned())) } else { Err($rule) }
            }

            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! debug_as {
    ($($name:ident: $shown:expr),+ $(,)?) => {
        $(impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let shown: fn(&Self) -> &str = $shown;
                write!(f, concat!(stringify!($name), "({})"), shown(self))
            }
        })+
    };
}

debug_as!(
    EventId: Self::as_str,
    TicketTypeId: Self::as_str,
    SectionId: Self::as_str,
    WithdrawalId: Self::as_str,
    SeatLabel: Self::as_str,
    SessionId: Self::as_str,
    ConnectionId: Self::as_str,
    // Whoever logs what these are part of does not log them.
    CustomerId: |_| "…",
    CustomerKey: |_| "…",
    IdempotencyKey: |_| "…",
);

text_id!(
    /// An event, named by its operator.
    EventId, is_plain_id, InvalidId::Name
);
text_id!(
    /// A ticket type of an event.
    TicketTypeId, is_plain_id, InvalidId::Name
);
text_id!(
    /// A section of a seat map.
    SectionId, is_plain_id, InvalidId::Name
);
text_id!(
    /// A withdrawal: units taken out of sale together.
    WithdrawalId, is_plain_id, InvalidId::Name
);
text_id!(
    /// A seat as fans name it: `section-row-number`, like `A-3-12`.
    SeatLabel, is_seat_label, InvalidId::Seat
);
text_id!(
    /// A customer: the subject of a verified token, never something a client wrote.
    CustomerId, |t| is_visible_ascii(t, LONGEST_SUBJECT), InvalidId::Visible(LONGEST_SUBJECT)
);
text_id!(
    /// The client's name for one attempt; case-sensitive, without its quotes.
    IdempotencyKey, is_key, InvalidId::Key
);
text_id!(
    /// A shopping session: one admission of one place in line.
    SessionId, is_plain_id, InvalidId::Name
);
text_id!(
    /// A WebSocket connection, named by the gateway.
    ConnectionId, |t| is_visible_ascii(t, 128), InvalidId::Visible(128)
);

fn is_key(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|b| (0x20..=0x7e).contains(&b))
}

fn is_seat_label(text: &str) -> bool {
    // Only the section may hold `-`, also at its ends, so row and seat are the last two.
    let parts: Vec<_> = text.rsplitn(3, '-').collect();
    is_plain_id(text) && parts.len() == 3 && parts.iter().all(|part| !part.is_empty())
}

impl CustomerId {
    /// So begins the name of an owner that is no person.
    const WITHDRAWN: &str = "withdrawn:";

    /// Reads the subject of a verified token. None may pass for the owner of what
    /// was taken out of sale.
    ///
    /// # Errors
    /// When it breaks the rule of customers, or is the name of such an owner.
    pub fn of_subject(subject: &str) -> Result<Self, InvalidId> {
        if subject.starts_with(Self::WITHDRAWN) {
            return Err(InvalidId::Reserved);
        }
        Self::parse(subject)
    }

    /// The owner of what was taken out of sale under this name.
    ///
    /// # Errors
    /// When the name is too long for one.
    pub fn of_withdrawal(name: impl fmt::Display) -> Result<Self, InvalidId> {
        Self::parse(&format!("{}{name}", Self::WITHDRAWN))
    }
}

impl IdempotencyKey {
    /// Reads the `Idempotency-Key` header: a structured-field string (`"k"`, RFC
    /// 9651) or the same text bare (`k`). Both name the same key. Bare it can't hold
    /// what separates fields and values, as a gateway may have joined two headers.
    ///
    /// # Errors
    /// When the key is empty, too long, not printable, or not quoted as it must be.
    pub fn from_header(value: &str) -> Result<Self, InvalidId> {
        let value = value.trim();
        match value.strip_prefix('"') {
            Some(rest) => Self::parse(&unquoted(rest).ok_or(InvalidId::Quoted)?),
            None if value.contains([' ', ',', ';', '"', '\\']) => Err(InvalidId::Bare),
            None => Self::parse(value),
        }
    }
}

/// The text up to the closing quote. Behind it there may be parameters, which mean
/// nothing here, but no second text.
fn unquoted(rest: &str) -> Option<String> {
    let mut text = String::with_capacity(rest.len());
    let mut signs = rest.chars();
    loop {
        match signs.next()? {
            '"' => return is_end(signs.as_str()).then_some(text),
            '\\' => text.push(signs.next().filter(|sign| ['"', '\\'].contains(sign))?),
            sign => text.push(sign),
        }
    }
}

fn is_end(after: &str) -> bool {
    let after = after.trim_start();
    after.is_empty() || (after.starts_with(';') && !after.contains(','))
}

/// A build of an event's inventory in Redis. Every loss of Redis starts a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The last there is: Redis marks an epoch that is being built by the bit above.
    pub const LAST: Self = Self((1 << 48) - 1);
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the customer wants done; part of the order's id, so that one key can
/// serve two operations without their meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A fan buys.
    PlaceOrder,
    /// An operator takes units out of sale.
    Withdraw,
}

impl Operation {
    fn name(self) -> &'static [u8] {
        match self {
            Self::PlaceOrder => b"place-order",
            Self::Withdraw => b"withdraw",
        }
    }
}

/// An order. Derived from who wants what done where under which key, so that
/// every repeat of one intent finds the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(Uuid);

impl OrderId {
    /// The order that this customer's intent under this key has, now and for ever.
    #[must_use]
    pub fn derive(
        customer: &CustomerId,
        operation: Operation,
        event: &EventId,
        key: &IdempotencyKey,
    ) -> Self {
        let digest = sha256_of_fields(&[
            b"onsale.order-id.v1",
            customer.as_str().as_bytes(),
            operation.name(),
            event.as_str().as_bytes(),
            key.as_str().as_bytes(),
        ]);
        Self(Uuid::new_v8(truncated(digest)))
    }

    /// Reads an order id from its public form.
    ///
    /// # Errors
    /// When the text is no UUID in its hyphenated form.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if text.len() != 36 {
            return Err(InvalidId::Order);
        }
        Uuid::try_parse(text).map(Self).map_err(|_| InvalidId::Order)
    }

    /// The id as Redis keeps it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// An id as Redis gave it back.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A customer as Redis keeps it: 15 bytes of the id's hash, so that a unit's
/// slot (one byte of state and its owner) takes 16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CustomerKey(pub [u8; 15]);

impl CustomerId {
    /// The key of this customer in Redis.
    #[must_use]
    pub fn key(&self) -> CustomerKey {
        CustomerKey(truncated(sha256_of_fields(&[b"onsale.customer.v1", self.as_str().as_bytes()])))
    }
}

impl SessionId {
    /// The session as Redis keeps it among a customer's orders: as long as an
    /// order's id.
    #[must_use]
    pub fn short(&self) -> [u8; 16] {
        truncated(sha256_of_fields(&[b"onsale.session.v1", self.as_str().as_bytes()]))
    }
}

/// The version of [`Fingerprint`] that new orders get.
pub const FINGERPRINT_VERSION: u8 = 1;

/// What the customer asked for, as a hash: two bodies that mean the same have
/// the same one. Prices are not in it, so a price change is no other content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Version 1: over the canonical lines. Never change what it gives; a new
    /// rule is a new version beside it, as stored receipts are compared by theirs.
    #[must_use]
    pub fn v1(lines: &OrderLines) -> Self {
        let mut fields: Vec<Vec<u8>> = vec![b"onsale.order.v1".to_vec()];
        for line in lines.iter() {
            fields.push(line.ticket_type.as_str().as_bytes().to_vec());
            match &line.wanted {
                Wanted::Quantity(quantity) => {
                    fields.push(format!("quantity {quantity}").into_bytes())
                }
                Wanted::Seats(seats) => {
                    fields.push(format!("seats {}", seats.len()).into_bytes());
                    fields.extend(seats.iter().map(|seat| seat.as_str().as_bytes().to_vec()));
                }
            }
        }
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        Self(sha256_of_fields(&fields))
    }

    /// As 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// From 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The part of it that Redis keeps and compares.
    #[must_use]
    pub fn short(&self) -> [u8; 16] {
        truncated(self.0)
    }

    /// What is known of a fingerprint of which Redis kept the short part: enough
    /// to store the end of a hold, which whoever reads its record may have to.
    #[must_use]
    pub fn from_short(short: [u8; 16]) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&short);
        Self(bytes)
    }

    /// Whether two fingerprints are of the same content. Everything compares by
    /// this and none by `==`: a receipt may have been stored from the short part,
    /// and its 128 bits tell any two bodies apart.
    #[must_use]
    pub fn is_same_content(&self, other: &Self) -> bool {
        self.short() == other.short()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn customer(id: &str) -> CustomerId {
        CustomerId::parse(id).unwrap()
    }

    fn derive(customer_id: &str, event: &str, key: &str) -> OrderId {
        OrderId::derive(
            &customer(customer_id),
            Operation::PlaceOrder,
            &EventId::parse(event).unwrap(),
            &IdempotencyKey::parse(key).unwrap(),
        )
    }

    #[test]
    fn an_epoch_has_48_bits() {
        assert_eq!(Epoch::LAST.0, 0xffff_ffff_ffff);
    }

    #[test]
    fn an_order_id_is_the_same_for_ever() {
        assert_eq!(
            derive("fan-1", "show", "k").to_string(),
            derive("fan-1", "show", "k").to_string()
        );
        assert_eq!(derive("fan-1", "show", "k").0.get_version_num(), 8);
        assert_eq!(OrderId::parse(&derive("a", "b", "c").to_string()), Ok(derive("a", "b", "c")));
    }

    #[test]
    fn every_part_of_an_intent_counts_and_borders_do_not_blur() {
        let base = derive("ab", "c", "k");
        assert_ne!(base, derive("a", "bc", "k"));
        assert_ne!(base, derive("ab", "c", "K"), "keys are case-sensitive");
        assert_ne!(
            base,
            OrderId::derive(
                &customer("ab"),
                Operation::Withdraw,
                &EventId::parse("c").unwrap(),
                &IdempotencyKey::parse("k").unwrap()
            )
        );
    }

    #[test]
    fn a_receipt_stored_from_the_short_part_is_still_of_the_same_content() {
        let full = Fingerprint([9; 32]);
        let stored = Fingerprint::from_short(full.short());
        assert!(stored.is_same_content(&full) && full.is_same_content(&stored));
        assert!(!stored.is_same_content(&Fingerprint([8; 32])));
    }

    #[test]
    fn an_order_is_the_same_in_redis_and_an_epoch_is_its_number() {
        let order = derive("fan-1", "show", "k");
        assert_eq!(OrderId::from_bytes(*order.as_bytes()), order);
        assert_eq!(Epoch(7).to_string(), "7");
    }

    #[test]
    fn two_sessions_are_two_in_redis_too() {
        let short = |id| SessionId::parse(id).unwrap().short();
        assert_eq!(short("a"), short("a"));
        assert_ne!(short("a"), short("b"));
    }

    #[test]
    fn a_fingerprint_is_64_digits_and_nothing_else() {
        let fingerprint = Fingerprint([0xa9; 32]);
        assert_eq!(fingerprint.to_hex(), "a9".repeat(32));
        assert_eq!(Fingerprint::from_hex(&fingerprint.to_hex()), Some(fingerprint));
        for bad in ["a9".repeat(31), "a9".repeat(33), "é".repeat(32), "g".repeat(64)] {
            assert_eq!(Fingerprint::from_hex(&bad), None, "{bad}");
        }
    }

    #[test]
    fn a_quoted_and_a_bare_key_are_one_key() {
        assert_eq!(IdempotencyKey::from_header("\"k\""), IdempotencyKey::from_header("k"));
        assert_eq!(IdempotencyKey::from_header(" \"k\" "), IdempotencyKey::from_header("k"));
        for bad in ["", " ", "\"\"", "\"k", "k\"", "a b", "a\"b", "\\", "é", "\"é\"", "\"a\u{7f}\""]
        {
            assert!(IdempotencyKey::from_header(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn between_quotes_a_key_may_hold_whatever_is_printable() {
        for (quoted, key) in [
            (r#""a b""#, "a b"),
            (r#"" ""#, " "),
            (r#""a,b;c""#, "a,b;c"),
            (r#""a";v=1"#, "a"),
            (r#""a\"b""#, r#"a"b"#),
            (r#""a\\b\\""#, r"a\b\"),
        ] {
            let read = IdempotencyKey::from_header(quoted);
            assert_eq!(read.as_ref().map(IdempotencyKey::as_str), Ok(key), "{quoted}");
        }
        for bad in [r#""a\b""#, r#""a\""#, r#""a"b""#, r#""a" b"#, r#""a";v=1,"a""#] {
            assert_eq!(IdempotencyKey::from_header(bad), Err(InvalidId::Quoted), "{bad}");
        }
    }

    /// A gateway joins the headers of one name: what was sent twice is no other key.
    #[test]
    fn two_headers_that_were_joined_are_no_key() {
        for joined in ["k,k", "k, k", r#""k","k""#, r#""k", "k""#, r#"k,"k""#, "k;v=1"] {
            assert!(IdempotencyKey::from_header(joined).is_err(), "{joined}");
        }
        assert!(IdempotencyKey::from_header(&"k".repeat(255)).is_ok());
        assert!(IdempotencyKey::from_header(&"k".repeat(256)).is_err());
    }

    #[test]
    fn no_subject_of_a_token_passes_for_the_owner_of_a_withdrawal() {
        let owner = CustomerId::of_withdrawal("house").unwrap();
        assert_eq!(owner.as_str(), "withdrawn:house");
        assert!(CustomerId::of_subject(owner.as_str()).is_err());
        assert!(CustomerId::of_subject("withdrawn:").is_err());
        assert_eq!(CustomerId::of_subject("withdrawn").unwrap(), customer("withdrawn"));
        for bad in ["", "a b", &"x".repeat(256)] {
            assert!(CustomerId::of_subject(bad).is_err(), "{bad:?}");
        }
        assert!(CustomerId::of_subject(&"x".repeat(255)).is_ok());
    }

    #[test]
    fn no_customer_and_no_key_gets_into_a_log_with_what_it_is_part_of() {
        let (fan, key) = (customer("secret"), IdempotencyKey::parse("secret").unwrap());
        let shown = format!("{:?}", (fan.key(), fan, key));
        assert_eq!(shown, "(CustomerKey(…), CustomerId(…), IdempotencyKey(…))");
        assert_eq!(format!("{:?}", EventId::parse("show").unwrap()), "EventId(show)");
    }

    #[test]
    fn ids_are_held_to_their_rule() {
        for good in ["a", "A_b-9", &"x".repeat(64)] {
            assert!(EventId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a{b", "a:b", "a#b", "é", "🎫", &"x".repeat(65)] {
            assert!(EventId::parse(bad).is_err(), "{bad}");
        }
        for good in ["A-3-12", "A--3-12", "-A-3-12", "--3-12", "a--b-3-12"] {
            assert!(SeatLabel::parse(good).is_ok(), "{good}");
        }
        for bad in ["A", "A-3", "A--12", "-A-3", "A-3-", "A-3-1 2", "-3-12", "---", "A-3--"] {
            assert!(SeatLabel::parse(bad).is_err(), "{bad}");
        }
    }
}
