//! Keeps an event's chain of ticks going, and no more than one.

use contracts::messages::LiveUpdate;
use domain::{ChainStep, EventId};
use dynamo_store::Ticker;
use jiff::{SignedDuration, Timestamp};

use crate::chain::{self, Plan, plan};
use crate::handler::{Failed, LiveBroadcast};

impl LiveBroadcast {
    /// A tick of a chain, or a nudge (no step).
    pub(crate) async fn tick(
        &self,
        event: &EventId,
        step: Option<&ChainStep>,
        holder: &str,
    ) -> Result<(), Failed> {
        let now = self.now();
        let ticker = self.connections.ticker_fetch(event).await?;
        let at = match (plan(ticker.as_ref(), step, now), step, &ticker) {
            (Plan::Look, _, Some(ticker)) => ticker.at.clone(),
            (Plan::Continue, Some(step), _) => step.clone(),
            (Plan::ContinueIfWatched, Some(step), _) if self.is_watched(event).await? => {
                step.clone()
            }
            (Plan::Revive, _, _) => ChainStep::before_first(holder),
            _ => return Ok(()),
        };
        let goes_on = ticker.as_ref().is_some_and(|ticker| ticker.at == at);
        if !goes_on && !self.begin(event, ticker.as_ref(), &at, now).await? {
            return Ok(());
        }
        let is_tick = step == Some(&at);
        self.look(event, &at, is_tick && chain::is_roll_call(&at), holder).await;
        Ok(())
    }

    /// Sends the tick after `at`, then records `at`; false: another chain, or the
    /// same tick elsewhere, was faster.
    async fn begin(
        &self,
        event: &EventId,
        ticker: Option<&Ticker>,
        at: &ChainStep,
        now: Timestamp,
    ) -> Result<bool, Failed> {
        let told = ticker.and_then(|ticker| ticker.look?.told);
        let pause = chain::pause(at, told.map(|told| told.at), now);
        self.arm(event, ticker.map(|ticker| &ticker.at), at, pause, now).await
    }

    pub(crate) async fn arm(
        &self,
        event: &EventId,
        seen: Option<&ChainStep>,
        at: &ChainStep,
        pause: u32,
        now: Timestamp,
    ) -> Result<bool, Failed> {
        let next = LiveUpdate::Tick { event: event.clone(), ticker: Some(at.next()) };
        self.updates.send_delayed(&next, pause).await?;
        let due = now + SignedDuration::from_secs(pause.into());
        Ok(self.connections.ticker_arm(event, seen, at, due).await?)
    }

    async fn is_watched(&self, event: &EventId) -> Result<bool, Failed> {
        Ok(!self.connections.subscribers_list(event).await?.is_empty())
    }
}
