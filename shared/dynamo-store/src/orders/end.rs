//! Ending an order and freeing its units, in one transaction.

use std::time::Duration;

use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::{Order, OrderState, Standing, TicketTypeId, UnitId};
use fault_points::{TABLES_ENDED, reached};
use jiff::Timestamp;
use receipts::{Failure, Patience, Reason, Transacted, transact};

use super::record::{order_key, order_of};
use super::unit::{IS_OWNED_BY, UnitKey, owner_of};
use super::{OrderStore, PartitionCounts};
use crate::StoreError;
use crate::table::{Change, Guard, step};

/// The order is as it was read; whoever else changes it does so from this too,
/// and one of them wins.
const IS_AS_READ: &str = "#state = :state_read AND #version = :version_read";

/// An order is tried to be ended again within this time, while others are in the way.
const ENDING: Duration = Duration::from_secs(3);

/// A unit of the order to be freed.
struct Freed {
    ticket_type: TicketTypeId,
    unit: UnitId,
    key: UnitKey,
}

/// What ending an order came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It ended now, and what it owned is free.
    Ended {
        /// As it is now.
        order: Order,
        /// Units in its lines that it did not own: an alarm, and no release.
        foreign: Vec<(TicketTypeId, UnitId)>,
    },
    /// It changed in the meantime; this is what it is. Ended by another: done.
    Lost(Order),
    /// There is no such order.
    Missing,
}

impl OrderStore {
    /// Ends `order`, as it was read, with the state `to` (one that owns nothing),
    /// and frees its units: for cancelling, expiring, returning a withdrawal.
    /// A unit that is not the order's never keeps it from ending.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown, repeating is safe. When
    /// `to` is a state that owns units (`Invalid`).
    pub async fn order_end(
        &self,
        order: &Order,
        to: OrderState,
        now: Timestamp,
        partitions: &PartitionCounts,
    ) -> Result<Ended, StoreError> {
        if to.standing() != Standing::Ended {
            return Err(StoreError::Invalid(format!("{to:?} ends no order").into()));
        }
        if order.state.standing() == Standing::Ended {
            return Ok(Ended::Lost(order.clone()));
        }
        let ended = Order {
            state: to,
            version: order.version.saturating_add(1),
            updated_at: now,
            ..order.clone()
        };
        let mut owned = units_of(order, partitions)?;
        let mut foreign = Vec::new();
        let mut tries = Patience::of(ENDING).begin();
        // Each further round leaves out a unit at least, or is a further try.
        loop {
            let steps = self.end_steps(order, &ended, &owned)?;
            let outcome = transact(self.orders.client(), steps).await?;
            reached(TABLES_ENDED).await;
            let (failures, error) = match outcome {
                Transacted::Done => return Ok(Ended::Ended { order: ended, foreign }),
                Transacted::Cancelled { failures, error } => (failures, error),
            };
            let Some((own, units)) = failures.split_first() else { return Err(error) };
            if own.reason == Reason::ConditionFailed {
                return match &own.present {
                    Some(present) => order_of(present.clone()).map(Ended::Lost),
                    None => Ok(Ended::Missing),
                };
            }
            let strangers = self.strangers(order, owned, units).await?;
            owned = strangers.owned;
            // Somebody else may be ending it: many want what an overdue order has.
            let is_contended = matches!(error, StoreError::Contended(_));
            if strangers.foreign.is_empty() && !(is_contended && tries.another().await) {
                return Err(error);
            }
            foreign.extend(strangers.foreign);
        }
    }

    fn end_steps(
        &self,
        order: &Order,
        ended: &Order,
        owned: &[Freed],
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let change = Change::new("SET #state = :state, #version = :version, #updated_at = :now")
            .value(":state", ended.state.as_str())
            .value(":version", ended.version)
            .value(":now", ended.updated_at.as_millisecond());
        let as_read = Guard::new(IS_AS_READ)
            .value(":state_read", order.state.as_str())
            .value(":version_read", order.version);
        let key = order_key(&order.customer.key(), &order.id);
        let mut steps = vec![step::update(&self.orders, &key, &change, &as_read)?];
        let ours = Guard::new(IS_OWNED_BY).value(":order", order.id.to_string().as_str());
        for freed in owned {
            steps.push(step::delete(&self.units, &freed.key.0, &ours)?);
        }
        Ok(steps)
    }

    /// Which of the units whose condition failed are really not the order's.
    async fn strangers(
        &self,
        order: &Order,
        units: Vec<Freed>,
        failures: &[Failure],
    ) -> Result<Strangers, StoreError> {
        let mut sorted = Strangers { owned: Vec::with_capacity(units.len()), foreign: Vec::new() };
        for (freed, failure) in units.into_iter().zip(failures) {
            if failure.reason == Reason::ConditionFailed {
                let item = self.units.get(&freed.key.0, true).await?;
                let owner = item.map(owner_of).transpose()?;
                if owner.is_none_or(|owner| owner.order != order.id) {
                    sorted.foreign.push((freed.ticket_type, freed.unit));
                    continue;
                }
            }
            sorted.owned.push(freed);
        }
        Ok(sorted)
    }
}

/// Units of an order, by who owns them.
struct Strangers {
    owned: Vec<Freed>,
    foreign: Vec<(TicketTypeId, UnitId)>,
}

fn units_of(order: &Order, partitions: &PartitionCounts) -> Result<Vec<Freed>, StoreError> {
    let freed = |ticket_type: &TicketTypeId, unit: &UnitId| {
        let key = UnitKey::of(&order.event, ticket_type, unit, partitions)?;
        Ok(Freed { ticket_type: ticket_type.clone(), unit: unit.clone(), key })
    };
    order.units().map(|owned| freed(owned.ticket_type, owned.unit)).collect()
}
