//! The waiting room of an event.

use std::sync::LazyLock;

use domain::{CustomerKey, EventId, Place, PlaceState, QueueSettings, SessionId};
use jiff::Timestamp;
use redis::{Script, ScriptInvocation};

use crate::client::Redis;
use crate::error::RedisStoreError;
use crate::keys;
use crate::types::{LineSettings, LineStatus, Written};

/// What asking to enter led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// In: now, or since an earlier time.
    Entered {
        /// The session.
        session: SessionId,
        /// The fan's number.
        number: u32,
        /// The line it is a number of.
        generation: u64,
        /// When the token to be given expires.
        token_expires_at: Timestamp,
        /// When the session ends, renewals included.
        session_ends_at: Timestamp,
    },
    /// Not called yet.
    NotYet(Place),
    /// Was called and did not come. It is called again by this very asking, twice
    /// at most; then it stands at the end of the line, under a new number.
    Missed(Place),
    /// The place has ended: join again.
    Ended,
    /// The customer has no place.
    NoPlace,
    /// There is no line.
    NoLine,
}

/// What asking for a place led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joining {
    /// The customer has this place.
    Place {
        /// It.
        place: Place,
        /// Whether it is given just now.
        is_new: bool,
    },
    /// Nothing yet: the customer's last session ran out a moment ago. End it at the
    /// till until then, then join with it.
    Session {
        /// The session.
        id: SessionId,
        /// No token of it lives longer.
        until: Timestamp,
    },
    /// There is no line.
    NoLine,
}

/// What giving up a place led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaving {
    /// Nothing yet: end this session at the till until then, then leave with it.
    Session {
        /// The session.
        id: SessionId,
        /// No token of it lives longer.
        until: Timestamp,
    },
    /// The place is given up.
    Left,
    /// The customer has no place, or it has ended.
    NoPlace,
    /// There is no line.
    NoLine,
}

macro_rules! script {
    ($file:literal) => {
        LazyLock::new(|| {
            Script::new(concat!(
                include_str!("waiting_room/prelude.lua"),
                include_str!(concat!("waiting_room/", $file, ".lua"))
            ))
        })
    };
}

static CONFIGURE: LazyLock<Script> = script!("configure");
static JOIN: LazyLock<Script> = script!("join");
static PLACE: LazyLock<Script> = script!("place");
static ENTER: LazyLock<Script> = script!("enter");
static LEAVE: LazyLock<Script> = script!("leave");
static STATUS: LazyLock<Script> = script!("status");

/// The waiting rooms on a Redis.
#[derive(Debug, Clone)]
pub struct WaitingRoom {
    redis: Redis,
}

/// Generation, number, state, until, ahead.
type PlaceReply = (u64, u32, String, i64, u32);

