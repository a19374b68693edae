//! The chain of ticks: who ticks next, and when. Pure.
//!
//! Every tick first sends the next one and then does its work, so a crash in
//! the work leaves the chain alive:
//!
//! ```text
//! tick n ──▶ send n+1 (delayed) ──▶ record "n begun" ──▶ look at the log
//!               crash here: n+1 counts, as it is above what is recorded
//! ```
//!
//! A tick delivered twice is known by its number. Two deliveries at the same
//! instant both send a next tick; of those two the later one is dropped.

use domain::{ChainStep, is_recent};
use dynamo_store::Ticker;
use jiff::{SignedDuration, Timestamp};

/// How late a tick may be before its chain is taken for dead: the queue's own
/// delay, and a retry or two.
const PATIENCE: SignedDuration = SignedDuration::from_secs(5);
/// Nudges that come faster than this are one.
const NUDGE_PAUSE: SignedDuration = SignedDuration::from_millis(400);
/// While seats turn, an event is looked at each second; in silence, the longer
/// the rarer, down to this.
const LONGEST_PAUSE_SECONDS: i64 = 5;
/// So many seconds of silence make the pause a second longer. The last tick is
/// repeated within the first ten.
const SILENCE_PER_SECOND: i64 = 15;
/// Every so many ticks the chain asks whether anybody still watches.
const TICKS_PER_ROLL_CALL: u64 = 8;

/// What to do about a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing: it came before, another chain ticks, or nobody watches.
    Drop,
    /// Look at the log; the chain goes on by itself.
    Look,
    /// Send the next tick, then look.
    Continue,
    /// The same, where anybody watches: the chain had ended or never began.
    ContinueIfWatched,
    /// A nudge found the chain dead: begin a new one, then look.
    Revive,
}

/// What to do about a tick (`step`) or a nudge (none).
pub(crate) fn plan(ticker: Option<&Ticker>, step: Option<&ChainStep>, now: Timestamp) -> Plan {
    match (ticker, step) {
        (None, None) => Plan::Drop,
        (None, Some(step)) => plan_ended(step),
        (Some(ticker), None) => plan_nudge(ticker, now),
        (Some(ticker), Some(step)) => plan_step(ticker, step, now),
    }
}

fn plan_nudge(ticker: &Ticker, now: Timestamp) -> Plan {
    let just_looked = |at| is_recent(at, now, NUDGE_PAUSE);
    match ticker.due {
        // Whoever subscribes begins a chain; a nudge alone means nobody watches.
        None => Plan::Drop,
        Some(due) if is_dead(due, now) => Plan::Revive,
        Some(_) if ticker.look.is_some_and(|look| just_looked(look.at)) => Plan::Drop,
        Some(_) => Plan::Look,
    }
}

fn plan_step(ticker: &Ticker, step: &ChainStep, now: Timestamp) -> Plan {
    let own = step.chain == ticker.at.chain;
    match ticker.due {
        _ if own && step.step <= ticker.at.step => Plan::Drop,
        None => plan_ended(step),
        Some(due) if own || is_dead(due, now) => Plan::Continue,
        Some(_) => Plan::Drop,
    }
}

/// A first tick comes from someone who just subscribed, whom a list of watchers
/// may not show yet. A later one was on its way when its chain ended: it asks
/// once more, for whoever subscribed at that very moment.
fn plan_ended(step: &ChainStep) -> Plan {
    if step.step == 1 { Plan::Continue } else { Plan::ContinueIfWatched }
}

/// No tick is due later than the longest pause: one that is was noted by a clock
/// that is ahead, and says nothing of whether its chain lives. If it does, the new
/// one takes its place.
fn is_dead(due: Timestamp, now: Timestamp) -> bool {
    let longest = SignedDuration::from_secs(LONGEST_PAUSE_SECONDS);
    now.duration_since(due) > PATIENCE || due.duration_since(now) > longest + PATIENCE
}

/// How long until the tick after `at`, in seconds, when something was last said
/// then. A chain begins fast: somebody came, or something happened.
pub(crate) fn pause(at: &ChainStep, last_said: Option<Timestamp>, now: Timestamp) -> u32 {
    if at.step <= 1 {
        return 1;
    }
    let silence = last_said.map_or(i64::MAX, |at| now.duration_since(at).as_secs());
    let pause = (silence / SILENCE_PER_SECOND).clamp(1, LONGEST_PAUSE_SECONDS);
    u32::try_from(pause).unwrap_or(1)
}

/// Whether a chain that said something should tick sooner than it is due.
pub(crate) fn is_too_slow(due: Option<Timestamp>, now: Timestamp) -> bool {
    due.is_some_and(|due| due.duration_since(now) > SignedDuration::from_secs(1))
}

