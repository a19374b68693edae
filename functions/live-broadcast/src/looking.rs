//! One look at the log, under the lease: what is new is told, what was told last
//! is told again when it is time.

use contracts::seats::SeatChangesBody;
use domain::{ChainStep, EventId, LogPosition, is_recent};
use dynamo_store::{LastTold, Look, Ticker};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::Causes;
use seat_log::Heard;

use crate::chain;
use crate::handler::{Failed, LiveBroadcast};
use crate::telling::{Audience, Words};

/// When what was said last is said again: a lost last frame is healed by these.
const REPEATS: [SignedDuration; 2] = [SignedDuration::from_secs(2), SignedDuration::from_secs(10)];

/// What a look leads to.
struct Saying {
    words: Words,
    /// Up to where watchers are told then.
    position: LogPosition,
    told: LastTold,
}

impl LiveBroadcast {
    /// Looks, unless another one does. A look that fails changes nothing, and
    /// the next tick looks again: so it is logged, and not handed back.
    pub(crate) async fn look(
        &self,
        event: &EventId,
        at: &ChainStep,
        roll_call: bool,
        holder: &str,
    ) {
        if let Err(error) = self.try_look(event, at, roll_call, holder).await {
            tracing::error!(%event, error = %Causes(&error), "a look at the seats failed");
        }
    }

    async fn try_look(
        &self,
        event: &EventId,
        at: &ChainStep,
        roll_call: bool,
        holder: &str,
    ) -> Result<(), Failed> {
        let now = self.now();
        let Some(ticker) = self.take_lease(event, holder).await? else { return Ok(()) };
        let before = ticker.look.unwrap_or(Look { at: now, position: None, told: None });
        let saying = match self.something_to_say(event, &before, now).await {
            Ok(saying) => saying,
            Err(error) => {
                self.connections.ticker_release(event, holder, &before).await?;
                return Err(error);
            }
        };
        match saying {
            Some(saying) => self.say(event, at, &ticker, &before, saying, holder).await,
            None => {
                let look = Look { at: now, ..before };
                self.connections.ticker_release(event, holder, &look).await?;
                if roll_call { self.end_if_unwatched(event, at).await } else { Ok(()) }
            }
        }
    }

    async fn something_to_say(
        &self,
        event: &EventId,
        before: &Look,
        now: Timestamp,
    ) -> Result<Option<Saying>, Failed> {
        let first_said = |from| LastTold { from, at: now, repeats: 0 };
        let heard = self.log.since(event, before.position, now).await?;
        if let Some((words, position)) = words_of(event, before.position, heard) {
            return Ok(Some(Saying { words, position, told: first_said(before.position) }));
        }
        let Some(told) = before.told.filter(|told| is_repeat_due(told, now)) else {
            return Ok(None);
        };
        let heard = self.log.since(event, told.from, now).await?;
        Ok(words_of(event, told.from, heard).map(|(words, position)| {
            let is_same = Some(position) == before.position;
            // What a clock that is ahead noted counts from now on.
            let (repeats, at) = (told.repeats.saturating_add(1), told.at.min(now));
            let again = LastTold { from: told.from, at, repeats };
            Saying { words, position, told: if is_same { again } else { first_said(told.from) } }
        }))
    }

    async fn say(
        &self,
        event: &EventId,
        at: &ChainStep,
        ticker: &Ticker,
        before: &Look,
        saying: Saying,
        holder: &str,
    ) -> Result<(), Failed> {
        let now = self.now();
        let Some(audience) = self.tell(event, &saying.words, holder).await? else {
            tracing::warn!(%event, "the lease was lost while telling");
            return Ok(());
        };
        let look = look_after(before, &saying, &audience, now);
        self.connections.ticker_release(event, holder, &look).await?;
        if audience.is_empty() {
            self.connections.ticker_end(event, at).await?;
            return Ok(());
        }
        if saying.told.repeats == 0 && chain::is_too_slow(ticker.due, self.now()) {
            let faster = ChainStep::before_first(format!("{holder}/faster"));
            self.arm(event, Some(&ticker.at), &faster, 1, self.now()).await?;
        }
        Ok(())
    }

    async fn end_if_unwatched(&self, event: &EventId, at: &ChainStep) -> Result<(), Failed> {
        if self.connections.subscribers_list(event).await?.is_empty() {
            self.connections.ticker_end(event, at).await?;
        }
        Ok(())
    }
}

/// How things stand after telling. Where nobody heard it, it was not said: the
/// next look says it again. Who alone did not hear it sees the gap at the next
/// frame, or is healed by a repeat.
fn look_after(before: &Look, saying: &Saying, audience: &Audience, now: Timestamp) -> Look {
    if audience.sent == 0 {
        return Look { at: now, ..*before };
    }
    Look { at: now, position: Some(saying.position), told: Some(saying.told) }
}

/// What was heard after a position (none: nobody was ever told anything), in words.
fn words_of(
    event: &EventId,
    after: Option<LogPosition>,
    heard: Heard,
) -> Option<(Words, LogPosition)> {
    match heard {
        Heard::Silence | Heard::NoInventory => None,
        Heard::Changes(changes) => {
            let position = LogPosition { epoch: changes.epoch, sequence: changes.to };
            Some((Words::Changes(changes), position))
        }
        // Each watcher was answered at its own position when it subscribed. Most have
        // all there is, and need not fetch it again; the others see the gap.
        Heard::Lost(position) if after.is_none() => {
            Some((Words::Changes(SeatChangesBody::none(event, position)), position))
        }
        Heard::Lost(position) => Some((Words::Snapshot(position), position)),
    }
}

fn is_repeat_due(told: &LastTold, now: Timestamp) -> bool {
    let due = REPEATS.get(usize::from(told.repeats));
    due.is_some_and(|after| !is_recent(told.at, now, *after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_repeated_after_2_and_after_10_seconds() {
        let at = Timestamp::UNIX_EPOCH;
        let due = |repeats, seconds| {
            let told = LastTold { from: None, at, repeats };
            is_repeat_due(&told, at + SignedDuration::from_secs(seconds))
        };
        assert!(!due(0, 1) && due(0, 2) && due(0, 11));
        assert!(!due(1, 9) && due(1, 10));
        assert!(!due(2, 1_000));
        assert!(!due(0, -1) && due(0, -300), "told by a clock that is minutes ahead");
    }
}
