//! Persisting an order with its units, in one transaction.

use domain::{Order, UnitId};
use fault_points::{TABLES_PERSISTED, reached};
use receipts::{Claim, Fingerprint, Outcome, Patience, RefusedWork};

use super::record::{item_of, order_key, order_of};
use super::unit::{UnitKey, owner_of, unit_item};
use super::{OrderStore, PartitionCounts, UnitOwner};
use crate::StoreError;
use crate::table::{ABSENT, Guard, step};

/// What persisting came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Persisted {
    /// The order is there and owns its units.
    New,
    /// It was there already, as this; with the same content or another.
    Present(Order),
    /// Some of its units have owners, and nothing was written.
    UnitsTaken(Vec<TakenUnit>),
}

/// A unit that has an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenUnit {
    /// Which.
    pub unit: UnitId,
    /// Whose it is.
    pub owner: Option<UnitOwner>,
}

impl TakenUnit {
    /// Whose these units are, each named once.
    #[must_use]
    pub fn owners(taken: &[Self]) -> Vec<&UnitOwner> {
        let mut owners: Vec<&UnitOwner> = Vec::new();
        for owner in taken.iter().filter_map(|taken| taken.owner.as_ref()) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        owners
    }
}

impl OrderStore {
    /// Puts the order where it is absent and each of its units where it is
    /// unowned: all or nothing, in one transaction. Where its outcome is unknown,
    /// the order is read before anything else.
    ///
    /// # Errors
    /// When DynamoDB fails or others are in the way for longer than the patience
    /// lasts; the outcome may be unknown, repeating is safe.
    pub async fn order_persist(
        &self,
        order: &Order,
        partitions: &PartitionCounts,
        patience: Patience,
    ) -> Result<Persisted, StoreError> {
        let unowned = Guard::new(ABSENT);
        let mut claim = claim_of(order)?;
        for unit in order.units() {
            let key = UnitKey::of(&order.event, unit.ticket_type, unit.unit, partitions)?;
            let item = unit_item(&key, &order.id, &order.customer);
            claim = claim.work(step::put(&self.units, item, &unowned)?);
        }
        let outcome = self.receipts.claim(&claim, patience).await?;
        reached(TABLES_PERSISTED).await;
        match outcome {
            Outcome::New => Ok(Persisted::New),
            Outcome::Replayed(present) | Outcome::Mismatch(present) => {
                order_of(present).map(Persisted::Present)
            }
            Outcome::WorkRefused(refused) => taken(order, refused).map(Persisted::UnitsTaken),
        }
    }
}

/// The order as the receipt of its intent.
pub(super) fn claim_of(order: &Order) -> Result<Claim, StoreError> {
    let key = order_key(&order.customer.key(), &order.id).to_item();
    let fingerprint = Fingerprint::new(domain::FINGERPRINT_VERSION, order.fingerprint.0);
    Ok(Claim::new(key, fingerprint).storing(item_of(order)?))
}

/// The work of a claim are the order's units, in their order.
fn taken(order: &Order, refused: Vec<RefusedWork>) -> Result<Vec<TakenUnit>, StoreError> {
    let units: Vec<&UnitId> = order.units().map(|owned| owned.unit).collect();
    let mut taken = Vec::with_capacity(refused.len());
    for RefusedWork { at, present } in refused {
        if let Some(unit) = units.get(at) {
            let owner = present.map(owner_of).transpose()?;
            taken.push(TakenUnit { unit: (*unit).clone(), owner });
        }
    }
    Ok(taken)
}