/// Whether a tick with nothing to say asks if anybody still watches.
pub(crate) fn is_roll_call(step: &ChainStep) -> bool {
    step.step.is_multiple_of(TICKS_PER_ROLL_CALL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynamo_store::Look;

    const CHAIN: &str = "c";

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(milliseconds).unwrap()
    }

    fn step(chain: &str, step: u64) -> ChainStep {
        ChainStep { chain: chain.to_owned(), step }
    }

    fn ticker(due: Option<i64>) -> Ticker {
        Ticker {
            at: step(CHAIN, 7),
            due: due.map(at),
            look: Some(Look { at: at(9_000), position: None, told: None }),
        }
    }

    #[test]
    fn a_living_chain_goes_on_with_its_next_tick_only() {
        let living = ticker(Some(10_000));
        let plan = |s: &ChainStep| plan(Some(&living), Some(s), at(10_000));
        assert_eq!(plan(&step(CHAIN, 8)), Plan::Continue);
        assert_eq!(plan(&step(CHAIN, 9)), Plan::Continue, "its record was lost in a crash");
        assert_eq!(plan(&step(CHAIN, 7)), Plan::Drop, "delivered twice");
        assert_eq!(plan(&step("other", 8)), Plan::Drop, "one chain is enough");
        assert_eq!(plan(&step("other", 1)), Plan::Drop);
    }

    #[test]
    fn a_chain_that_is_late_is_replaced() {
        let late = ticker(Some(10_000));
        let plan = |s: Option<&ChainStep>, now| plan(Some(&late), s, at(now));
        assert_eq!(plan(None, 15_000), Plan::Look);
        assert_eq!(plan(None, 15_001), Plan::Revive);
        assert_eq!(plan(Some(&step("other", 1)), 15_001), Plan::Continue);
        assert_eq!(plan(Some(&step(CHAIN, 8)), 15_001), Plan::Continue, "late, but not lost");
    }

    #[test]
    fn a_chain_that_is_due_later_than_any_tick_can_be_is_replaced() {
        let plan = |due, s: Option<&ChainStep>| plan(Some(&ticker(Some(due))), s, at(0));
        assert_eq!(plan(10_000, None), Plan::Look, "clocks may differ a little");
        assert_eq!(plan(10_000, Some(&step("other", 1))), Plan::Drop);
        assert_eq!(plan(10_001, None), Plan::Revive);
        assert_eq!(plan(10_001, Some(&step("other", 1))), Plan::Continue);
    }

    #[test]
    fn an_ended_chain_begins_again_for_watchers_only() {
        let ended = ticker(None);
        let plan = |s: Option<&ChainStep>| plan(Some(&ended), s, at(10_000));
        assert_eq!(plan(None), Plan::Drop, "an order of an event nobody watches");
        assert_eq!(plan(Some(&step("other", 1))), Plan::Continue, "someone subscribed");
        assert_eq!(
            plan(Some(&step(CHAIN, 8))),
            Plan::ContinueIfWatched,
            "the tick that was on its way when the chain ended looks once more"
        );
        assert_eq!(plan(Some(&step(CHAIN, 7))), Plan::Drop);
    }

    #[test]
    fn an_event_never_watched_begins_with_its_first_subscriber() {
        assert_eq!(plan(None, None, at(0)), Plan::Drop);
        assert_eq!(plan(None, Some(&step("c", 1)), at(0)), Plan::Continue);
        assert_eq!(plan(None, Some(&step("c", 2)), at(0)), Plan::ContinueIfWatched);
    }

    #[test]
    fn nudges_look_at_most_every_400_ms() {
        let living = ticker(Some(10_000));
        let plan = |now| plan(Some(&living), None, at(now));
        assert_eq!(plan(9_399), Plan::Drop);
        assert_eq!(plan(9_400), Plan::Look);
        assert_eq!(plan(8_600), Plan::Look, "that look was noted by a clock that is ahead");
    }

    #[test]
    fn ticks_slow_down_in_silence() {
        let later = |silence: i64| pause(&step(CHAIN, 2), Some(at(0)), at(silence * 1_000));
        assert_eq!([0, 10, 29, 30, 45, 74, 75, 86_400].map(later), [1, 1, 1, 2, 3, 4, 5, 5]);
        assert_eq!(pause(&step(CHAIN, 2), None, at(0)), 5);
        assert_eq!(pause(&step(CHAIN, 1), None, at(0)), 1);
        assert!(is_too_slow(Some(at(3_000)), at(0)));
        assert!(!is_too_slow(Some(at(1_000)), at(0)) && !is_too_slow(None, at(0)));
    }
}
