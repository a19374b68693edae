//! The record of a withdrawal, step by step.
//!
//! ```text
//! (none) ─▶ taking ─▶ taken ─▶ counted                   (counted: cuts only)
//!              └────────┴────────┴────▶ returning ─▶ returned, refused ─▶ taking
//! ```
//!
//! Its units are owned by orders of at most 40 each. All of them are live, or none:
//! while some are, the record says `taking` or `returning` (of a cut also `counted`,
//! see below), and whoever meets such a record goes on with it. Each order has one
//! decision for ever (it is put where it is absent, as itself or as a refusal), so
//! that two requests for one withdrawal, one taking and one undoing, can't leave an
//! order behind. Another attempt has other orders.
//!
//! A cut (see [`crate::capacity`]) goes on from `taken` to `counted` with its type's new
//! capacity. A raise says first, with the capacity again, how many of its orders are kept, or
//! that it is `returning`; what is not kept is given back after that, so until its record is
//! [trimmed](Withdrawals::trim) some of a cut's orders are live and some are not.

use contracts::problem::{Reason, Text};
use domain::{
    CustomerId, Event, IdempotencyKey, Line, MAX_UNITS_PER_ORDER, Operation, OrderId, Standing,
    Wanted, WithdrawalId,
};
use dynamo_store::{
    StoreError, UnitOwner, Withdrawal, WithdrawalCreated, WithdrawalState, WithdrawalUpdated,
};
use futures::stream::{self, StreamExt, TryStreamExt};
use lambda_kit::http::Failure;
use store_failures::OrFail;

use super::chunk::{Chunk, Shortage, Taker};
use crate::catalogue::Catalogue;

/// So often another request for the same withdrawal may come between.
const ATTEMPTS: u32 = 8;
/// Orders that are written at once.
const AT_ONCE: usize = 4;

/// What taking a withdrawal came to.
#[derive(Debug)]
pub(crate) enum Take {
    /// Its units are out of sale.
    Taken {
        /// By this request; else they were already.
        now: bool,
    },
    /// They can't be had; none of them is out of sale.
    Short(Shortage),
    /// There is one of this id with other units.
    Other,
}

/// What one attempt came to.
enum Attempt {
    All,
    Short(Shortage),
    /// Its holds have lapsed before they were kept: only another attempt can succeed.
    Spent,
}

/// The withdrawals of an event.
pub(crate) struct Withdrawals<'a> {
    catalogue: &'a Catalogue,
    event: &'a Event,
    taker: Taker<'a>,
}

impl<'a> Withdrawals<'a> {
    pub(crate) fn of(catalogue: &'a Catalogue, event: &'a Event) -> Self {
        Self { catalogue, event, taker: Taker { catalogue, event } }
    }

    /// Takes units out of sale under an id: all or none.
    pub(crate) async fn take(&self, id: &WithdrawalId, line: Line) -> Result<Take, Failure> {
        for _ in 0..ATTEMPTS {
            let Some((record, is_new)) = self.begun(id, &line).await? else {
                return Ok(Take::Other);
            };
            match record.state {
                WithdrawalState::Taken | WithdrawalState::Counted => {
                    return Ok(Take::Taken { now: false });
                }
                WithdrawalState::Taking => {}
                WithdrawalState::Returning => {
                    self.finish_returning(&record, WithdrawalState::Returned).await?;
                    continue;
                }
                // `begun` makes a new attempt of these.
                WithdrawalState::Refused | WithdrawalState::Returned => continue,
            }
            match self.attempt(&record, is_new).await? {
                Attempt::All => {
                    if self.advance(&record, WithdrawalState::Taken).await?.is_some() {
                        return Ok(Take::Taken { now: true });
                    }
                }
                Attempt::Short(shortage) => {
                    if self.undo(&record, WithdrawalState::Refused).await? {
                        return Ok(Take::Short(shortage));
                    }
                }
                Attempt::Spent => {
                    self.undo(&record, WithdrawalState::Returned).await?;
                }
            }
        }
        Err(too_many())
    }

