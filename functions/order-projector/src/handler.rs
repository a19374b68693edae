//! A batch of either kind of event.

use std::collections::HashMap;
use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use contracts::messages::{LiveUpdate, SettleRetry};
use domain::{Order, OrderId};
use dynamo_store::order_of_image;
use fault_points::{
    PROJECTOR_BEGUN, PROJECTOR_DEFERRED, PROJECTOR_NUDGED, PROJECTOR_SETTLED, reached,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use lambda_kit::Causes;
use lambda_kit::batch::{self, Deadline, Message, Panicked, Retry, isolated};
use queues::{LiveQueue, SendError, SettleQueue, Visibility};

use crate::nudges::{Changed, nudges};
use crate::settling::{SettleError, Settlement, Settler, Why};
use crate::trigger::{Change, Trigger, unreadable};

/// So many orders are settled at once.
const CONCURRENCY: usize = 16;
/// One order may keep its shard waiting for so long; then it is a retry.
const PATIENCE: Duration = Duration::from_secs(3);
/// After so long a retry is first looked at.
const FIRST_RETRY_SECONDS: u32 = 2;
const LONGEST_RETRY_SECONDS: u32 = 300;

/// What one order takes at most; none is begun with less time left.
pub const ONE_RETRY: Duration = Duration::from_secs(5);

/// All that orders are projected with.
#[derive(Debug)]
pub struct Projector {
    /// Makes Redis agree.
    pub settler: Settler,
    /// For what can't be settled now.
    pub retries: SettleQueue,
    /// Of the retries under way.
    pub visibility: Visibility,
    /// Watchers and owners.
    pub live: LiveQueue,
}

/// The last that a batch says of an order.
struct Latest {
    order: Order,
    sequence: String,
}

impl Projector {
    /// Works off an event. Both kinds are answered by the same shape: what is
    /// named comes again. (Of a shard, everything from the first one named.)
    pub async fn handle(&self, trigger: Trigger, deadline: Deadline) -> SqsBatchResponse {
        match trigger {
            Trigger::Stream(changes) => self.changes(changes, deadline).boxed_local().await,
            Trigger::Retries(event) => self.retries(event, deadline).boxed_local().await,
        }
    }

    async fn changes(&self, changes: Vec<Change>, deadline: Deadline) -> SqsBatchResponse {
        let latest = latest(changes).await;
        let projected: Vec<Result<Changed<'_>, &str>> = stream::iter(&latest)
            .map(|Latest { order, sequence }| async move {
                // The shard comes back to what there is no time for.
                if !deadline.allows_another() {
                    return Err(sequence.as_str());
                }
                self.project(order).await.map_err(|_| sequence.as_str())
            })
            .buffer_unordered(CONCURRENCY)
            .collect()
            .await;
        let changed = projected.iter().filter_map(|projected| projected.ok());
        let nudging = async { self.nudge(&nudges(changed)).await };
        if let Err(error) = isolated(nudging).await {
            tracing::warn!(%error, "watchers are not nudged");
        }
        let mut response = SqsBatchResponse::default();
        for sequence in projected.into_iter().filter_map(Result::err) {
            response.add_failure(sequence);
        }
        response
    }

    /// Settles an order, or lets it be settled later.
    async fn project<'a>(&self, order: &'a Order) -> Result<Changed<'a>, SendError> {
        let settling = async {
            reached(PROJECTOR_BEGUN).await;
            self.settler.settle(order.clone()).await
        };
        let settling = tokio::time::timeout(PATIENCE, in_any_case(settling.boxed()));
        let error = match settling.await.unwrap_or(Err(Unsettled::Slow)) {
            Ok(settled) => {
                reached(PROJECTOR_SETTLED).await;
                return Ok(Changed { order, never_held: settled == Settlement::NeverHeld });
            }
            Err(error) => error,
        };
        let event = &order.event;
        tracing::warn!(order = %order.id, %event, error = %Causes(&error), "to be settled later");
        let retry = SettleRetry {
            order: order.id,
            customer: order.customer.clone(),
            event: order.event.clone(),
        };
        self.retries.send(&retry, FIRST_RETRY_SECONDS).await.inspect_err(|error| {
            tracing::error!(
                order = %order.id,
                event = %order.event,
                error = %Causes(error),
                "the shard has to wait"
            );
        })?;
        reached(PROJECTOR_DEFERRED).await;
        Ok(Changed { order, never_held: false })
    }

    async fn retries(&self, event: SqsEvent, deadline: Deadline) -> SqsBatchResponse {
        let key = |retry: &SettleRetry| retry.order;
        batch::each_distinct(event, key, CONCURRENCY, deadline, |message| {
            self.retry(message, deadline)
        })
        .await
    }

    async fn retry(&self, message: Message<SettleRetry>, deadline: Deadline) -> Result<(), Retry> {
        let SettleRetry { order, customer, event } = &message.body;
        let key = customer.key();
        let settling = async {
            reached(PROJECTOR_BEGUN).await;
            self.settler.settle_stored(&key, order).await
        };
        let settling = deadline.within(in_any_case(settling.boxed()));
        let Err(error) = settling.await.unwrap_or(Err(Unsettled::Slow)) else {
            self.nudge(&[LiveUpdate::tick(event)]).await;
            return Ok(());
        };
        tracing::warn!(%order, error = %Causes(&error), "a retry comes back");
        let seconds = return_seconds(message.receive_count);
        if let Err(error) = self.visibility.postpone(&message.receipt_handle, seconds).await {
            tracing::warn!(%order, error = %Causes(&error), "it comes back when the queue says");
        }
        Err(Retry)
    }

    /// Not worth a repetition: the next change nudges again.
    async fn nudge(&self, updates: &[LiveUpdate]) {
        if let Err(error) = self.live.send_all(updates).await {
            tracing::warn!(error = %Causes(&error), "watchers are not nudged");
        }
        reached(PROJECTOR_NUDGED).await;
    }
}

