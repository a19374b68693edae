//! Putting order and units, and reading what the answer means.

use std::time::Duration;

use domain::{ItemFailure, Order, PersistVerdict, SeatLabel, UnitId, classify_persist};
use dynamo_store::{OrderStore, PartitionCounts, Persisted, StoreError, UnitOwner};
use lambda_kit::batch::Deadline;

use crate::backoff::{self, TRIES};

/// What one try takes; none is begun with less time left.
const ONE_TRY: Duration = Duration::from_secs(1);

/// What trying to persist an order came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// The order is there and owns its units.
    New,
    /// The order was there already, as this.
    Present(Order),
    /// Some of its units belong to others.
    UnitsTaken(Taken),
}

/// Units that belong to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The seats among them.
    pub seats: Vec<SeatLabel>,
    /// The owner of the first.
    pub owner: Option<UnitOwner>,
}

/// Why nothing is known to have landed.
#[derive(Debug, thiserror::Error)]
pub enum NotLanded {
    /// It may work later.
    #[error("not now: {0}")]
    Later(&'static str),
    /// It can't be known, or not now.
    #[error("the tables fail")]
    Failed(#[from] StoreError),
    /// It never will.
    #[error("the order can't be written as it is")]
    Never(#[source] Option<StoreError>),
}

/// Persists the order. Pure contention is met by trying again in place; after an
/// unknown outcome the order is read before anything else; a table that is too
/// busy is left alone.
///
/// Trying again needs no second look at the hold's end: the margin that was kept
/// to it is longer than this invocation can last.
///
/// # Errors
/// When nothing is known to have landed.
pub async fn persist(
    orders: &OrderStore,
    order: &Order,
    partitions: &PartitionCounts,
    deadline: Deadline,
) -> Result<Landed, NotLanded> {
    for tries in 1..=TRIES {
        match orders.order_persist(order, partitions).await {
            Ok(Persisted::New) => return Ok(Landed::New),
            Ok(Persisted::Cancelled { reasons, present, unit_owner }) => {
                match classify_persist(&reasons) {
                    PersistVerdict::OrderPresent => {
                        return present_order(orders, order, present).await;
                    }
                    PersistVerdict::UnitPresent(_) => {
                        let seats = taken_seats(order, &reasons);
                        return Ok(Landed::UnitsTaken(Taken { seats, owner: unit_owner }));
                    }
                    PersistVerdict::Contention => {}
                    PersistVerdict::Unclear => {
                        return found_or(orders, order, NotLanded::Later("throttled")).await;
                    }
                    PersistVerdict::Poison => return Err(NotLanded::Never(None)),
                }
            }
            Err(StoreError::Contended(_)) => {}
            Err(error @ StoreError::Throttled(_)) => {
                return found_or(orders, order, NotLanded::Failed(error)).await;
            }
            Err(StoreError::Unavailable(_)) => {
                if let Some(order) = orders.order_fetch(&order.customer, &order.id).await? {
                    return Ok(Landed::Present(order));
                }
            }
            Err(error @ StoreError::Invalid(_)) => return Err(NotLanded::Never(Some(error))),
            Err(error @ (StoreError::Denied(_) | StoreError::Corrupt { .. })) => {
                return Err(NotLanded::Failed(error));
            }
        }
        let pause = backoff::pause(tries, backoff::random());
        if tries == TRIES || deadline.remaining() < pause + ONE_TRY {
            break;
        }
        tokio::time::sleep(pause).await;
    }
    Err(NotLanded::Later("contended, or without an answer"))
}

/// The order was there: as the transaction returned it, or as it is now.
async fn present_order(
    orders: &OrderStore,
    order: &Order,
    present: Option<Order>,
) -> Result<Landed, NotLanded> {
    match present {
        Some(present) => Ok(Landed::Present(present)),
        None => found_or(orders, order, NotLanded::Later("there, and then not")).await,
    }
}

/// The order, if an earlier try of whoever has landed after all.
async fn found_or(
    orders: &OrderStore,
    order: &Order,
    otherwise: NotLanded,
) -> Result<Landed, NotLanded> {
    match orders.order_fetch(&order.customer, &order.id).await? {
        Some(present) => Ok(Landed::Present(present)),
        None => Err(otherwise),
    }
}

/// The seats whose own condition failed. The reasons stand in the order of the
/// order's units, after the order's own.
fn taken_seats(order: &Order, reasons: &[ItemFailure]) -> Vec<SeatLabel> {
    let failed = order.units().zip(reasons.iter().skip(1));
    failed
        .filter(|(_, reason)| **reason == ItemFailure::ConditionFailed)
        .filter_map(|(owned, _)| match owned.unit {
            UnitId::Seat(seat) => Some(seat.clone()),
            UnitId::Serial(_) => None,
        })
        .collect()
}