impl WaitingRoom {
    /// On that Redis.
    #[must_use]
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Begins a line where there is none; sets how the line that is there works,
    /// where the version is newer. That line keeps its generation and its places.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn configure(
        &self,
        event: &EventId,
        line: &LineSettings,
    ) -> Result<Written, RedisStoreError> {
        let settings = &line.settings;
        let mut script = on_line(&CONFIGURE, event);
        script.arg(line.version).arg(line.generation).arg(settings.cap);
        for seconds in [settings.grace_seconds, settings.session_seconds, settings.token_seconds] {
            script.arg(u64::from(seconds) * 1_000);
        }
        match self.redis.run("configure", &script).await? {
            1 => Ok(Written::Applied),
            0 => Ok(Written::Ignored),
            _ => Err(RedisStoreError::UnexpectedReply { script: "configure" }),
        }
    }

    /// The customer's place, a new one where there is none or it has ended. One
    /// whose session ran out a moment ago joins in two steps, as one leaves.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn join(
        &self,
        event: &EventId,
        customer: &CustomerKey,
        ended: Option<(&SessionId, Timestamp)>,
    ) -> Result<Joining, RedisStoreError> {
        const NAME: &str = "join";
        let script = join_call(event, customer, ended);
        let (word, rest) = split(NAME, self.redis.run(NAME, &script).await?)?;
        match word.as_str() {
            "place" => {
                let (place, is_new) = read(NAME, redis::Value::Array(rest))?;
                Ok(Joining::Place { place: read_place(NAME, place)?, is_new })
            }
            "session" => {
                let (id, until) = read_session(NAME, rest)?;
                Ok(Joining::Session { id, until })
            }
            "no_line" => Ok(Joining::NoLine),
            _ => Err(RedisStoreError::UnexpectedReply { script: NAME }),
        }
    }

    /// The customer's place; the outer none: no line.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn place(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<Option<Option<Place>>, RedisStoreError> {
        let script = of_customer(&PLACE, event, customer);
        let reply: Option<Vec<redis::Value>> = self.redis.run("place", &script).await?;
        let read_one = |reply: Vec<redis::Value>| match reply.is_empty() {
            true => Ok(None),
            false => read_place("place", read("place", redis::Value::Array(reply))?).map(Some),
        };
        reply.map(read_one).transpose()
    }

    /// Enters, or renews the session.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn enter(
        &self,
        event: &EventId,
        customer: &CustomerKey,
    ) -> Result<Entry, RedisStoreError> {
        const NAME: &str = "enter";
        let script = of_customer(&ENTER, event, customer);
        let (word, mut rest) = split(NAME, self.redis.run(NAME, &script).await?)?;
        match word.as_str() {
            "entered" => {
                let (number, generation, token, session_end) =
                    read(NAME, redis::Value::Array(rest))?;
                Ok(Entry::Entered {
                    session: session_id(NAME, generation, number)?,
                    number,
                    generation,
                    token_expires_at: instant(NAME, token)?,
                    session_ends_at: instant(NAME, session_end)?,
                })
            }
            "waiting" => Ok(Entry::NotYet(place_of(NAME, &mut rest)?)),
            "missed" => Ok(Entry::Missed(place_of(NAME, &mut rest)?)),
            "ended" => Ok(Entry::Ended),
            "no_place" => Ok(Entry::NoPlace),
            "no_line" => Ok(Entry::NoLine),
            _ => Err(RedisStoreError::UnexpectedReply { script: NAME }),
        }
    }

    /// Gives up the place. One who is in leaves in two steps: first without a
    /// session, then, after it was ended at the till, with the one that was named
    /// and until when it was ended. A renewal in between asks for that step again.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn leave(
        &self,
        event: &EventId,
        customer: &CustomerKey,
        ended: Option<(&SessionId, Timestamp)>,
    ) -> Result<Leaving, RedisStoreError> {
        const NAME: &str = "leave";
        let script = with_ended(&LEAVE, event, customer, ended);
        let (word, rest) = split(NAME, self.redis.run(NAME, &script).await?)?;
        match word.as_str() {
            "session" => {
                let (id, until) = read_session(NAME, rest)?;
                Ok(Leaving::Session { id, until })
            }
            "left" => Ok(Leaving::Left),
            "no_place" => Ok(Leaving::NoPlace),
            "no_line" => Ok(Leaving::NoLine),
            _ => Err(RedisStoreError::UnexpectedReply { script: NAME }),
        }
    }

    /// The public state of the line; none without one.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn status(&self, event: &EventId) -> Result<Option<LineStatus>, RedisStoreError> {
        let script = on_line(&STATUS, event);
        let reply: Option<Vec<u64>> = self.redis.run("status", &script).await?;
        let Some(reply) = reply else { return Ok(None) };
        let unexpected = || RedisStoreError::UnexpectedReply { script: "status" };
        let [
            generation,
            serving,
            issued,
            active,
            called,
            waiting,
            version,
            cap,
            grace,
            session,
            token,
        ] = reply[..]
        else {
            return Err(unexpected());
        };
        let narrow = |number: u64| u32::try_from(number).map_err(|_| unexpected());
        Ok(Some(LineStatus {
            generation,
            serving: narrow(serving)?,
            issued: narrow(issued)?,
            active: narrow(active)?,
            called: narrow(called)?,
            waiting: narrow(waiting)?,
            version,
            settings: QueueSettings {
                cap: narrow(cap)?,
                grace_seconds: narrow(grace / 1_000)?,
                session_seconds: narrow(session / 1_000)?,
                token_seconds: narrow(token / 1_000)?,
            },
        }))
    }
}

