//! One letter, and the batch it came in.

use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use contracts::messages::{IntentHead, IntentTraces, LiveUpdate};
use domain::{Epoch, Fingerprint, Order, Rejection};
use dynamo_store::{CatalogStore, Consistency, OrderStore, Refused, StoreError};
use fault_points::{
    DEAD_LETTERS_BEGUN, DEAD_LETTERS_ENDED, DEAD_LETTERS_KEPT, DEAD_LETTERS_RELEASED,
    DEAD_LETTERS_TOLD, reached,
};
use lambda_kit::batch::{self, Deadline, Message, OutOfTime, Retry};
use lambda_kit::{Causes, clock};
use queues::{LiveQueue, ParkedLetters, SendError, Visibility};
use redis_store::{Inventory, Recorded, RedisStoreError, Released, Settle, Settled};

use crate::letter::Letter;

const CONCURRENCY: usize = 10;
/// What one letter takes at most; none is begun with less time left.
pub const ONE_LETTER: Duration = Duration::from_secs(5);
/// A letter that failed comes back after 2, 4, 8, … seconds, at most these.
const LONGEST_RETURN_SECONDS: u32 = 300;

/// All that letters are seen to with.
#[derive(Debug)]
pub struct Compensation {
    /// Events, for their epochs.
    pub catalog: CatalogStore,
    /// Orders.
    pub orders: OrderStore,
    /// Who holds what.
    pub inventory: Inventory,
    /// Owners and watchers.
    pub live: LiveQueue,
    /// Where letters are kept.
    pub parked: ParkedLetters,
    /// Of the letters under way.
    pub visibility: Visibility,
}

