//! Placing an order, step by step; the steps are those of the design, section 5.

use std::time::Duration;

use contracts::messages::OrderIntent;
use contracts::orders::QueuedOrder;
use contracts::problem::Reason;
use domain::{Event, HoldTime, Intent, Money, Order, Rejection};
use dynamo_store::{CatalogStore, EventCache, OrderStore, PartitionCache, Refused, StoreError};
use fault_points::{
    RESERVATION_DECIDED, RESERVATION_HELD, RESERVATION_READ, RESERVATION_REFUSED, RESERVATION_SENT,
    reached,
};
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use lambda_kit::batch::isolated;
use lambda_kit::clock;
use lambda_kit::http::Failure;
use queues::IntentQueue;
use redis_store::{Hold, Inventory};
use store_failures::OrFail;
use tokens::KeyRing;
use tokio::time::timeout;

use crate::admission;
use crate::answer;
use crate::handler::PlaceOrder;
use crate::verdict::{Undecided, Verdict};

/// Less than the function has (`Timeout` in the template), by what an answer takes.
pub const LONGEST: Duration = Duration::from_secs(8);

/// All that orders are placed with.
pub struct Till {
    /// Durable marks.
    pub catalog: CatalogStore,
    /// Orders and the units they own.
    pub orders: OrderStore,
    /// Who holds what.
    pub inventory: Inventory,
    /// Where intents go.
    pub intents: IntentQueue,
    /// The keys of admission tokens.
    pub keys: KeyRing,
    /// Events on sale.
    pub events: EventCache,
    /// Where units are found.
    pub partitions: PartitionCache,
    /// How long a hold lasts.
    pub hold: HoldTime,
    /// For so long a request is worked on. Then its outcome is called unknown, while
    /// there still is time to say where it can be read.
    pub longest: Duration,
}

/// What a request came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Its units are held, its intent is on its way.
    Queued(QueuedOrder),
    /// It was decided, now or before; this is what is stored.
    Decided(Order),
}

impl Till {
    /// Places an order, or finds out what became of it.
    ///
    /// # Errors
    /// When nothing was decided, or it is unknown whether.
    pub async fn place(
        &self,
        request: &PlaceOrder,
        headers: &HeaderMap,
    ) -> Result<Outcome, Failure> {
        // Whatever cuts it short, there may be a hold.
        match timeout(self.longest, isolated(self.find_or_place(request, headers))).await {
            Ok(Ok(placed)) => placed,
            Ok(Err(panicked)) => Err(Failure::outcome_unknown(panicked)),
            Err(out_of_time) => Err(Failure::outcome_unknown(out_of_time)),
        }
    }

    async fn find_or_place(
        &self,
        request: &PlaceOrder,
        headers: &HeaderMap,
    ) -> Result<Outcome, Failure> {
        let intent = &request.intent;
        // Step 3. Before the admission is looked at: a stored decision is told
        // with or without one.
        let stored = self.orders.order_fetch(&intent.customer, &intent.order).await;
        let stored = stored.or_fail()?;
        reached(RESERVATION_READ).await;
        if let Some(order) = stored {
            return told(order, intent);
        }
        let event = self.events.event_cached(&intent.event).await.or_fail()?;
        let event = event.ok_or_else(answer::unknown_event)?;
        if !event.activated {
            return Err(answer::never_on_sale(&event, clock::now()));
        }
        // Step 4.
        let session = admission::session(headers, &self.keys, intent, clock::now()).await;
        let (verdict, event) = self.reserve(request, event, session.as_ref().ok()).await?;
        match verdict {
            Verdict::Held(hold) => self.queue(request, &event, hold).await,
            Verdict::Replayed(hold) => self.queue_again(request, &event, hold).await,
            Verdict::Refused(rejection) => self.refuse(intent, &event, rejection).await,
            Verdict::Over => self.refuse(intent, &event, Rejection::HoldExpired).await,
            Verdict::Undecided(why) => Err(match (why, session) {
                (Undecided::NotAdmitted, Err(why)) => answer::not_admitted(why),
                (why, _) => answer::undecided(why, &request.body),
            }),
        }
    }

    /// Step 5: a refusal is stored where nothing is. What is stored is told.
    async fn refuse(
        &self,
        intent: &Intent,
        event: &Event,
        rejection: Rejection,
    ) -> Result<Outcome, Failure> {
        let refusal =
            Order::refusal(intent.clone(), event.epoch, rejection, event.currency, clock::now());
        reached(RESERVATION_DECIDED).await;
        let refused = self.orders.order_refuse(&refusal).await.map_err(not_refused)?;
        reached(RESERVATION_REFUSED).await;
        match refused {
            Refused::Stored => Ok(Outcome::Decided(refusal)),
            Refused::Present(order) => told(order, intent),
        }
    }

    /// A hold that was there before is sent again: nobody knows whether the first
    /// message got through, and a second one does no harm. Unless it is an order by
    /// now: whoever has read that it is pending is not told that it is queued.
    async fn queue_again(
        &self,
        request: &PlaceOrder,
        event: &Event,
        hold: Hold,
    ) -> Result<Outcome, Failure> {
        let Intent { customer, order, .. } = &request.intent;
        let stored = self.orders.order_fetch(customer, order).await;
        match stored.map_err(Failure::outcome_unknown)? {
            Some(order) => told(order, &request.intent),
            None => self.queue(request, event, hold).await,
        }
    }

    /// Step 6.
    async fn queue(
        &self,
        request: &PlaceOrder,
        event: &Event,
        hold: Hold,
    ) -> Result<Outcome, Failure> {
        let Intent { order, customer, event: event_id, fingerprint } = request.intent.clone();
        let message = OrderIntent {
            order,
            customer,
            event: event_id,
            epoch: event.epoch,
            fingerprint,
            held_at: self.held_at(&hold),
            lines: hold.lines,
            currency: event.currency,
            expires_at: hold.expires_at,
        };
        reached(RESERVATION_HELD).await;
        self.intents.send(&message).await.map_err(Failure::outcome_unknown)?;
        reached(RESERVATION_SENT).await;
        Ok(Outcome::Queued(QueuedOrder {
            id: message.order,
            event: message.event,
            total: Money { amount: Order::sum(&message.lines), currency: event.currency },
            lines: message.lines,
            expires_at: message.expires_at,
        }))
    }

    fn held_at(&self, hold: &Hold) -> Timestamp {
        let lasts = SignedDuration::try_from(self.hold.hold()).unwrap_or_default();
        hold.expires_at.saturating_sub(lasts).unwrap_or(hold.expires_at)
    }
}

/// Where another request with this key was being decided for as long as that can
/// take, nothing is decided yet; all else may have been.
fn not_refused(error: StoreError) -> Failure {
    if matches!(error, StoreError::Contended(_)) {
        return Failure::new(Reason::InProgress).caused_by(error);
    }
    Failure::outcome_unknown(error)
}

/// A stored order is the answer to its own content only.
fn told(order: Order, intent: &Intent) -> Result<Outcome, Failure> {
    if order.fingerprint.is_same_content(&intent.fingerprint) {
        Ok(Outcome::Decided(order))
    } else {
        Err(Failure::new(Reason::KeyReused))
    }
}
