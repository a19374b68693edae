//! What the outcome of a transaction asks for: a row of the design's table each.

use std::time::Duration;

use contracts::messages::OrderIntent;
use domain::{Epoch, Order, OrderId, Rejection, SeatLabel, Standing, UnitId};
use dynamo_store::{NoSuchUnit, Refused, StoreError, TakenUnit, UnitOwner};
use fault_points::{
    PERSISTENCE_COMMITTED, PERSISTENCE_OWNER_SETTLED, PERSISTENCE_REFUSED, PERSISTENCE_SETTLED,
    reached,
};
use lambda_kit::batch::{Deadline, OutOfTime};
use lambda_kit::{Causes, clock};
use queues::SendError;
use redis_store::{RedisStoreError, Settle, Settled};
use tokio::time::timeout;

use crate::epochs::Epochs;
use crate::handler::Persistence;

/// So long Redis may take to hear of a commit. Longer, and one that stands still would be
/// what all other events' intents wait for; the stream tells it, too.
const TELLING: Duration = Duration::from_secs(1);
/// So long before the time for work is over it ends in any case: a message that is done
/// with would come back.
const A_MOMENT: Duration = Duration::from_millis(100);

/// Why an intent is not done with; its message comes back.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    /// It wants nothing, or more than an order may have, or says what can't be kept.
    #[error("it is no intent that a till writes")]
    NotWhole,
    /// It names a unit that the event does not have.
    #[error("it names no unit of the event")]
    NoSuchUnit(#[from] NoSuchUnit),
    /// The tables fail.
    #[error("the tables fail")]
    Tables(#[from] StoreError),
    /// Redis fails where it matters that it does not.
    #[error("Redis fails")]
    Redis(#[from] RedisStoreError),
    /// The dead-letter queue fails.
    #[error("the dead-letter queue fails")]
    DeadLetters(#[from] SendError),
    /// Something of it all took too long.
    #[error(transparent)]
    OutOfTime(#[from] OutOfTime),
}

impl Unfinished {
    /// Whether it will be the same however often the intent comes.
    #[must_use]
    pub fn is_for_ever(&self) -> bool {
        match self {
            Self::NotWhole | Self::NoSuchUnit(_) => true,
            Self::Tables(error) => matches!(error, StoreError::Invalid(_)),
            Self::Redis(_) | Self::DeadLetters(_) | Self::OutOfTime(_) => false,
        }
    }
}

impl Persistence {
    /// The order landed just now: Redis is made to agree. If it can't be, the
    /// stream does it; the message is done with.
    pub(crate) async fn committed(&self, order: &Order, epochs: &Epochs<'_>, deadline: Deadline) {
        reached(PERSISTENCE_COMMITTED).await;
        let time = deadline.for_work().saturating_sub(A_MOMENT).min(TELLING);
        let told = timeout(time, self.settle(order, epochs)).await;
        if let Err(error) = told.unwrap_or(Err(OutOfTime.into())) {
            tracing::warn!(order = %order.id, error = %Causes(&error), "settling is left to the stream");
        }
        reached(PERSISTENCE_SETTLED).await;
    }

    /// The order was there: its item says what is true, whatever the intent says.
    pub(crate) async fn follow(
        &self,
        intent: &OrderIntent,
        order: &Order,
        epochs: &Epochs<'_>,
        deadline: Deadline,
    ) -> Result<(), Unfinished> {
        if !order.fingerprint.is_same_content(&intent.fingerprint) {
            tracing::error!(
                order = %order.id,
                metric = "intent_with_other_content",
                "an intent has another content than its order"
            );
        }
        match order.state.standing() {
            Standing::Live => {
                self.committed(order, epochs, deadline).await;
                Ok(())
            }
            Standing::Ended => self.ended(intent, order, epochs).await,
        }
    }

    /// Units have other owners in DynamoDB, so Redis gave them away wrongly: each
    /// owner is put right first, or it would do so again. Then this order is refused.
    pub(crate) async fn lose(
        &self,
        intent: &OrderIntent,
        taken: Vec<TakenUnit>,
        epochs: &Epochs<'_>,
        deadline: Deadline,
    ) -> Result<(), Unfinished> {
        let seats = seats_of(taken.iter().map(|taken| &taken.unit));
        let owners = TakenUnit::owners(&taken);
        let order = &intent.order;
        tracing::warn!(%order, metric = "unit_taken", ?owners, ?seats, "units had owners");
        for owner in owners {
            self.put_right(intent, owner, epochs).await?;
        }
        let rejection = match seats.is_empty() {
            true => Rejection::Recovery,
            false => Rejection::SeatTaken { seats },
        };
        self.refuse(intent, rejection, epochs, deadline).await
    }

    /// Makes Redis agree with the owner of a unit that an intent named.
    async fn put_right(
        &self,
        intent: &OrderIntent,
        owner: &UnitOwner,
        epochs: &Epochs<'_>,
    ) -> Result<(), Unfinished> {
        match self.orders.order_fetch(&owner.customer, &owner.order).await? {
            Some(owner) => {
                self.settle(&owner, epochs).await?;
                reached(PERSISTENCE_OWNER_SETTLED).await;
            }
            None => tracing::error!(
                order = %intent.order,
                metric = "orphaned_unit",
                owner = %owner.order,
                "a unit is owned by an order that is not there"
            ),
        }
        Ok(())
    }

    /// Stores a refusal where the order has no item, and only then gives its
    /// hold back. What was there already is followed.
    pub(crate) async fn refuse(
        &self,
        intent: &OrderIntent,
        rejection: Rejection,
        epochs: &Epochs<'_>,
        deadline: Deadline,
    ) -> Result<(), Unfinished> {
        let refusal = intent.head().refusal(rejection, clock::now());
        match self.orders.order_refuse(&refusal).await? {
            Refused::Stored => {
                reached(PERSISTENCE_REFUSED).await;
                self.ended(intent, &refusal, epochs).await
            }
            Refused::Present(order) => self.follow(intent, &order, epochs, deadline).await,
        }
    }

    /// Redis hears, by its version, that the order ended: no older record of it can take
    /// anything again. A hold that is about to lapse by itself is not worth a message's return.
    async fn ended(
        &self,
        intent: &OrderIntent,
        order: &Order,
        epochs: &Epochs<'_>,
    ) -> Result<(), Unfinished> {
        let settled = self.settle(order, epochs).await;
        reached(PERSISTENCE_SETTLED).await;
        match settled {
            Err(Unfinished::Redis(error))
                if self.time.is_too_late(intent.expires_at, clock::now()) =>
            {
                tracing::warn!(order = %order.id, %error, "a hold is left to lapse");
                Ok(())
            }
            settled => settled,
        }
    }

    /// Makes Redis agree with an order as it was read. What Redis answers other
    /// than agreement is for the stream and its retry queue to resolve.
    async fn settle(&self, order: &Order, epochs: &Epochs<'_>) -> Result<(), Unfinished> {
        let epoch = epochs.of(&order.event).await?;
        let mut settled = self.inventory.settle(&Settle::of(order, epoch, false)).await?;
        if settled == Settled::Reread
            && let Some(order) = self.orders.order_fetch(&order.customer, &order.id).await?
        {
            settled = self.inventory.settle(&Settle::of(&order, epoch, true)).await?;
        }
        report(&order.id, epoch, settled);
        Ok(())
    }
}

/// The seats among these units.
fn seats_of<'a>(units: impl Iterator<Item = &'a UnitId>) -> Vec<SeatLabel> {
    let seat = |unit: &UnitId| match unit {
        UnitId::Seat(seat) => Some(seat.clone()),
        UnitId::Serial(_) => None,
    };
    units.filter_map(seat).collect()
}

fn report(order: &OrderId, epoch: Epoch, settled: Settled) {
    match settled {
        Settled::Applied | Settled::Ignored => {}
        Settled::Lost => tracing::error!(
            %order,
            metric = "redis_lost_writes",
            "a live order is unknown to Redis"
        ),
        Settled::StaleEpoch { active } if active < epoch => tracing::error!(
            %order,
            metric = "redis_behind_epoch",
            %active,
            durable = %epoch,
            "an old inventory is active in Redis"
        ),
        Settled::Conflict { .. }
        | Settled::Reread
        | Settled::StaleEpoch { .. }
        | Settled::Unavailable => {
            tracing::warn!(%order, ?settled, "settling is left to the stream");
        }
    }
}