    /// Gives a withdrawal back, whatever state it is in, but for a cut that counts;
    /// false: there is none.
    pub(crate) async fn give_back(&self, id: &WithdrawalId) -> Result<bool, Failure> {
        for _ in 0..ATTEMPTS {
            let read = self.catalogue.store.withdrawal_fetch(&self.event.id, id).await.or_fail()?;
            let Some(record) = read else { return Ok(false) };
            let is_done = match record.state {
                WithdrawalState::Refused | WithdrawalState::Returned => true,
                // Only a raise takes from a cut that counts.
                WithdrawalState::Counted => true,
                WithdrawalState::Returning => {
                    self.finish_returning(&record, WithdrawalState::Returned).await?
                }
                WithdrawalState::Taking | WithdrawalState::Taken => {
                    self.undo(&record, WithdrawalState::Returned).await?
                }
            };
            if is_done {
                return Ok(true);
            }
        }
        Err(too_many())
    }

    /// Gives back a withdrawal as it was read: what has changed meanwhile stays as it is.
    pub(crate) async fn give_back_as_read(&self, record: &Withdrawal) -> Result<(), Failure> {
        match record.state {
            WithdrawalState::Taking | WithdrawalState::Taken => {
                self.undo(record, WithdrawalState::Returned).await?
            }
            WithdrawalState::Returning => {
                self.finish_returning(record, WithdrawalState::Returned).await?
            }
            WithdrawalState::Counted | WithdrawalState::Refused | WithdrawalState::Returned => true,
        };
        Ok(())
    }

    /// Gives back the orders that a cut does not keep, and drops them from its record.
    /// Another request may do the same: that is as good.
    pub(crate) async fn trim(&self, record: &Withdrawal) -> Result<(), Failure> {
        let Some(kept) = record.kept else { return Ok(()) };
        let (kept, returned) = record.orders.split_at(record.orders.len().min(kept as usize));
        self.return_orders(record, returned).await?;
        let quantity = u32::try_from(kept.len() * MAX_UNITS_PER_ORDER).unwrap_or(u32::MAX);
        let lines = record.lines.iter().map(|line| Line {
            ticket_type: line.ticket_type.clone(),
            wanted: Wanted::Quantity(quantity),
        });
        let trimmed = Withdrawal {
            lines: lines.collect(),
            orders: kept.to_vec(),
            kept: None,
            version: record.version.saturating_add(1),
            ..record.clone()
        };
        match self.catalogue.store.withdrawal_update(&self.event.id, &trimmed).await {
            Ok(_) | Err(StoreError::Contended(_)) => Ok(()),
            Err(error) => Err(error).or_fail(),
        }
    }

    /// The record of this withdrawal, begun where there is none or an ended one, and
    /// whether it was begun now; none: it stands there with other units.
    async fn begun(
        &self,
        id: &WithdrawalId,
        line: &Line,
    ) -> Result<Option<(Withdrawal, bool)>, Failure> {
        let (store, event) = (&self.catalogue.store, &self.event.id);
        let read = store.withdrawal_fetch(event, id).await.or_fail()?;
        let Some(record) = read else {
            let first = self.new_attempt(id, line, 1)?;
            return match store.withdrawal_create(event, &first).await.or_fail()? {
                WithdrawalCreated::Created => Ok(Some((first, true))),
                WithdrawalCreated::Exists(record) => {
                    Ok(is_of(&record, line).then_some((record, false)))
                }
            };
        };
        match record.state {
            WithdrawalState::Refused | WithdrawalState::Returned => {
                let next = self.new_attempt(id, line, record.version.saturating_add(1))?;
                match store.withdrawal_update(event, &next).await.or_fail()? {
                    WithdrawalUpdated::Updated => Ok(Some((next, true))),
                    WithdrawalUpdated::VersionMismatch(other) => {
                        let other = other.filter(|record| is_of(record, line));
                        Ok(other.map(|record| (record, false)))
                    }
                }
            }
            WithdrawalState::Returning => Ok(Some((record, false))),
            WithdrawalState::Taking | WithdrawalState::Taken | WithdrawalState::Counted => {
                Ok(is_of(&record, line).then_some((record, false)))
            }
        }
    }

