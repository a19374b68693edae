//! A type's capacity, and what is withdrawn for it: both change together.

use domain::{EventId, TicketType};
use receipts::{Failure, Reason, Transacted, transact};

use super::ticket_type::{Details, IS_VERSION_BEFORE_AND_GROWS, type_key, type_of};
use super::withdrawal::{IS_VERSION_BEFORE, item_of};
use super::{CatalogStore, Withdrawal};
use crate::StoreError;
use crate::table::{Change, Guard, encode, step};

/// What writing a capacity came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapacityWritten {
    /// It is so now.
    Written,
    /// Someone else edited the type first; this is what stands there.
    VersionMismatch(TicketType),
    /// Someone else changes these, or has changed one of the withdrawals: read them again.
    Contended,
    /// There is no such type.
    Missing,
}

impl CatalogStore {
    /// As [`Self::ticket_type_update`], together with these withdrawals, each in the
    /// version after the one it was read in: all of it or nothing.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown. With more withdrawals than a
    /// transaction has room for beside the type ([`Self::MOST_WITHDRAWALS`]).
    pub async fn capacity_write(
        &self,
        event: &EventId,
        ticket_type: &TicketType,
        withdrawals: &[Withdrawal],
    ) -> Result<CapacityWritten, StoreError> {
        let before = |version: u64| version.saturating_sub(1);
        let details = Details::of(ticket_type);
        let change = Change::set(encode(&details)?);
        let as_read =
            Guard::new(IS_VERSION_BEFORE_AND_GROWS).value(":before", before(ticket_type.version));
        let key = type_key(event, &ticket_type.id);
        let mut steps = vec![step::update(&self.table, &key, &change, &as_read)?];
        for withdrawal in withdrawals {
            let as_read =
                Guard::new(IS_VERSION_BEFORE).value(":before", before(withdrawal.version));
            steps.push(step::put(&self.table, item_of(event, withdrawal)?, &as_read)?);
        }
        let (failures, error) = match transact(self.table.client(), steps).await? {
            Transacted::Done => return Ok(CapacityWritten::Written),
            Transacted::Cancelled { failures, error } => (failures, error),
        };
        let Some((of_type, of_withdrawals)) = failures.split_first() else { return Err(error) };
        if of_type.reason == Reason::ConditionFailed {
            let Some(present) = of_type.present.clone() else {
                return Ok(CapacityWritten::Missing);
            };
            let present = type_of(present)?;
            // The same: the reply to our write was lost and the SDK sent it again.
            return Ok(match Details::of(&present) == details {
                true => CapacityWritten::Written,
                false => CapacityWritten::VersionMismatch(present),
            });
        }
        let was_changed = |of: &Failure| of.reason == Reason::ConditionFailed;
        let is_changing = |of: &Failure| of.reason == Reason::Conflict;
        match of_withdrawals.iter().any(was_changed) || failures.iter().any(is_changing) {
            true => Ok(CapacityWritten::Contended),
            false => Err(error),
        }
    }

    /// So many can be written with a capacity.
    pub const MOST_WITHDRAWALS: usize = 99;
}
