//! The inventory of an event.

use domain::{
    CustomerKey, Epoch, EventId, LogPosition, OrderId, SeatLabel, SessionId, TicketTypeId,
};
use jiff::Timestamp;

use crate::client::Redis;
use crate::error::RedisStoreError;
use crate::types::*;

/// The inventory of events on a Redis.
#[derive(Debug, Clone)]
pub struct Inventory {
    redis: Redis,
}

impl Inventory {
    /// On that Redis.
    #[must_use]
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Which inventory the event has.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn pointer(&self, event: &EventId) -> Result<Option<Pointer>, RedisStoreError> {
        let _ = (&self.redis, event);
        Err(RedisStoreError::Unwritten)
    }

    /// Points at "building n", where a lower epoch or none was named.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn build_begin(
        &self,
        event: &EventId,
        epoch: Epoch,
    ) -> Result<bool, RedisStoreError> {
        let _ = (&self.redis, event, epoch);
        Err(RedisStoreError::Unwritten)
    }

    /// Sets the sale, where it is newer.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn sale_set(
        &self,
        event: &EventId,
        epoch: Epoch,
        sale: &SaleControl,
    ) -> Result<Written, RedisStoreError> {
        let _ = (&self.redis, event, epoch, sale);
        Err(RedisStoreError::Unwritten)
    }

    /// Sets a type; price and limit where they are newer.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn type_set(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TypeControl,
    ) -> Result<Written, RedisStoreError> {
        let _ = (&self.redis, event, epoch, ticket_type);
        Err(RedisStoreError::Unwritten)
    }

    /// Adds a contiguous range of seats.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn seats_add(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TicketTypeId,
        first: u32,
        seats: &[SeatLabel],
    ) -> Result<Written, RedisStoreError> {
        let _ = (&self.redis, event, epoch, ticket_type, first, seats);
        Err(RedisStoreError::Unwritten)
    }

    /// Loads orders with their units into an epoch that is being built.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn orders_load(
        &self,
        event: &EventId,
        epoch: Epoch,
        orders: &[LoadedOrder],
    ) -> Result<Written, RedisStoreError> {
        let _ = (&self.redis, event, epoch, orders);
        Err(RedisStoreError::Unwritten)
    }

    /// Lets an epoch sell, where all of it has arrived.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn activate(
        &self,
        event: &EventId,
        epoch: Epoch,
        expected: LoadedCounts,
    ) -> Result<bool, RedisStoreError> {
        let _ = (&self.redis, event, epoch, expected);
        Err(RedisStoreError::Unwritten)
    }

    /// Lets serials below the mark be issued.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn mark_raise(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TicketTypeId,
        mark: u32,
    ) -> Result<Written, RedisStoreError> {
        let _ = (&self.redis, event, epoch, ticket_type, mark);
        Err(RedisStoreError::Unwritten)
    }

    /// Holds units, all or none.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn reserve(&self, reserve: &Reserve) -> Result<Reservation, RedisStoreError> {
        let _ = (&self.redis, reserve);
        Err(RedisStoreError::Unwritten)
    }

    /// Makes Redis agree with an order's item.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn settle(&self, settle: &Settle) -> Result<Settled, RedisStoreError> {
        let _ = (&self.redis, settle);
        Err(RedisStoreError::Unwritten)
    }

    /// Gives back a hold that was not persisted.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn release(
        &self,
        event: &EventId,
        epoch: Epoch,
        order: &OrderId,
        customer: &CustomerKey,
    ) -> Result<bool, RedisStoreError> {
        let _ = (&self.redis, event, epoch, order, customer);
        Err(RedisStoreError::Unwritten)
    }

    /// What Redis knows of an order.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn record(
        &self,
        event: &EventId,
        epoch: Epoch,
        order: &OrderId,
        customer: &CustomerKey,
    ) -> Result<Option<OrderRecord>, RedisStoreError> {
        let _ = (&self.redis, event, epoch, order, customer);
        Err(RedisStoreError::Unwritten)
    }

    /// The counts of every type; none without such an active inventory.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn counts(
        &self,
        event: &EventId,
        epoch: Epoch,
    ) -> Result<Option<Vec<TypeCounts>>, RedisStoreError> {
        let _ = (&self.redis, event, epoch);
        Err(RedisStoreError::Unwritten)
    }

    /// All seats of some ranges at one instant.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn seat_states(
        &self,
        event: &EventId,
        epoch: Epoch,
        ranges: &[SeatRange],
    ) -> Result<Option<Snapshot>, RedisStoreError> {
        let _ = (&self.redis, event, epoch, ranges);
        Err(RedisStoreError::Unwritten)
    }

    /// One seat.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn seat_status(
        &self,
        event: &EventId,
        epoch: Epoch,
        ticket_type: &TicketTypeId,
        seat: &SeatLabel,
    ) -> Result<SeatStatus, RedisStoreError> {
        let _ = (&self.redis, event, epoch, ticket_type, seat);
        Err(RedisStoreError::Unwritten)
    }

    /// What changed after a position; gives back lapsed holds first.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn changes(
        &self,
        event: &EventId,
        epoch: Epoch,
        after: LogPosition,
        limit: u32,
    ) -> Result<Changes, RedisStoreError> {
        let _ = (&self.redis, event, epoch, after, limit);
        Err(RedisStoreError::Unwritten)
    }

    /// Ends a shopping session: nothing is bought in it any more.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn session_end(
        &self,
        event: &EventId,
        session: &SessionId,
        until: Timestamp,
    ) -> Result<(), RedisStoreError> {
        let _ = (&self.redis, event, session, until);
        Err(RedisStoreError::Unwritten)
    }
}
