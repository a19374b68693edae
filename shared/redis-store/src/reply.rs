//! Reading replies: a word, and what belongs to it. What is not known is an
//! error, never a default.

use domain::{CustomerKey, Epoch, OrderId, OrderLine, SeatLabel, TicketTypeId, UnitId};
use jiff::Timestamp;
use redis::{FromRedisValue, Value};

use crate::error::RedisStoreError;
use crate::types::TypeCounts;

/// A reply that is read from its front.
pub(crate) struct Reply {
    script: &'static str,
    values: std::vec::IntoIter<Value>,
}

impl Reply {
    /// The values of an array.
    pub(crate) fn new(script: &'static str, value: Value) -> Result<Self, RedisStoreError> {
        let Value::Array(values) = value else {
            return Err(RedisStoreError::UnexpectedReply { script });
        };
        Ok(Self { script, values: values.into_iter() })
    }

    /// The fault of a reply that makes no sense.
    pub(crate) fn unexpected(&self) -> RedisStoreError {
        RedisStoreError::UnexpectedReply { script: self.script }
    }

    /// Whether all was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.len() == 0
    }

    /// The next value.
    pub(crate) fn next<T: FromRedisValue>(&mut self) -> Result<T, RedisStoreError> {
        let value = self.values.next().ok_or_else(|| self.unexpected())?;
        T::from_redis_value(value).map_err(|_| self.unexpected())
    }

    /// The next value, an array of its own.
    pub(crate) fn array(&mut self) -> Result<Self, RedisStoreError> {
        let value = self.values.next().ok_or_else(|| self.unexpected())?;
        Self::new(self.script, value)
    }

    /// All that is left, one after the other.
    pub(crate) fn rest<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, RedisStoreError>,
    ) -> Result<Vec<T>, RedisStoreError> {
        let mut all = Vec::new();
        while !self.is_empty() {
            all.push(read(self)?);
        }
        Ok(all)
    }

    /// Bytes of a fixed length.
    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], RedisStoreError> {
        let bytes: Vec<u8> = self.next()?;
        bytes.try_into().map_err(|_| self.unexpected())
    }

    pub(crate) fn instant(&mut self) -> Result<Timestamp, RedisStoreError> {
        let milliseconds = self.next()?;
        Timestamp::from_millisecond(milliseconds).map_err(|_| self.unexpected())
    }

    pub(crate) fn epoch(&mut self) -> Result<Epoch, RedisStoreError> {
        self.next().map(Epoch)
    }

    pub(crate) fn order(&mut self) -> Result<OrderId, RedisStoreError> {
        self.bytes().map(OrderId::from_bytes)
    }

    pub(crate) fn customer(&mut self) -> Result<CustomerKey, RedisStoreError> {
        self.bytes().map(CustomerKey)
    }

    pub(crate) fn ticket_type(&mut self) -> Result<TicketTypeId, RedisStoreError> {
        let text: String = self.next()?;
        TicketTypeId::parse(&text).map_err(|_| self.unexpected())
    }

    pub(crate) fn seat(&mut self) -> Result<SeatLabel, RedisStoreError> {
        let text: String = self.next()?;
        SeatLabel::parse(&text).map_err(|_| self.unexpected())
    }

    /// The counts of every type, as `counts_reply` of the prelude gives them.
    pub(crate) fn counts(&mut self) -> Result<Vec<TypeCounts>, RedisStoreError> {
        self.rest(|types| {
            let mut one = types.array()?;
            Ok(TypeCounts {
                ticket_type: one.ticket_type()?,
                ceiling: one.next()?,
                remaining: one.next()?,
                held: one.next()?,
                sold: one.next()?,
                withdrawn: one.next()?,
            })
        })
    }

    /// An order's lines, as `lines_reply` of the prelude gives them.
    pub(crate) fn lines(&mut self) -> Result<Vec<OrderLine>, RedisStoreError> {
        self.array()?.rest(|lines| {
            let mut line = lines.array()?;
            let (ticket_type, unit_amount) = (line.ticket_type()?, line.next()?);
            let (price_version, kind): (u64, u8) = (line.next()?, line.next()?);
            let units = line.rest(|line| match kind {
                0 => line.next().map(UnitId::Serial),
                _ => line.seat().map(UnitId::Seat),
            })?;
            Ok(OrderLine { ticket_type, unit_amount, price_version, units })
        })
    }
}
