//! Withdrawals: pk `event#<event>`, sk `withdrawal#<id>`. What an operator took
//! out of sale, and the orders that own it.

use domain::{EventId, Line, OrderId, SeatLabel, TicketTypeId, Wanted, WithdrawalId};
use serde::{Deserialize, Serialize};

use super::{CatalogStore, key, partition};
use crate::StoreError;
use crate::table::{ABSENT, Guard, Item, Key, Written, decode, encode, no_item};

/// Only who read the version before may write the one after it.
pub(super) const IS_VERSION_BEFORE: &str = "#version = :before";

/// Lines are kept as `type*quantity` or `type:seat,seat,…`: no name holds such signs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    lines: Vec<String>,
    orders: Vec<OrderId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<u32>,
    state: WithdrawalState,
    version: u64,
}

const SORT_PREFIX: &str = "withdrawal#";

fn withdrawal_key(event: &EventId, withdrawal: &WithdrawalId) -> Key {
    key(event, format!("{SORT_PREFIX}{withdrawal}"))
}

pub(super) fn item_of(event: &EventId, withdrawal: &Withdrawal) -> Result<Item, StoreError> {
    let record = Record {
        lines: withdrawal.lines.iter().map(pack_line).collect(),
        orders: withdrawal.orders.clone(),
        kept: withdrawal.kept,
        state: withdrawal.state,
        version: withdrawal.version,
    };
    Ok(withdrawal_key(event, &withdrawal.id).with(encode(&record)?))
}

fn withdrawal_of(item: Item) -> Result<Withdrawal, StoreError> {
    #[derive(Deserialize)]
    struct Id {
        sk: String,
    }
    let id: Id = decode("withdrawal", item.clone())?;
    let record: Record = decode("withdrawal", item)?;
    let unreadable = || StoreError::corrupt("withdrawal", "an id or a line is none");
    let lines: Option<Vec<Line>> = record.lines.iter().map(|line| unpack_line(line)).collect();
    Ok(Withdrawal {
        id: WithdrawalId::parse(id.sk.trim_start_matches(SORT_PREFIX))
            .map_err(|source| StoreError::corrupt("withdrawal", source))?,
        lines: lines.ok_or_else(unreadable)?,
        orders: record.orders,
        kept: record.kept,
        state: record.state,
        version: record.version,
    })
}

fn pack_line(line: &Line) -> String {
    match &line.wanted {
        Wanted::Quantity(quantity) => format!("{}*{quantity}", line.ticket_type),
        Wanted::Seats(seats) => {
            let seats: Vec<&str> = seats.iter().map(SeatLabel::as_str).collect();
            format!("{}:{}", line.ticket_type, seats.join(","))
        }
    }
}

fn unpack_line(packed: &str) -> Option<Line> {
    let (ticket_type, wanted) = match packed.split_once('*') {
        Some((ticket_type, quantity)) => (ticket_type, Wanted::Quantity(quantity.parse().ok()?)),
        None => {
            let (ticket_type, seats) = packed.split_once(':')?;
            let seats = seats.split(',').map(|seat| SeatLabel::parse(seat).ok());
            (ticket_type, Wanted::Seats(seats.collect::<Option<_>>()?))
        }
    };
    Some(Line { ticket_type: TicketTypeId::parse(ticket_type).ok()?, wanted })
}

/// How far a withdrawal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalState {
    /// Its units are being taken; a repeat of the request goes on with it.
    Taking,
    /// Its orders own all its units.
    Taken,
    /// So they do, and a type's capacity is lower by what it keeps.
    Counted,
    /// Could not be had; what was taken has been returned.
    Refused,
    /// Its units are being returned.
    Returning,
    /// Returned.
    Returned,
}

/// Units taken out of sale together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// Named by the operator.
    pub id: WithdrawalId,
    /// What was asked for (more than one order's worth is fine).
    pub lines: Vec<Line>,
    /// The orders that own its units, or are about to.
    pub orders: Vec<OrderId>,
    /// So many of them stay, from the first one; the others are being given back.
    /// None: all stay.
    pub kept: Option<u32>,
    /// How far it is.
    pub state: WithdrawalState,
    /// Starts at 1 and grows by one with each change.
    pub version: u64,
}

/// What putting a withdrawal came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalCreated {
    /// It is there now, exactly so.
    Created,
    /// Another one, or the same further on, stood under this id.
    Exists(Withdrawal),
}

/// What a change came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalUpdated {
    /// It is so now.
    Updated,
    /// Someone else changed it first; none: there is no such withdrawal.
    VersionMismatch(Option<Withdrawal>),
}

impl CatalogStore {
    /// The withdrawal; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn withdrawal_fetch(
        &self,
        event: &EventId,
        withdrawal: &WithdrawalId,
    ) -> Result<Option<Withdrawal>, StoreError> {
        let item = self.table.get(&withdrawal_key(event, withdrawal), true).await?;
        item.map(withdrawal_of).transpose()
    }

    /// All withdrawals of an event; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn withdrawals_list(&self, event: &EventId) -> Result<Vec<Withdrawal>, StoreError> {
        let items = self.table.query(&partition(event), SORT_PREFIX, true).await?;
        items.into_iter().map(withdrawal_of).collect()
    }

    /// Puts a withdrawal (version 1) where there is none. Repeating it is `Created` again.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn withdrawal_create(
        &self,
        event: &EventId,
        withdrawal: &Withdrawal,
    ) -> Result<WithdrawalCreated, StoreError> {
        let item = item_of(event, withdrawal)?;
        match self.table.put_if(item, &Guard::new(ABSENT)).await? {
            Written::Done(_) => Ok(WithdrawalCreated::Created),
            Written::Refused(present) => {
                let present = withdrawal_of(present.ok_or_else(no_item)?)?;
                // The same: the reply to our write was lost and the SDK sent it again.
                Ok(match present == *withdrawal {
                    true => WithdrawalCreated::Created,
                    false => WithdrawalCreated::Exists(present),
                })
            }
        }
    }

    /// Replaces a withdrawal by `withdrawal`, whose version is the old one + 1.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn withdrawal_update(
        &self,
        event: &EventId,
        withdrawal: &Withdrawal,
    ) -> Result<WithdrawalUpdated, StoreError> {
        let item = item_of(event, withdrawal)?;
        let guard =
            Guard::new(IS_VERSION_BEFORE).value(":before", withdrawal.version.saturating_sub(1));
        match self.table.put_if(item, &guard).await? {
            Written::Done(_) => Ok(WithdrawalUpdated::Updated),
            Written::Refused(present) => {
                let present = present.map(withdrawal_of).transpose()?;
                // The same: the reply to our write was lost and the SDK sent it again.
                Ok(match present.as_ref() == Some(withdrawal) {
                    true => WithdrawalUpdated::Updated,
                    false => WithdrawalUpdated::VersionMismatch(present),
                })
            }
        }
    }
}