/// Why a letter is not done with; it comes back.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    /// The tables fail.
    #[error("the tables fail")]
    Tables(#[from] StoreError),
    /// Redis fails.
    #[error("Redis fails")]
    Redis(#[from] RedisStoreError),
    /// Another inventory than the event's is active: a recovery is at work.
    #[error("epoch {active} is active, the event's is {durable}")]
    OtherEpoch {
        /// In Redis.
        active: Epoch,
        /// In DynamoDB.
        durable: Epoch,
    },
    /// A queue fails.
    #[error("a queue fails")]
    Queue(#[from] SendError),
    /// Something of it all took too long.
    #[error(transparent)]
    OutOfTime(#[from] OutOfTime),
}

impl Compensation {
    /// Works off a batch. The answer names exactly the letters that come back.
    pub async fn batch(&self, event: SqsEvent, deadline: Deadline) -> SqsBatchResponse {
        let same = |letter: &Letter| letter.text.clone();
        batch::each_distinct_of(event, Letter::read, same, CONCURRENCY, deadline, |message| {
            self.message(message, deadline)
        })
        .await
    }

    async fn message(&self, message: Message<Letter>, deadline: Deadline) -> Result<(), Retry> {
        let seen_to = deadline.within(self.see_to(&message.body)).await;
        let Err(error) = seen_to.map_err(Unfinished::from).flatten() else { return Ok(()) };
        let seconds = return_seconds(message.receive_count);
        tracing::warn!(seconds, error = %Causes(&error), "a dead letter comes back");
        if let Err(error) = self.visibility.postpone(&message.receipt_handle, seconds).await {
            tracing::warn!(error = %Causes(&error), "it comes back when the queue says");
        }
        Err(Retry)
    }

    /// Sees to the order of a letter, and keeps the letter.
    ///
    /// # Errors
    /// When it is not done with.
    pub async fn see_to(&self, letter: &Letter) -> Result<(), Unfinished> {
        reached(DEAD_LETTERS_BEGUN).await;
        let order = match &letter.traces {
            Some(traces) => self.compensate(traces).await?,
            None => None,
        };
        tracing::error!(
            order = letter.traces.as_ref().map(|traces| tracing::field::display(traces.order)),
            state = order.as_ref().map(|order| order.state.as_str()),
            metric = "letter_parked",
            reason = letter.reason.as_str(),
            "a dead letter is kept"
        );
        self.keep(letter, order.as_ref()).await?;
        reached(DEAD_LETTERS_KEPT).await;
        Ok(())
    }

    /// Ends the order where it has no item, and makes everything agree with its
    /// item. The order as it is then; none: it can't be ended.
    async fn compensate(&self, traces: &IntentTraces) -> Result<Option<Order>, Unfinished> {
        // Read before the order: what the item says then is true of this epoch.
        let event = self.catalog.event_fetch(&traces.event, Consistency::Strong).await?;
        let epoch = event.as_ref().map_or(Epoch(0), |event| event.epoch);
        let fingerprint = self.fingerprint(traces, epoch).await?;
        let ended = match traces.head(event.as_ref(), fingerprint, clock::now()) {
            Some(head) => self.end(&head).await.map(Some),
            None => self.orders.order_fetch(&traces.customer, &traces.order).await,
        };
        let order = match ended {
            Ok(Some(order)) => order,
            Ok(None) => return Ok(None),
            // What can't be written as an order may not be writable as a refusal.
            Err(error @ StoreError::Invalid(_)) => {
                let order = traces.order;
                tracing::error!(%order, error = %Causes(&error), "an order can't be ended");
                self.release(traces, epoch).await?;
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        reached(DEAD_LETTERS_ENDED).await;
        self.agree(&order, epoch).await?;
        reached(DEAD_LETTERS_RELEASED).await;
        self.tell(&order).await?;
        reached(DEAD_LETTERS_TOLD).await;
        Ok(Some(order))
    }

    /// What was asked for: where the letter does not say it, its hold does. A refusal
    /// without it would answer the fan's own repeat as another content. Where Redis knows
    /// nothing of the order, nothing is held for it, and a repeat decides it anew.
    async fn fingerprint(
        &self,
        traces: &IntentTraces,
        epoch: Epoch,
    ) -> Result<Option<Fingerprint>, Unfinished> {
        if let Some(fingerprint) = traces.fingerprint() {
            return Ok(Some(fingerprint));
        }
        let customer = traces.customer.key();
        match self.inventory.record(&traces.event, epoch, &traces.order, &customer).await? {
            Recorded::Known(record) => Ok(Some(Fingerprint::from_short(record.fingerprint))),
            Recorded::Unknown | Recorded::Unavailable => Ok(None),
            Recorded::StaleEpoch { active } => {
                Err(Unfinished::OtherEpoch { active, durable: epoch })
            }
        }
    }

    /// Refuses the order where it has no item. The order as it is then: what was
    /// decided before stays, and what was persisted is no failure.
    async fn end(&self, head: &IntentHead) -> Result<Order, StoreError> {
        let refusal = head.refusal(Rejection::Unprocessable, clock::now());
        let order = match self.orders.order_refuse(&refusal).await? {
            Refused::Stored => refusal,
            Refused::Present(order) => order,
        };
        if !order.fingerprint.is_same_content(&head.fingerprint) {
            tracing::error!(
                order = %order.id,
                metric = "intent_with_other_content",
                "a dead letter has another content than its order"
            );
        }
        Ok(order)
    }

    /// Makes Redis agree with the order: the hold of an ended one is given back, and
    /// a live one has exactly its units.
    async fn agree(&self, order: &Order, epoch: Epoch) -> Result<(), Unfinished> {
        let settled = self.inventory.settle(&Settle::of(order, epoch, true)).await?;
        match settled {
            // Without an inventory nothing is held, and the next one is built from
            // what DynamoDB says.
            Settled::Applied | Settled::Ignored | Settled::Unavailable => {}
            Settled::StaleEpoch { active } => {
                return Err(Unfinished::OtherEpoch { active, durable: epoch });
            }
            // It is live: the stream has seen to it, or does.
            Settled::Conflict { .. } | Settled::Reread | Settled::Lost => {
                tracing::warn!(order = %order.id, ?settled, "settling is left to the stream");
            }
        }
        Ok(())
    }

    /// A hold without an order.
    async fn release(&self, traces: &IntentTraces, epoch: Epoch) -> Result<(), Unfinished> {
        let customer = traces.customer.key();
        match self.inventory.release(&traces.event, epoch, &traces.order, &customer).await? {
            Released::StaleEpoch { active } => {
                Err(Unfinished::OtherEpoch { active, durable: epoch })
            }
            Released::GivenBack | Released::NoHold | Released::Unknown | Released::Unavailable => {
                Ok(())
            }
        }
    }

    async fn tell(&self, order: &Order) -> Result<(), Unfinished> {
        let updates = [LiveUpdate::order(order), LiveUpdate::tick(&order.event)];
        Ok(self.live.send_all(&updates).await?)
    }

    async fn keep(&self, letter: &Letter, order: Option<&Order>) -> Result<(), Unfinished> {
        let now = clock::now().to_string();
        let traces = letter.traces.as_ref();
        let id = traces.map(|traces| traces.order.to_string()).unwrap_or_default();
        let labels = [
            ("reason", letter.reason.as_str()),
            ("detail", letter.detail.as_str()),
            ("dead_lettered_at", now.as_str()),
            ("order", id.as_str()),
            ("event", traces.map_or("", |traces| traces.event.as_str())),
            ("order_state", order.map_or("", |order| order.state.as_str())),
        ];
        Ok(self.parked.park(&letter.text, &labels).await?)
    }
}

/// After how many seconds a letter comes back that was received so often.
fn return_seconds(receive_count: u32) -> u32 {
    2_u32.saturating_pow(receive_count).min(LONGEST_RETURN_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_ever_later() {
        assert_eq!([1, 2, 8, 9, u32::MAX].map(return_seconds), [2, 4, 256, 300, 300]);
    }
}