    /// The orders of an attempt are named after the version that began it.
    fn new_attempt(
        &self,
        id: &WithdrawalId,
        line: &Line,
        version: u64,
    ) -> Result<Withdrawal, Failure> {
        let customer = CustomerId::of_withdrawal(id).map_err(Failure::internal)?;
        let order = |at: usize| {
            let key = IdempotencyKey::parse(&format!("{version}:{at}"))?;
            Ok(OrderId::derive(&customer, Operation::Withdraw, &self.event.id, &key))
        };
        let count = line.count().div_ceil(MAX_UNITS_PER_ORDER);
        let orders = (0..count).map(order).collect::<Result<_, domain::InvalidId>>();
        Ok(Withdrawal {
            id: id.clone(),
            lines: vec![line.clone()],
            orders: orders.map_err(Failure::internal)?,
            kept: None,
            state: WithdrawalState::Taking,
            version,
        })
    }

    /// Takes every order of an attempt, until one can't be had. Looks first whether all can:
    /// what is taken and given back again is seen as gone meanwhile, and who is refused for it
    /// is refused for ever. Not where an attempt owns some already: it has looked, and Redis
    /// may have forgotten what it owns.
    async fn attempt(&self, record: &Withdrawal, is_new: bool) -> Result<Attempt, Failure> {
        let owner = owner(record)?;
        let looks = is_new || !self.owns_any(record, &owner).await?;
        if looks && let Some(shortage) = self.look(record, &owner).await? {
            return Ok(Attempt::Short(shortage));
        }
        let chunks = record.lines.iter().flat_map(chunks).zip(record.orders.clone());
        let takes = chunks.map(|(line, order)| self.taker.take(order, &owner, line));
        let mut taken = stream::iter(takes).buffer_unordered(AT_ONCE);
        while let Some(chunk) = taken.try_next().await? {
            match chunk {
                Chunk::Taken => {}
                Chunk::Short(shortage) => return Ok(Attempt::Short(shortage)),
                Chunk::Spent => return Ok(Attempt::Spent),
            }
        }
        Ok(Attempt::All)
    }

    /// Whether an order of an attempt is stored and lives.
    async fn owns_any(&self, record: &Withdrawal, owner: &CustomerId) -> Result<bool, Failure> {
        let owner_of = |order: &OrderId| UnitOwner { order: *order, customer: owner.clone() };
        let orders: Vec<UnitOwner> = record.orders.iter().map(owner_of).collect();
        let stored = self.catalogue.orders.orders_fetch(&orders).await.or_fail()?;
        Ok(stored.iter().any(|order| order.state.standing() == Standing::Live))
    }

    /// Why an attempt would end short, as far as can be seen: another request may be taking
    /// its orders already, and others may take what is free now.
    async fn look(
        &self,
        record: &Withdrawal,
        owner: &CustomerId,
    ) -> Result<Option<Shortage>, Failure> {
        let looks = record.lines.iter().flat_map(glances).map(|line| self.taker.look(owner, line));
        let looks: Vec<_> = stream::iter(looks).buffered(AT_ONCE).try_collect().await?;
        Ok(looks.into_iter().flatten().reduce(Shortage::and))
    }

    /// Begins to return a withdrawal and does it; false: another request changed
    /// it first.
    async fn undo(&self, record: &Withdrawal, to: WithdrawalState) -> Result<bool, Failure> {
        match self.advance(record, WithdrawalState::Returning).await? {
            Some(returning) => self.finish_returning(&returning, to).await,
            None => Ok(false),
        }
    }