/// Why an order is not settled now.
#[derive(Debug, thiserror::Error)]
enum Unsettled {
    #[error("Redis does not agree: {0:?}")]
    Later(Why),
    #[error(transparent)]
    Failed(#[from] SettleError),
    #[error(transparent)]
    Panicked(#[from] Panicked),
    #[error("it takes too long")]
    Slow,
}

/// Whatever goes wrong with an order holds up no other.
async fn in_any_case(
    settling: BoxFuture<'_, Result<Settlement, SettleError>>,
) -> Result<Settlement, Unsettled> {
    match isolated(settling).await?? {
        Settlement::Later(why) => Err(Unsettled::Later(why)),
        settled @ (Settlement::Done | Settlement::NeverHeld) => Ok(settled),
    }
}

/// The last state of each order in the batch; an earlier one says nothing more.
async fn latest(changes: Vec<Change>) -> Vec<Latest> {
    let mut latest: HashMap<OrderId, Latest> = HashMap::new();
    for Change { sequence, image } in changes {
        let Some(image) = image else { continue };
        match isolated(async { order_of_image(image) }).await {
            Ok(Ok(order)) => {
                let known = latest.get(&order.id);
                if known.is_none_or(|known| known.order.version <= order.version) {
                    latest.insert(order.id, Latest { order, sequence });
                }
            }
            Ok(Err(error)) => unreadable(&sequence, &Causes(&error)),
            Err(panicked) => unreadable(&sequence, &panicked),
        }
    }
    latest.into_values().collect()
}

/// After how many seconds a retry comes back: 2, 4, 8, … up to five minutes.
fn return_seconds(receive_count: u32) -> u32 {
    2_u32.saturating_pow(receive_count).clamp(FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_come_back_ever_later() {
        assert_eq!([0, 1, 2, 8, 9, u32::MAX].map(return_seconds), [2, 2, 4, 256, 300, 300]);
    }
}
