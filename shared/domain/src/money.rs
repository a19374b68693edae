//! Money in minor units; never a float.

use serde::{Deserialize, Serialize};

/// Why an amount or a currency was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMoney {
    /// Not three capital letters.
    #[error("must be an ISO 4217 code of three capital letters")]
    Currency,
    /// Below zero or beyond what is sold.
    #[error("must be between 0 and 1000000000 minor units")]
    Amount,
}

/// An ISO 4217 currency code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// Reads a currency code.
    ///
    /// # Errors
    /// When the text is not three capital letters.
    pub fn parse(text: &str) -> Result<Self, InvalidMoney> {
        match text.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Self([a, b, c])),
            _ => Err(InvalidMoney::Currency),
        }
    }

    /// The code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl TryFrom<String> for Currency {
    type Error = InvalidMoney;
    fn try_from(text: String) -> Result<Self, InvalidMoney> {
        Self::parse(&text)
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.as_str().to_owned()
    }
}

/// An amount in minor units of a currency (TWD 88.00 is 8800).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    /// Minor units.
    pub amount: i64,
    /// The currency.
    pub currency: Currency,
}

impl Money {
    /// The highest price of one unit: with 40 units an order still fits any integer on the way.
    pub const MAX_AMOUNT: i64 = 1_000_000_000;

    /// A price: not negative and not beyond [`Self::MAX_AMOUNT`].
    ///
    /// # Errors
    /// When the amount is out of those bounds.
    pub fn price(amount: i64, currency: Currency) -> Result<Self, InvalidMoney> {
        if (0..=Self::MAX_AMOUNT).contains(&amount) {
            Ok(Self { amount, currency })
        } else {
            Err(InvalidMoney::Amount)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_neither_negative_nor_absurd() {
        let twd = Currency::parse("TWD").unwrap();
        assert!(Money::price(0, twd).is_ok());
        assert!(Money::price(Money::MAX_AMOUNT, twd).is_ok());
        assert_eq!(Money::price(-1, twd), Err(InvalidMoney::Amount));
        assert_eq!(Money::price(Money::MAX_AMOUNT + 1, twd), Err(InvalidMoney::Amount));
    }

    #[test]
    fn a_currency_is_three_capital_letters() {
        assert_eq!(Currency::parse("TWD").unwrap().as_str(), "TWD");
        assert_eq!(String::from(Currency::parse("TWD").unwrap()), "TWD");
        for bad in ["", "tw", "twd", "TWDX", "T1D"] {
            assert!(Currency::parse(bad).is_err(), "{bad}");
        }
    }
}
