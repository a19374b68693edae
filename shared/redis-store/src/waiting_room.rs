//! The waiting room of an event.

use domain::{CustomerKey, EventId, Place, SessionId};
use jiff::Timestamp;

use crate::client::Redis;
use crate::error::RedisStoreError;
use crate::types::*;

/// What asking to enter led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// In: now, or since an earlier time.
    Entered {
        /// The session.
        session: SessionId,
        /// The fan's number.
        number: u32,
        /// The line it is a number of.
        generation: u64,
        /// When the token to be given expires.
        token_expires_at: Timestamp,
        /// When the session ends, renewals included.
        session_ends_at: Timestamp,
    },
    /// Not called yet.
    NotYet(Place),
    /// Was called and did not come; is called again, twice at most.
    Missed(Place),
    /// The place has ended: join again.
    Ended,
    /// The customer has no place.
    NoPlace,
    /// There is no line.
    NoLine,
}

/// What has to be done before a fan's slot may be freed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaving {
    /// End this session at the till first.
    Session {
        /// The session.
        id: SessionId,
        /// When its last token expires.
        token_expires_at: Timestamp,
    },
    /// Nothing: the fan is not in.
    NoSession,
    /// The customer has no place.
    NoPlace,
    /// There is no line.
    NoLine,
}

/// The waiting rooms on a Redis.
#[derive(Debug, Clone)]
pub struct WaitingRoom {
    redis: Redis,
}

impl WaitingRoom {
    /// On that Redis.
    #[must_use]
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Sets the line's settings; a higher generation starts it anew.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn configure(
        &self,
        event: &EventId,
        settings: &LineSettings,
    ) -> Result<Written, RedisStoreError> {
        let _ = (&self.redis, event, settings);
        Err(RedisStoreError::Unwritten)
    }

    /// A place in line, and whether it is new; none without a line.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn join(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<Option<(Place, bool)>, RedisStoreError> {
        let _ = (&self.redis, event, customer);
        Err(RedisStoreError::Unwritten)
    }

    /// The customer's place; the outer none: no line.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn place(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<Option<Option<Place>>, RedisStoreError> {
        let _ = (&self.redis, event, customer);
        Err(RedisStoreError::Unwritten)
    }

    /// Enters, or renews the session.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn enter(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<Entry, RedisStoreError> {
        let _ = (&self.redis, event, customer);
        Err(RedisStoreError::Unwritten)
    }

    /// Which session has to be ended before the slot may be freed.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn leave_begin(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<Leaving, RedisStoreError> {
        let _ = (&self.redis, event, customer);
        Err(RedisStoreError::Unwritten)
    }

    /// Gives up the place, or the slot.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn leave(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<bool, RedisStoreError> {
        let _ = (&self.redis, event, customer);
        Err(RedisStoreError::Unwritten)
    }

    /// The public state of the line.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn status(&self, event: &EventId) -> Result<Option<LineStatus>, RedisStoreError> {
        let _ = (&self.redis, event);
        Err(RedisStoreError::Unwritten)
    }
}
