//! Numbers and texts as the scripts' `struct` packs them: big-endian, unaligned.

use domain::{OrderLine, UnitId};
use jiff::Timestamp;

use crate::error::RedisStoreError;

/// Bytes that grow. A number that does not fit is found out at the end.
#[derive(Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    too_large: Option<&'static str>,
}

impl Packed {
    /// Appends a number in so many bytes; `what` names it where it is too large.
    pub(crate) fn number(mut self, what: &'static str, size: usize, number: u64) -> Self {
        let bytes = number.to_be_bytes();
        let (over, kept) = bytes.split_at(bytes.len().saturating_sub(size));
        if over.iter().any(|&byte| byte != 0) {
            self.too_large = self.too_large.or(Some(what));
        }
        self.bytes.extend_from_slice(kept);
        self
    }

    /// Appends the number of things.
    pub(crate) fn count(self, what: &'static str, size: usize, count: usize) -> Self {
        self.number(what, size, u64::try_from(count).unwrap_or(u64::MAX))
    }

    /// Appends an instant in six bytes of milliseconds; none is 0.
    pub(crate) fn instant(self, what: &'static str, instant: Option<Timestamp>) -> Self {
        let milliseconds = instant.map_or(0, Timestamp::as_millisecond);
        self.number(what, 6, u64::try_from(milliseconds).unwrap_or(0))
    }

    /// Appends bytes as they are.
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends an order's lines in the form that `lines.lua` reads.
    pub(crate) fn lines(mut self, lines: &[OrderLine]) -> Self {
        for line in lines {
            let name = line.ticket_type.as_str().as_bytes();
            let is_seats = matches!(line.units.first(), Some(UnitId::Seat(_)));
            self = self
                .count("ticket type", 1, name.len())
                .bytes(name)
                .number("amount", 4, u64::try_from(line.unit_amount).unwrap_or(u64::MAX))
                .number("price version", 4, line.price_version)
                .number("kind", 1, u64::from(is_seats))
                .count("units", 1, line.units.len());
            for unit in &line.units {
                self = match unit {
                    UnitId::Serial(serial) => self.number("serial", 4, u64::from(*serial)),
                    UnitId::Seat(label) => {
                        let label = label.as_str().as_bytes();
                        self.count("label", 1, label.len()).bytes(label)
                    }
                };
            }
        }
        self
    }

    /// The bytes.
    pub(crate) fn finish(self) -> Result<Vec<u8>, RedisStoreError> {
        match self.too_large {
            Some(what) => Err(RedisStoreError::TooLarge { what }),
            None => Ok(self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_big_endian_and_as_long_as_asked() {
        let packed = Packed::default().number("a", 3, 0x0001_0203).number("b", 1, 255);
        assert_eq!(packed.finish().unwrap(), [1, 2, 3, 255]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let packed = Packed::default().number("first", 1, 256).number("second", 1, 256);
        assert!(matches!(packed.finish(), Err(RedisStoreError::TooLarge { what: "first" })));
        assert!(Packed::default().number("all", 8, u64::MAX).finish().is_ok());
    }
}