    async fn finish_returning(
        &self,
        record: &Withdrawal,
        to: WithdrawalState,
    ) -> Result<bool, Failure> {
        self.return_orders(record, &record.orders).await?;
        Ok(self.advance(record, to).await?.is_some())
    }

    async fn return_orders(&self, record: &Withdrawal, orders: &[OrderId]) -> Result<(), Failure> {
        let owner = owner(record)?;
        let chunks: Vec<Line> = record.lines.iter().flat_map(chunks).collect();
        let skipped = record.orders.len().saturating_sub(orders.len());
        let returns = orders.iter().copied().zip(chunks.into_iter().skip(skipped));
        let returns = returns.map(|(order, line)| self.taker.give_back(order, &owner, line));
        stream::iter(returns).buffer_unordered(AT_ONCE).try_collect().await
    }

    /// The record in its next state; none: another request changed it first.
    async fn advance(
        &self,
        record: &Withdrawal,
        state: WithdrawalState,
    ) -> Result<Option<Withdrawal>, Failure> {
        let next =
            Withdrawal { state, version: record.version.saturating_add(1), ..record.clone() };
        match self.catalogue.store.withdrawal_update(&self.event.id, &next).await {
            Ok(WithdrawalUpdated::Updated) => Ok(Some(next)),
            Ok(WithdrawalUpdated::VersionMismatch(_)) | Err(StoreError::Contended(_)) => Ok(None),
            Err(error) => Err(error).or_fail(),
        }
    }
}

fn is_of(record: &Withdrawal, line: &Line) -> bool {
    record.lines == std::slice::from_ref(line)
}

/// Each attempt has an owner of its own: what Redis keeps of one customer's
/// attempts is bounded.
fn owner(record: &Withdrawal) -> Result<CustomerId, Failure> {
    let first = record.orders.first().map(ToString::to_string).unwrap_or_default();
    CustomerId::of_withdrawal(first).map_err(Failure::internal)
}

/// A line in parts that an order can have.
fn chunks(line: &Line) -> Vec<Line> {
    let part = |wanted| Line { ticket_type: line.ticket_type.clone(), wanted };
    match &line.wanted {
        Wanted::Seats(seats) => seats
            .chunks(MAX_UNITS_PER_ORDER)
            .map(|seats| part(Wanted::Seats(seats.to_vec())))
            .collect(),
        Wanted::Quantity(quantity) => {
            let most = u32::try_from(MAX_UNITS_PER_ORDER).unwrap_or(u32::MAX);
            (0..quantity.div_ceil(most))
                .map(|at| part(Wanted::Quantity(most.min(quantity - at * most))))
                .collect()
        }
    }
}

/// A line in parts that can be looked at: places together, as each order could be had alone.
fn glances(line: &Line) -> Vec<Line> {
    match line.wanted {
        Wanted::Seats(_) => chunks(line),
        Wanted::Quantity(_) => vec![line.clone()],
    }
}

fn too_many() -> Failure {
    Failure::new(Reason::Unavailable).with_detail(Text::WithdrawalBusy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::TicketTypeId;

    #[test]
    fn a_line_is_cut_into_orders() {
        let line = |wanted| Line { ticket_type: TicketTypeId::parse("t").unwrap(), wanted };
        let sizes = |wanted| chunks(&line(wanted)).iter().map(Line::count).collect::<Vec<_>>();
        assert_eq!(sizes(Wanted::Quantity(1)), [1]);
        assert_eq!(sizes(Wanted::Quantity(80)), [40, 40]);
        assert_eq!(sizes(Wanted::Quantity(95)), [40, 40, 15]);
        let seats: Vec<_> =
            (0..41).map(|n| domain::SeatLabel::parse(&format!("A-1-{n}")).unwrap()).collect();
        let parts = chunks(&line(Wanted::Seats(seats.clone())));
        assert_eq!(parts[1].wanted, Wanted::Seats(seats[40..].to_vec()));
    }
}
