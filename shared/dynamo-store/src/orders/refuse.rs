//! Storing a refusal.

use std::time::Duration;

use domain::Order;
use fault_points::{TABLES_REFUSED, reached};
use receipts::{Outcome, Patience};

use super::OrderStore;
use super::persist::claim_of;
use super::record::{is_same_item, order_of};
use crate::StoreError;

/// DynamoDB takes no write at an item while a transaction is at it: then the same
/// order is being decided elsewhere, which takes milliseconds. It is tried
/// again for up to two seconds; a third is kept for the last try.
const PATIENCE: Patience = Patience { tries: 6, time_left: Duration::from_secs(3) };

/// What storing a refusal came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// This is the order's decision now.
    Stored,
    /// It was decided before, so; that is the answer.
    Present(Order),
}

impl OrderStore {
    /// Puts a refusal ([`Order::refusal`]) where the order has no decision yet.
    /// Repeating the same one is `Stored` again.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown, repeating is safe.
    /// `Contended` when another decision was under way all the time.
    pub async fn order_refuse(&self, refusal: &Order) -> Result<Refused, StoreError> {
        let claim = claim_of(refusal)?;
        let outcome = self.receipts.claim(&claim, PATIENCE).await?;
        reached(TABLES_REFUSED).await;
        match outcome {
            Outcome::New => Ok(Refused::Stored),
            Outcome::Replayed(present) | Outcome::Mismatch(present) => {
                let present = order_of(present)?;
                // The same: the reply to our write was lost, and this is it.
                let ours = is_same_item(&present, refusal);
                Ok(if ours { Refused::Stored } else { Refused::Present(present) })
            }
            Outcome::WorkRefused(_) => {
                Err(StoreError::Unavailable("a refusal has no work that could be refused".into()))
            }
        }
    }
}
