//! Persisting an order with its units, in one transaction.

use domain::{ItemFailure, Order};

use super::record::{item_of, order_of};
use super::unit::{UnitKey, owner_of, unit_item};
use super::{OrderStore, PartitionCounts, UnitOwner};
use crate::StoreError;
use crate::table::{ABSENT, Failure, Guard, Step, Transacted, transact};

/// What persisting came to. A failed write whose outcome is unknown is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Persisted {
    /// The order is there and owns its units.
    New,
    /// Nothing was written.
    Cancelled {
        /// Why, by position: the order's item first, then its units as
        /// [`Order::units`] gives them. For [`domain::classify_persist`].
        reasons: Vec<ItemFailure>,
        /// The order that was there, where the order's own condition failed.
        present: Option<Order>,
        /// Who owns the first unit whose condition failed.
        unit_owner: Option<UnitOwner>,
    },
}

impl OrderStore {
    /// Puts the order where it is absent and each of its units where it is
    /// unowned: all or nothing, in one transaction.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown: read the order first.
    pub async fn order_persist(
        &self,
        order: &Order,
        partitions: &PartitionCounts,
    ) -> Result<Persisted, StoreError> {
        let absent = Guard::new(ABSENT);
        let mut steps = vec![Step::put(&self.orders, item_of(order)?, &absent)?];
        for unit in order.units() {
            let key = UnitKey::of(&order.event, unit.ticket_type, unit.unit, partitions)?;
            let item = unit_item(&key, &order.id, &order.customer);
            steps.push(Step::put(&self.units, item, &absent)?);
        }
        match transact(self.orders.client(), steps).await? {
            Transacted::Done => Ok(Persisted::New),
            Transacted::Cancelled { failures, .. } => cancelled(failures),
        }
    }
}

fn cancelled(failures: Vec<Failure>) -> Result<Persisted, StoreError> {
    let reasons = failures.iter().map(|failure| failure.reason).collect();
    let mut failures = failures.into_iter();
    let present = failures.next().and_then(|failure| failure.present);
    let mut failed = failures.filter(|failure| failure.reason == ItemFailure::ConditionFailed);
    let owner = failed.next().and_then(|failure| failure.present);
    Ok(Persisted::Cancelled {
        reasons,
        present: present.map(order_of).transpose()?,
        unit_owner: owner.map(owner_of).transpose()?,
    })
}
