//! One intent, and the batch it came in.

use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use contracts::messages::{GivenUp, OrderIntent};
use domain::{HoldTime, Rejection};
use dynamo_store::{CatalogStore, OrderStore, Patience, Persisted, UnitCache};
use fault_points::{PERSISTENCE_BEGUN, PERSISTENCE_BURIED, reached};
use lambda_kit::Causes;
use lambda_kit::batch::{self, Deadline, Message, Retry};
use lambda_kit::clock;
use queues::{DeadLetters, Visibility};
use redis_store::Inventory;

use crate::aftermath::Unfinished;
use crate::backoff;
use crate::epochs::Epochs;
use crate::incoming::Incoming;

/// A whole batch at once: a message that has to wait for its turn is one whose
/// hold runs out meanwhile.
const CONCURRENCY: usize = 10;

/// What one intent takes when all goes well. None is begun with less time left.
pub const ONE_INTENT: Duration = Duration::from_millis(500);

/// All that intents are persisted with.
#[derive(Debug)]
pub struct Persistence {
    /// Events, for their epochs.
    pub catalog: CatalogStore,
    /// Orders and the units they own.
    pub orders: OrderStore,
    /// Who holds what.
    pub inventory: Inventory,
    /// Which units there are, and where they are put.
    pub units: UnitCache,
    /// Of the messages under way.
    pub visibility: Visibility,
    /// For what can never be persisted.
    pub dead_letters: DeadLetters,
    /// How long holds last, and when it is too late for one.
    pub time: HoldTime,
}

impl Persistence {
    /// Works off a batch. The answer names exactly the messages that come back.
    pub async fn batch(&self, event: SqsEvent, deadline: Deadline) -> SqsBatchResponse {
        let epochs = Epochs::new(&self.catalog);
        let epochs = &epochs;
        // Only what says the same, word for word, is done with when its copy is: one of
        // two intents of an order may be damaged, and then it would speak for the other.
        let same = |incoming: &Incoming| incoming.text.clone();
        batch::each_distinct_of(event, Incoming::read, same, CONCURRENCY, deadline, |message| {
            self.message(message, epochs, deadline)
        })
        .await
    }

    async fn message(
        &self,
        message: Message<Incoming>,
        epochs: &Epochs<'_>,
        deadline: Deadline,
    ) -> Result<(), Retry> {
        let worked_off = deadline.within(self.work_off(&message.body, epochs, deadline)).await;
        let Err(error) = worked_off.map_err(Unfinished::from).flatten() else {
            return Ok(());
        };
        let seconds = backoff::return_seconds(message.receive_count);
        let order = message.body.order().map(tracing::field::display);
        tracing::warn!(order, seconds, error = %Causes(&error), "an intent comes back");
        if let Err(error) = self.visibility.postpone(&message.receipt_handle, seconds).await {
            tracing::warn!(order, error = %Causes(&error), "it comes back when the queue says");
        }
        Err(Retry)
    }

    /// Persists an intent, or gives it up at once where no repetition would help.
    async fn work_off(
        &self,
        incoming: &Incoming,
        epochs: &Epochs<'_>,
        deadline: Deadline,
    ) -> Result<(), Unfinished> {
        let (reason, detail) = match &incoming.intent {
            Err(error) => (GivenUp::Unreadable, error.to_string()),
            Ok(intent) => match self.persist(intent, epochs, deadline).await {
                Err(error) if error.is_for_ever() => {
                    (GivenUp::Unwritable, Causes(&error).to_string())
                }
                outcome => return outcome,
            },
        };
        self.bury(incoming, reason, &detail).await
    }

    /// What is written here is all: ending the order and giving back its hold is
    /// done by whoever reads the dead letters, also for those that come there on
    /// the queue's own account.
    async fn bury(
        &self,
        incoming: &Incoming,
        reason: GivenUp,
        detail: &str,
    ) -> Result<(), Unfinished> {
        tracing::error!(
            order = incoming.order().map(tracing::field::display),
            metric = "intent_buried",
            reason = reason.as_str(),
            "an intent is buried"
        );
        self.dead_letters.bury(&incoming.text, reason, detail).await?;
        reached(PERSISTENCE_BURIED).await;
        Ok(())
    }

    /// Persists one intent, or refuses it.
    ///
    /// # Errors
    /// When it is not done with.
    pub async fn persist(
        &self,
        intent: &OrderIntent,
        epochs: &Epochs<'_>,
        deadline: Deadline,
    ) -> Result<(), Unfinished> {
        reached(PERSISTENCE_BEGUN).await;
        // Before anything is stored of it, a refusal too.
        if !intent.is_whole() {
            return Err(Unfinished::NotWhole);
        }
        let now = clock::now();
        if self.time.is_too_late(intent.expires_at, now) {
            return self.refuse(intent, Rejection::HoldExpired, epochs, deadline).await;
        }
        // Where Redis, or whoever else wrote the intent, invents a unit, no condition
        // of another unit's item stands against it: it would be one more than there are.
        let partitions = self.units.units_cached(&intent.event, &intent.lines).await??;
        let order = intent.clone().into_order(&self.time, now);
        // However often it is tried there, the hold's end needs no second look: the
        // margin that was kept to it is longer than this invocation can last.
        let patience = Patience::of(deadline.for_work());
        match self.orders.order_persist(&order, &partitions, patience).await? {
            Persisted::New => {
                self.committed(&order, epochs, deadline).await;
                Ok(())
            }
            Persisted::Present(order) => self.follow(intent, &order, epochs, deadline).await,
            Persisted::UnitsTaken(taken) => self.lose(intent, taken, epochs, deadline).await,
        }
    }
}
