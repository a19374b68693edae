//! Holding units.

use std::sync::LazyLock;

use domain::{Line, OrderLine, UnitId, Wanted};
use fault_points::{REDIS_RESERVED, reached};
use jiff::Timestamp;
use redis::{Script, ScriptInvocation, Value};

use super::{Inventory, on, script};
use crate::error::RedisStoreError;
use crate::packed::Packed;
use crate::reply::Reply;
use crate::types::{Hold, Mode, Reservation, Reserve, Session};

static SCRIPT: LazyLock<Script> =
    script!("reserve_fast.lua", "prelude.lua", "shortage.lua", "reserve.lua");
const NAME: &str = "reserve";

/// Marks a line's count as one of seats.
const SEATS: u64 = 0x80;

impl Inventory {
    /// Holds units, all or none.
    ///
    /// # Errors
    /// When Redis can't be reached or replies with something unknown.
    pub async fn reserve(&self, reserve: &Reserve) -> Result<Reservation, RedisStoreError> {
        let call = call_of(reserve)?;
        let value: Value = self.redis.run(NAME, &call).await?;
        reached(REDIS_RESERVED).await;
        if let Value::BulkString(packed) = &value {
            return fast(reserve, packed).ok_or(RedisStoreError::UnexpectedReply { script: NAME });
        }
        reservation(Reply::new(NAME, value)?)
    }
}

/// The call of the script for a wish.
pub(crate) fn call_of(reserve: &Reserve) -> Result<ScriptInvocation<'static>, RedisStoreError> {
    let mut call = on(&SCRIPT, &reserve.event, reserve.epoch);
    call.arg(wish(reserve)?);
    for line in reserve.lines.iter() {
        call.arg(format!("/{}/", line.ticket_type));
        if let Wanted::Seats(seats) = &line.wanted {
            for seat in seats {
                call.arg(seat.as_str());
            }
        }
    }
    Ok(call)
}

fn wish(reserve: &Reserve) -> Result<Vec<u8>, RedisStoreError> {
    let session = reserve.session.as_ref().filter(|_| reserve.mode == Mode::Buy);
    let mode = match reserve.mode {
        Mode::Buy => b'B',
        Mode::ReplayOnly => b'R',
        Mode::Withdraw => b'W',
    };
    let packed = Packed::default()
        .number("epoch", 7, reserve.epoch.0)
        .instant("session", session.map(|session| session.expires_at))
        .number("quantity", 1, fast_quantity(reserve.lines.as_slice()))
        .bytes(&[mode])
        .bytes(&reserve.customer.0)
        .bytes(reserve.order.as_bytes())
        .bytes(&reserve.fingerprint.short())
        .number("hold", 4, u64::try_from(reserve.hold.as_millis()).unwrap_or(u64::MAX))
        .bytes(&session.map_or([0; 16], |Session { id, .. }| id.short()));
    let counted = reserve.lines.iter().fold(packed, |packed, line| {
        let seats = if matches!(line.wanted, Wanted::Seats(_)) { SEATS } else { 0 };
        packed.number("count", 1, line.count() as u64 | seats)
    });
    counted.finish()
}

/// The quantity, where there is but one line of general admission.
fn fast_quantity(lines: &[Line]) -> u64 {
    match lines {
        [Line { wanted: Wanted::Quantity(quantity), .. }] => u64::from(*quantity),
        _ => 0,
    }
}

/// The reply of `reserve_fast.lua`: sold out, or expiry (6), type index (1),
/// amount (4), version (4), count (1) and the serials (3 each).
fn fast(reserve: &Reserve, packed: &[u8]) -> Option<Reservation> {
    if packed == b"S" {
        return Some(Reservation::SoldOut { line: 0 });
    }
    let (expiry, line) = packed.split_at_checked(6)?;
    let (line, serials) = line.split_at_checked(10)?;
    let (serials, []) = serials.as_chunks::<3>() else { return None };
    let number = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let serial = |[high, middle, low]: &[u8; 3]| {
        UnitId::Serial(u32::from_be_bytes([0, *high, *middle, *low]))
    };
    let lines = vec![OrderLine {
        ticket_type: reserve.lines.as_slice().first()?.ticket_type.clone(),
        unit_amount: i64::try_from(number(&line[1..5])).ok()?,
        price_version: number(&line[5..9]),
        units: serials.iter().map(serial).collect(),
    }];
    let expires_at = i64::try_from(number(expiry)).ok().map(Timestamp::from_millisecond)?.ok()?;
    Some(Reservation::Held(Hold { lines, expires_at }))
}

pub(super) fn reservation(mut reply: Reply) -> Result<Reservation, RedisStoreError> {
    Ok(match reply.next::<String>()?.as_str() {
        "held" => Reservation::Held(hold(&mut reply)?),
        "replayed" => Reservation::Replayed(hold(&mut reply)?),
        "mismatch" => Reservation::Mismatch,
        "lapsed" => Reservation::Lapsed,
        "ended" => Reservation::Ended,
        "not_found" => Reservation::NotFound,
        "unavailable" => Reservation::Unavailable,
        "stale_epoch" => Reservation::StaleEpoch { active: reply.epoch()? },
        "not_open" => Reservation::NotOpen { opens_at: reply.instant()? },
        "closed" => Reservation::Closed,
        "paused" => Reservation::Paused,
        "session_ended" => Reservation::SessionEnded,
        "over_limit" => {
            let (name, limit): (String, _) = (reply.next()?, reply.next()?);
            let ticket_type = match name.as_str() {
                "" => None,
                name => Some(domain::TicketTypeId::parse(name).map_err(|_| reply.unexpected())?),
            };
            Reservation::OverLimit { ticket_type, limit }
        }
        "too_many_orders" => Reservation::TooManyOrders,
        "again" => Reservation::Again,
        "overdue" => {
            Reservation::Overdue(reply.rest(|reply| Ok((reply.customer()?, reply.order()?)))?)
        }
        "grant_needed" => Reservation::GrantNeeded {
            ticket_type: reply.ticket_type()?,
            mark: reply.next()?,
            ceiling: reply.next()?,
        },
        "recovering" => Reservation::Recovering,
        "sold_out" => Reservation::SoldOut { line: reply.next()? },
        "seat_taken" => {
            Reservation::SeatTaken { line: reply.next()?, seats: reply.rest(Reply::seat)? }
        }
        "unknown_type" => Reservation::UnknownType { line: reply.next()? },
        "wrong_kind" => Reservation::WrongKind { line: reply.next()? },
        "unknown_seat" => {
            Reservation::UnknownSeat { line: reply.next()?, seats: reply.rest(Reply::seat)? }
        }
        _ => return Err(reply.unexpected()),
    })
}

fn hold(reply: &mut Reply) -> Result<Hold, RedisStoreError> {
    let expires_at = reply.instant()?;
    Ok(Hold { lines: reply.lines()?, expires_at })
}
