//! The catalogue: what operators write and everybody reads.
//!
//! Bodies of requests are read in two steps. Serde refuses what has the wrong
//! shape and names the first such field; `parse` then checks what it means and
//! names every field that is wrong, so that an operator fixes them in one go.

mod event;
mod seat_map;
mod ticket_type;
mod withdrawal;

pub use event::{
    EventBody, EventEdit, EventWish, SaleBody, SaleEdit, SaleStateEdit, SaleWindowEdit, VenueEdit,
};
pub use seat_map::{
    RowEdit, SeatMapBody, SeatName, SeatsEdit, SectionBody, SectionEdit, SectionRows, rows_of_csv,
};
pub use ticket_type::{PriceEdit, TicketTypeBody, TicketTypeEdit, TicketTypeWish, TicketTypesBody};
pub use withdrawal::{MAX_WITHDRAWAL_UNITS, WithdrawalBody, WithdrawalEdit, WithdrawalStateBody};

use jiff::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::problem::{FieldError, Language, Text};

/// The most characters of a text that fans read.
const MAX_TEXT: usize = 200;
/// The highest limit per customer that means anything.
const MAX_LIMIT: u32 = 1_000_000;

/// Faults of a body, collected.
#[derive(Debug, Default)]
struct Faults(Vec<FieldError>);

impl Faults {
    fn add(&mut self, pointer: &str, detail: impl Into<Text>) {
        self.0.push(FieldError::new(pointer, detail));
    }

    /// A text for people: not blank, not endless, on one line.
    fn text(&mut self, pointer: &str, text: &str) -> String {
        let text = text.trim();
        if text.is_empty() {
            self.add(pointer, Text::Blank);
        } else if text.chars().count() > MAX_TEXT {
            self.add(pointer, Text::TooLong { most: MAX_TEXT });
        } else if text.chars().any(char::is_control) {
            self.add(pointer, Text::ControlCharacters);
        }
        text.to_owned()
    }

    fn limit(&mut self, pointer: &str, limit: Option<u32>) -> Option<u32> {
        if limit.is_some_and(|limit| !(1..=MAX_LIMIT).contains(&limit)) {
            self.add(pointer, Text::Limit { most: MAX_LIMIT as usize });
        }
        limit
    }

    fn or<T>(self, parsed: T) -> Result<T, Vec<FieldError>> {
        if self.0.is_empty() { Ok(parsed) } else { Err(self.0) }
    }
}

/// An instant, refused in our words.
fn instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parsed = text.parse().ok().filter(|_| is_rfc_3339(&text));
    parsed.ok_or_else(|| D::Error::custom(Text::Instant.in_language(Language::English)))
}

/// Whether a text has the shape of RFC 3339. Other shapes are read as well, also
/// some whose offset is another than that of the zone they name.
fn is_rfc_3339(text: &str) -> bool {
    let Some((date_and_time, rest)) = text.split_at_checked(19) else { return false };
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let offset = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
            if offset.len() == fraction.len() {
                return false;
            }
            offset
        }
        None => rest,
    };
    is_shaped(date_and_time, "0000-00-00T00:00:00")
        && ["Z", "+00:00", "-00:00"].iter().any(|shape| is_shaped(offset, shape))
}

/// Whether a text is as the shape is, where `0` stands for any digit.
fn is_shaped(text: &str, shape: &str) -> bool {
    let is_alike = |(one, shape): (u8, u8)| match shape {
        b'0' => one.is_ascii_digit(),
        _ => one.eq_ignore_ascii_case(&shape),
    };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(is_alike)
}

/// A field that is there has a value: `null` is no way to leave it out.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_neither_blank_nor_endless_nor_of_several_lines() {
        let mut faults = Faults::default();
        assert_eq!(
            faults.text("/good", &format!(" {} ", "天".repeat(MAX_TEXT))),
            "天".repeat(MAX_TEXT)
        );
        for (pointer, text) in [
            ("/blank", " \t".to_owned()),
            ("/long", "天".repeat(MAX_TEXT + 1)),
            ("/lines", "a\nb".to_owned()),
        ] {
            faults.text(pointer, &text);
        }
        let named: Vec<&str> = faults.0.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(named, ["/blank", "/long", "/lines"]);
    }
}
