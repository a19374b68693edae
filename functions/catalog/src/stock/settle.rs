//! Making Redis agree with an order, right after it was written. What does not
//! come through here comes through the table's stream.

use domain::{Epoch, Order};
use lambda_kit::http::Failure;
use redis_store::{Settle, Settled};
use store_failures::OrFail;

use crate::catalogue::Catalogue;

/// Makes Redis agree with an order; whether it does.
pub(crate) async fn settle(
    catalogue: &Catalogue,
    order: &Order,
    epoch: Epoch,
) -> Result<bool, Failure> {
    let settled = catalogue.inventory.settle(&Settle::of(order, epoch, false)).await.or_fail()?;
    let epoch = match settled {
        Settled::Applied | Settled::Ignored => return Ok(true),
        // It may have ended since it was read.
        Settled::Reread | Settled::Lost => epoch,
        Settled::StaleEpoch { active } => active,
        Settled::Conflict { .. } | Settled::Unavailable => return Ok(false),
    };
    let read = catalogue.orders.order_fetch(&order.customer, &order.id).await.or_fail()?;
    let Some(order) = read else { return Ok(false) };
    let settled = catalogue.inventory.settle(&Settle::of(&order, epoch, true)).await.or_fail()?;
    if settled == Settled::Lost {
        tracing::error!(
            order = %order.id,
            metric = "redis_lost_writes",
            "a live order is unknown to Redis"
        );
    }
    Ok(matches!(settled, Settled::Applied | Settled::Ignored))
}

/// The same, where it can wait for the stream: the order is what it is.
pub(crate) async fn settle_later(catalogue: &Catalogue, order: &Order, epoch: Epoch) {
    match settle(catalogue, order, epoch).await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(order = %order.id, "Redis does not agree with an order yet"),
        Err(failure) => {
            let reason = failure.reason().as_str();
            tracing::warn!(order = %order.id, reason, "Redis could not be told of an order");
        }
    }
}