fn on_line<'a>(script: &'a Script, event: &EventId) -> ScriptInvocation<'a> {
    let mut invocation = script.prepare_invoke();
    for key in keys::line(event) {
        invocation.key(key);
    }
    invocation
}

/// The call of the script that joins.
pub(crate) fn join_call(
    event: &EventId,
    customer: &CustomerKey,
    ended: Option<(&SessionId, Timestamp)>,
) -> ScriptInvocation<'static> {
    with_ended(&JOIN, event, customer, ended)
}

/// The call of a script that can give a session's slot on, after that session was
/// ended at the till until then.
fn with_ended<'a>(
    script: &'a Script,
    event: &EventId,
    customer: &CustomerKey,
    ended: Option<(&SessionId, Timestamp)>,
) -> ScriptInvocation<'a> {
    let (number, until) = match ended {
        Some((id, until)) => (id.as_str().split_once('-').map_or("0", |(_, n)| n), until),
        None => ("0", Timestamp::UNIX_EPOCH),
    };
    let mut call = of_customer(script, event, customer);
    call.arg(number).arg(until.as_millisecond());
    call
}

fn of_customer<'a>(
    script: &'a Script,
    event: &EventId,
    customer: &CustomerKey,
) -> ScriptInvocation<'a> {
    let mut invocation = on_line(script, event);
    invocation.arg(&customer.0[..]);
    invocation
}

fn read<T: redis::FromRedisValue>(
    script: &'static str,
    value: redis::Value,
) -> Result<T, RedisStoreError> {
    T::from_redis_value(value).map_err(|_| RedisStoreError::UnexpectedReply { script })
}

/// The word that a reply begins with, and the rest.
fn split(
    script: &'static str,
    mut reply: Vec<redis::Value>,
) -> Result<(String, Vec<redis::Value>), RedisStoreError> {
    if reply.is_empty() {
        return Err(RedisStoreError::UnexpectedReply { script });
    }
    let rest = reply.split_off(1);
    let word = reply.pop().unwrap_or(redis::Value::Nil);
    Ok((read(script, word)?, rest))
}

fn place_of(script: &'static str, rest: &mut Vec<redis::Value>) -> Result<Place, RedisStoreError> {
    let reply = rest.pop().unwrap_or(redis::Value::Nil);
    read_place(script, read(script, reply)?)
}

fn read_place(script: &'static str, reply: PlaceReply) -> Result<Place, RedisStoreError> {
    let (generation, number, state, until, ahead) = reply;
    let until = || instant(script, until);
    let state = match state.as_str() {
        "waiting" => PlaceState::Waiting,
        "called" => PlaceState::Called { until: until()? },
        "active" => PlaceState::Active { until: until()? },
        "missed" => PlaceState::Missed,
        "ended" => PlaceState::Ended,
        _ => return Err(RedisStoreError::UnexpectedReply { script }),
    };
    Ok(Place { generation, number, state, ahead })
}

fn instant(script: &'static str, milliseconds: i64) -> Result<Timestamp, RedisStoreError> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|_| RedisStoreError::UnexpectedReply { script })
}

/// A session that is to be ended, and until when.
fn read_session(
    script: &'static str,
    rest: Vec<redis::Value>,
) -> Result<(SessionId, Timestamp), RedisStoreError> {
    let (number, generation, until) = read(script, redis::Value::Array(rest))?;
    Ok((session_id(script, generation, number)?, instant(script, until)?))
}

/// A session is one admission of one place: the line and the number name it.
fn session_id(
    script: &'static str,
    generation: u64,
    number: u32,
) -> Result<SessionId, RedisStoreError> {
    SessionId::parse(&format!("{generation}-{number}"))
        .map_err(|_| RedisStoreError::UnexpectedReply { script })
}
