//! The ticker of an event: pk `ticker#<event>`, sk `ticker`. One item for each
//! event that was ever watched, with two things that never touch each other:
//! the *chain* of delayed messages that ticks for the event (its last tick that
//! was begun, when the next is due), and the *lease* of whoever looks at the
//! log right now (so that two never tell at once), with how far all were told.

use domain::{ChainStep, EventId, LogPosition};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ConnectionStore;
use crate::StoreError;
use crate::table::{Change, Guard, Item, Key, Written, decode, encode};

/// No chain ever ticked for this event.
const HAS_NO_CHAIN: &str = "attribute_not_exists(#chain)";
/// Nobody began another tick since.
const IS_AT: &str = "#chain = :chain_seen AND #step = :step_seen";
/// The lease is free, has run out, or is the caller's own. It has run out, too,
/// where it would last longer than the caller's twice over: its holder's clock is
/// ahead, and if the holder has died, nobody could look until ours caught up.
const IS_FREE: &str = "attribute_exists(#chain) AND (attribute_not_exists(#held_until) \
                       OR #held_until < :now OR #held_until > :furthest \
                       OR #holder = :holder)";
/// The lease is still the caller's.
const IS_HELD: &str = "#holder = :holder";

/// How the ticks of an event stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticker {
    /// The last tick that was begun of the chain that counts. It stays when the
    /// chain ends, so that a late tick of it is known as such.
    pub at: ChainStep,
    /// When the next tick is due; none: the chain ended, as nobody watched.
    pub due: Option<Timestamp>,
    /// What came of the last look at the log; none: nobody ever looked.
    pub look: Option<Look>,
}

/// What came of a look at the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// When it began.
    pub at: Timestamp,
    /// Up to where all watchers were told; none: they never were.
    pub position: Option<LogPosition>,
    /// What was last said.
    pub told: Option<LastTold>,
}

/// What was last said to an event's watchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastTold {
    /// The position it began at; none: nobody had been told anything before.
    pub from: Option<LogPosition>,
    /// When it was first said.
    pub at: Timestamp,
    /// How often it was said again.
    pub repeats: u8,
}

#[derive(Debug, Serialize, Deserialize)]
struct ChainRecord {
    chain: String,
    step: u64,
    due: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct LookRecord {
    looked_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<LogPosition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<ToldRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ToldRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<LogPosition>,
    at: i64,
    repeats: u8,
}

impl ConnectionStore {
    /// The ticker; consistent. None: the event was never watched.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn ticker_fetch(&self, event: &EventId) -> Result<Option<Ticker>, StoreError> {
        let item = self.table.get(&key(event), true).await?;
        item.map(ticker_of).transpose()
    }

    /// Records that tick `at` was begun and when the next is due, where nobody
    /// began another since `seen` was read (none: where there was no ticker).
    /// Repeating it is true again.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn ticker_arm(
        &self,
        event: &EventId,
        seen: Option<&ChainStep>,
        at: &ChainStep,
        due: Timestamp,
    ) -> Result<bool, StoreError> {
        let record =
            ChainRecord { chain: at.chain.clone(), step: at.step, due: Some(due.as_millisecond()) };
        let guard = seen.map_or(Guard::new(HAS_NO_CHAIN), is_at);
        match self.table.update_if(&key(event), &Change::set(encode(&record)?), &guard).await? {
            Written::Done(_) => Ok(true),
            Written::Refused(Some(present)) => Ok(ticker_of(present)?.at == *at),
            Written::Refused(None) => Ok(false),
        }
    }

    /// Ends the chain where `at` is still its last tick. How far all were told stays.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn ticker_end(&self, event: &EventId, at: &ChainStep) -> Result<bool, StoreError> {
        let change = Change::new("REMOVE #due");
        let written = self.table.update_if(&key(event), &change, &is_at(at)).await?;
        Ok(matches!(written, Written::Done(_)))
    }

    /// Takes the lease until then, or extends it; none: another one looks at the
    /// log, or there is no ticker.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn ticker_claim(
        &self,
        event: &EventId,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Ticker>, StoreError> {
        let change = Change::new("SET #holder = :holder, #held_until = :until")
            .value(":until", until.as_millisecond());
        let furthest = until + until.duration_since(now);
        let guard = Guard::new(IS_FREE)
            .value(":holder", holder)
            .value(":now", now.as_millisecond())
            .value(":furthest", furthest.as_millisecond());
        match self.table.update_if(&key(event), &change, &guard).await? {
            Written::Done(item) => ticker_of(item).map(Some),
            Written::Refused(_) => Ok(None),
        }
    }

    /// Gives the lease back with what came of the look; false: it had run out
    /// and another one has it.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe, and without it the lease runs out.
    pub async fn ticker_release(
        &self,
        event: &EventId,
        holder: &str,
        look: &Look,
    ) -> Result<bool, StoreError> {
        let change = Change::set(encode(&look_record(look))?).and(" REMOVE #holder, #held_until");
        let guard = Guard::new(IS_HELD).value(":holder", holder);
        let written = self.table.update_if(&key(event), &change, &guard).await?;
        Ok(matches!(written, Written::Done(_)))
    }
}

fn key(event: &EventId) -> Key {
    Key::new(format!("ticker#{event}"), "ticker")
}

fn is_at(at: &ChainStep) -> Guard {
    Guard::new(IS_AT).value(":chain_seen", at.chain.as_str()).value(":step_seen", at.step)
}

fn ticker_of(item: Item) -> Result<Ticker, StoreError> {
    let chain: ChainRecord = decode("ticker", item.clone())?;
    let look: Option<LookRecord> = match item.contains_key("looked_at") {
        true => Some(decode("ticker", item)?),
        false => None,
    };
    Ok(Ticker {
        at: ChainStep { chain: chain.chain, step: chain.step },
        due: chain.due.map(instant).transpose()?,
        look: look.map(look_of).transpose()?,
    })
}

fn look_of(record: LookRecord) -> Result<Look, StoreError> {
    let told = |told: ToldRecord| {
        Ok(LastTold { from: told.from, at: instant(told.at)?, repeats: told.repeats })
    };
    Ok(Look {
        at: instant(record.looked_at)?,
        position: record.position,
        told: record.told.map(told).transpose()?,
    })
}

fn look_record(look: &Look) -> LookRecord {
    LookRecord {
        looked_at: look.at.as_millisecond(),
        position: look.position,
        told: look.told.map(|told| ToldRecord {
            from: told.from,
            at: told.at.as_millisecond(),
            repeats: told.repeats,
        }),
    }
}

fn instant(millisecond: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(millisecond).map_err(|source| StoreError::corrupt("ticker", source))
}
