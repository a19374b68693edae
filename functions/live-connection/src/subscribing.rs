//! Subscribing: first the watcher is registered, then the position is read.
//!
//! The order matters. Whoever tells all watchers reads the log first and lists
//! them after. So a watcher that a list misses was registered after that log was
//! read, and its own position, read later still, is at or past what was told:
//!
//! ```text
//! teller:   read log up to 7 ──── list watchers (not this one) ──── tell 7
//! watcher:                              register ──── read position: 7 or more
//! ```

use contracts::live::Frame;
use contracts::messages::LiveUpdate;
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{ChainStep, EventId, LogPosition, SectionId};
use dynamo_store::{MAX_EVENTS_PER_CONNECTION, StoreError, Subscribed, Subscription};
use jiff::Timestamp;
use seat_log::Heard;

use crate::handler::{LiveConnection, unavailable};
use crate::socket::RequestContext;

impl LiveConnection {
    /// Registers a watcher, begins a chain of ticks where none is, and says what
    /// the watcher doesn't have yet.
    pub(crate) async fn subscribe(
        &self,
        context: &RequestContext,
        event: &EventId,
        sections: Vec<SectionId>,
        have: Option<LogPosition>,
        now: Timestamp,
    ) -> Result<Frame, Problem> {
        demand_admission(context, event)?;
        self.demand_event(event).await?;
        self.demand_sections(event, &sections, now).await?;
        let connection = context.connection_id.clone();
        let subscription = Subscription { event: event.clone(), connection, sections };
        match self.register(context, &subscription, now).await {
            Ok(Subscribed::Stored) => {}
            Ok(Subscribed::TooMany) => return Err(too_many()),
            // It was stored a moment ago and is gone again: it was closed.
            Ok(Subscribed::NoConnection) => return Err(Problem::new(Reason::Gone)),
            Err(error) => return Err(unavailable(&error, "a subscription can't be stored")),
        }
        let first = LiveUpdate::Tick {
            event: event.clone(),
            ticker: Some(ChainStep::first(context.request_id.as_str())),
        };
        let sent = self.updates.send(&first).await;
        sent.map_err(|error| unavailable(&error, "a first tick can't be sent"))?;
        self.missing(&subscription, have, now).await
    }

    async fn demand_event(&self, event: &EventId) -> Result<(), Problem> {
        match self.events.event_cached(event).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Problem {
                errors: vec![FieldError::new("/event", Text::NoEvent)],
                ..Problem::new(Reason::NotFound)
            }),
            Err(error) => Err(unavailable(&error, "an event can't be read")),
        }
    }

    async fn demand_sections(
        &self,
        event: &EventId,
        sections: &[SectionId],
        now: Timestamp,
    ) -> Result<(), Problem> {
        let unknown = self.log.unknown_sections(event, sections, now).await;
        let unknown = unknown.map_err(|error| unavailable(&error, "a seat map can't be read"))?;
        if unknown.is_empty() {
            return Ok(());
        }
        let named = |at| FieldError::new(format!("/sections/{at}"), Text::NoSection);
        let errors = unknown.into_iter().map(named).collect();
        Err(Problem { errors, ..Problem::new(Reason::NotFound) })
    }

    /// A connection that sends messages is open, whatever became of its item:
    /// a post that failed for a moment may have removed it.
    async fn register(
        &self,
        context: &RequestContext,
        subscription: &Subscription,
        now: Timestamp,
    ) -> Result<Subscribed, StoreError> {
        match self.connections.subscription_put(subscription).await? {
            Subscribed::NoConnection => {
                self.remember(context, now).await?;
                self.connections.subscription_put(subscription).await
            }
            known @ (Subscribed::Stored | Subscribed::TooMany) => Ok(known),
        }
    }

    async fn missing(
        &self,
        subscription: &Subscription,
        have: Option<LogPosition>,
        now: Timestamp,
    ) -> Result<Frame, Problem> {
        let event = &subscription.event;
        let heard = self.log.since(event, have, now).await;
        let heard = heard.map_err(|error| unavailable(&error, "the log can't be read"))?;
        match (heard, have) {
            (Heard::Silence, Some(position)) => Ok(Frame::nothing_new(event, position)),
            (Heard::Changes(changes), _) => Ok(Frame::changes(&changes, &subscription.sections)),
            (Heard::Lost(position), _) => Ok(Frame::snapshot(event, position)),
            (Heard::NoInventory, _) | (Heard::Silence, None) => {
                self.before_the_first_sale(event, have).await
            }
        }
    }

    async fn before_the_first_sale(
        &self,
        event: &EventId,
        have: Option<LogPosition>,
    ) -> Result<Frame, Problem> {
        let now = self.log.before_the_first_sale(event).await;
        let now = now.map_err(|error| unavailable(&error, "ticket types can't be read"))?;
        Ok(if have == Some(now) {
            Frame::nothing_new(event, now)
        } else {
            Frame::snapshot(event, now)
        })
    }
}

/// A token that was made for one event opens no other one's map.
fn demand_admission(context: &RequestContext, event: &EventId) -> Result<(), Problem> {
    match context.pass() {
        Some(pass) if pass.admits_to(event) => Ok(()),
        Some(_) | None => Err(Problem {
            errors: vec![FieldError::new("/event", Text::OtherEvent)],
            ..Problem::new(Reason::Forbidden)
        }),
    }
}

fn too_many() -> Problem {
    FieldError::new("/event", Text::TooManyEvents { most: MAX_EVENTS_PER_CONNECTION }).into()
}
