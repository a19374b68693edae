//! Withdrawals: pk `event#<event>`, sk `withdrawal#<id>`. What an operator took
//! out of sale, and the orders that own it.

use domain::{EventId, Line, OrderId, WithdrawalId};
use serde::{Deserialize, Serialize};

use super::CatalogStore;
use crate::StoreError;

/// How far a withdrawal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalState {
    /// Its units are being taken; a repeat of the request goes on with it.
    Taking,
    /// Its orders own all its units.
    Taken,
    /// Could not be had; what was taken has been returned.
    Refused,
    /// Its units are being returned.
    Returning,
    /// Returned.
    Returned,
}

/// Units taken out of sale together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// Named by the operator.
    pub id: WithdrawalId,
    /// What was asked for (more than one order's worth is fine).
    pub lines: Vec<Line>,
    /// The orders that own its units, or are about to.
    pub orders: Vec<OrderId>,
    /// How far it is.
    pub state: WithdrawalState,
    /// Starts at 1 and grows by one with each change.
    pub version: u64,
}

/// What putting a withdrawal came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalCreated {
    /// It is there now, exactly so.
    Created,
    /// Another one, or the same further on, stood under this id.
    Exists(Withdrawal),
}

/// What a change came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalUpdated {
    /// It is so now.
    Updated,
    /// Someone else changed it first; none: there is no such withdrawal.
    VersionMismatch(Option<Withdrawal>),
}

impl CatalogStore {
    /// The withdrawal; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn withdrawal_fetch(
        &self,
        event: &EventId,
        withdrawal: &WithdrawalId,
    ) -> Result<Option<Withdrawal>, StoreError> {
        todo!()
    }

    /// All withdrawals of an event; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn withdrawals_list(&self, event: &EventId) -> Result<Vec<Withdrawal>, StoreError> {
        todo!()
    }

    /// Puts a withdrawal (version 1) where there is none. Repeating it is `Created` again.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn withdrawal_create(
        &self,
        event: &EventId,
        withdrawal: &Withdrawal,
    ) -> Result<WithdrawalCreated, StoreError> {
        todo!()
    }

    /// Replaces a withdrawal by `withdrawal`, whose version is the old one + 1.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn withdrawal_update(
        &self,
        event: &EventId,
        withdrawal: &Withdrawal,
    ) -> Result<WithdrawalUpdated, StoreError> {
        todo!()
    }
}
