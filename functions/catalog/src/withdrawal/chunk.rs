//! One order of a withdrawal: reserve, persist, settle, like any other order; and
//! giving it back.

use std::time::Duration;

use contracts::problem::{Reason, Text};
use domain::{
    CustomerId, Event, Fingerprint, Intent, Line, Money, Order, OrderId, OrderLine, OrderLines,
    OrderState, Rejection, SeatLabel, Standing, mark_block,
};
use dynamo_store::{Ended, PartitionCounts, Patience, Persisted, Refused, TakenUnit};
use expiry::report_foreign;
use jiff::SignedDuration;
use lambda_kit::clock;
use lambda_kit::http::Failure;
use redis_store::{Hold, Look, Mode, Reservation, Reserve};
use store_failures::OrFail;

use crate::catalogue::Catalogue;
use crate::stock::{lost, settle, settle_later};

/// Nothing is begun that could end after its hold has lapsed: this function runs
/// for ten seconds at most. (Of very short holds, half.)
const MARGIN: Duration = Duration::from_secs(15);
/// So many answers that say "again" (lapsed holds to give back, marks to raise)
/// are followed before the client is asked to come again.
const ATTEMPTS: u32 = 64;
/// For so long a transaction is tried; the rest of the ten seconds is for what
/// comes before and after it.
const PERSISTING: Duration = Duration::from_secs(3);

/// What taking one order came to.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// It owns its units.
    Taken,
    /// It can't have them.
    Short(Shortage),
    /// Its hold has lapsed, or is about to: this order never has units any more.
    Spent,
}

/// Why units can't be had.
#[derive(Debug)]
pub(crate) enum Shortage {
    /// Too few places are free.
    SoldOut,
    /// These seats are not.
    Seats(Vec<SeatLabel>),
    /// Another request gave the withdrawal back.
    Undone,
}

impl Shortage {
    /// This one and another: all seats that are not free.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Seats(some), Self::Seats(others)) => Self::Seats([some, others].concat()),
            (one, _) => one,
        }
    }
}

/// Takes orders for the owner of a withdrawal.
pub(super) struct Taker<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) event: &'a Event,
}

impl Taker<'_> {
    /// Takes an order's units out of sale; again is fine.
    pub(super) async fn take(
        &self,
        order: OrderId,
        owner: &CustomerId,
        line: Line,
    ) -> Result<Chunk, Failure> {
        let intent = self.intent(order, owner, line.clone())?;
        for _ in 0..ATTEMPTS {
            let reserve = self.reserve(&intent, line.clone())?;
            match self.catalogue.inventory.reserve(&reserve).await.or_fail()? {
                Reservation::Held(hold) => return self.persist(intent, hold).await,
                Reservation::Replayed(hold) => return self.resume(intent, hold).await,
                Reservation::GrantNeeded { ticket_type, mark, ceiling } => {
                    let wanted = mark.saturating_add(mark_block(ceiling)).min(ceiling);
                    let (store, id) = (&self.catalogue.store, &self.event.id);
                    let mark = store.mark_raise(id, &ticket_type, wanted).await.or_fail()?;
                    let (inventory, epoch) = (&self.catalogue.inventory, self.event.epoch);
                    inventory.mark_raise(id, epoch, &ticket_type, mark).await.or_fail()?;
                }
                Reservation::Lapsed | Reservation::Ended => return self.ended(&intent).await,
                obstacle @ (Reservation::Again
                | Reservation::Overdue(_)
                | Reservation::SoldOut { .. }
                | Reservation::SeatTaken { .. }
                | Reservation::Unavailable
                | Reservation::StaleEpoch { .. }
                | Reservation::Recovering
                | Reservation::TooManyOrders
                | Reservation::UnknownType { .. }
                | Reservation::UnknownSeat { .. }
                | Reservation::Mismatch
                | Reservation::NotFound
                | Reservation::NotOpen { .. }
                | Reservation::Closed
                | Reservation::Paused
                | Reservation::SessionEnded
                | Reservation::OverLimit { .. }
                | Reservation::WrongKind { .. }) => {
                    if let Some(shortage) = self.cleared(obstacle).await? {
                        return self.short(&intent, shortage).await;
                    }
                }
            }
        }
        Err(Reason::Unavailable.into())
    }

    /// Redis says that the units can't be had: perhaps as it has forgotten whose they are.
    async fn short(&self, intent: &Intent, shortage: Shortage) -> Result<Chunk, Failure> {
        let stored =
            self.catalogue.orders.order_fetch(&intent.customer, &intent.order).await.or_fail()?;
        match stored {
            Some(order) => Ok(self.decided(&order).await),
            None => Ok(Chunk::Short(shortage)),
        }
    }

    /// Why units can't be had beside those that the owner has, by what Redis says now; none:
    /// they can. Nothing is taken.
    pub(super) async fn look(
        &self,
        owner: &CustomerId,
        line: Line,
    ) -> Result<Option<Shortage>, Failure> {
        let (event, epoch, customer) = (self.event.id.clone(), self.event.epoch, owner.key());
        let look = Look { event, epoch, customer, line };
        for _ in 0..ATTEMPTS {
            let obstacle = self.catalogue.inventory.look(&look).await.or_fail()?;
            let Some(obstacle) = obstacle else { return Ok(None) };
            if let Some(shortage) = self.cleared(obstacle).await? {
                return Ok(Some(shortage));
            }
        }
        Err(Reason::Unavailable.into())
    }

    /// Clears what stands between a withdrawal and its units; where that can't be, why not.
    async fn cleared(&self, obstacle: Reservation) -> Result<Option<Shortage>, Failure> {
        match obstacle {
            Reservation::Again => Ok(None),
            // A withdrawal takes nothing from anybody, but the time to pay is over.
            Reservation::Overdue(orders) => {
                // While one is left that may make room, nothing is sold out.
                match self.catalogue.end_overdue(self.event.epoch, &orders).await? {
                    true => Ok(None),
                    false => Err(Reason::Unavailable.into()),
                }
            }
            Reservation::SoldOut { .. } => Ok(Some(Shortage::SoldOut)),
            Reservation::SeatTaken { seats, .. } => Ok(Some(Shortage::Seats(seats))),
            Reservation::Unavailable | Reservation::StaleEpoch { .. } | Reservation::Recovering => {
                Err(lost())
            }
            Reservation::TooManyOrders => Err(Reason::TooManyOrders.into()),
            // It was brought before the taking (`sync::wanted`): Redis has lost it since.
            Reservation::UnknownType { .. } | Reservation::UnknownSeat { .. } => {
                Err(Failure::new(Reason::Unavailable).with_detail(Text::NotLoadedYet))
            }
            unexpected @ (Reservation::Held(_)
            | Reservation::Replayed(_)
            | Reservation::GrantNeeded { .. }
            | Reservation::Lapsed
            | Reservation::Ended
            | Reservation::Mismatch
            | Reservation::NotFound
            | Reservation::NotOpen { .. }
            | Reservation::Closed
            | Reservation::Paused
            | Reservation::SessionEnded
            | Reservation::OverLimit { .. }
            | Reservation::WrongKind { .. }) => {
                tracing::error!(?unexpected, event = %self.event.id, "no answer for a withdrawal");
                Err(Reason::Internal.into())
            }
        }
    }

    fn intent(&self, order: OrderId, owner: &CustomerId, line: Line) -> Result<Intent, Failure> {
        Ok(Intent {
            order,
            customer: owner.clone(),
            event: self.event.id.clone(),
            fingerprint: Fingerprint::v1(&lines_of(line)?),
        })
    }

    fn reserve(&self, intent: &Intent, line: Line) -> Result<Reserve, Failure> {
        Ok(Reserve {
            event: self.event.id.clone(),
            epoch: self.event.epoch,
            order: intent.order,
            customer: intent.customer.key(),
            fingerprint: intent.fingerprint,
            lines: lines_of(line)?,
            hold: self.catalogue.hold,
            mode: Mode::Withdraw,
            session: None,
        })
    }

    /// The hold was there before: the order may be stored already.
    async fn resume(&self, intent: Intent, hold: Hold) -> Result<Chunk, Failure> {
        let stored =
            self.catalogue.orders.order_fetch(&intent.customer, &intent.order).await.or_fail()?;
        match stored {
            Some(order) => Ok(self.decided(&order).await),
            None => self.persist(intent, hold).await,
        }
    }

    /// Redis says that the order has ended: perhaps it never was stored.
    async fn ended(&self, intent: &Intent) -> Result<Chunk, Failure> {
        let stored =
            self.catalogue.orders.order_fetch(&intent.customer, &intent.order).await.or_fail()?;
        match stored {
            Some(order) => Ok(self.decided(&order).await),
            None => Ok(Chunk::Spent),
        }
    }

    /// What is stored is what counts.
    async fn decided(&self, order: &Order) -> Chunk {
        settle_later(self.catalogue, order, self.event.epoch).await;
        match order.state.standing() {
            Standing::Live => Chunk::Taken,
            Standing::Ended => Chunk::Short(Shortage::Undone),
        }
    }

    async fn persist(&self, intent: Intent, hold: Hold) -> Result<Chunk, Failure> {
        let margin = MARGIN.min(self.catalogue.hold / 2);
        let left = hold.expires_at.duration_since(clock::now());
        if left < SignedDuration::try_from(margin).unwrap_or_default() {
            return Ok(Chunk::Spent);
        }
        let order = self.order(intent, hold);
        let (orders, patience) = (&self.catalogue.orders, Patience::of(PERSISTING));
        let partitions = self.partitions(&order).await?;
        match orders.order_persist(&order, &partitions, patience).await.or_fail()? {
            Persisted::New => Ok(self.decided(&order).await),
            Persisted::Present(present) => Ok(self.decided(&present).await),
            Persisted::UnitsTaken(taken) => self.drifted(&order, &taken).await,
        }
    }

    async fn partitions(&self, order: &Order) -> Result<PartitionCounts, Failure> {
        self.catalogue.partitions.partitions_cached(&order.event, &order.lines).await.or_fail()
    }

    /// The order a hold becomes. Nobody pays for it.
    fn order(&self, intent: Intent, hold: Hold) -> Order {
        let now = clock::now();
        let lines = hold.lines.into_iter().map(|line| OrderLine { unit_amount: 0, ..line });
        Order {
            id: intent.order,
            customer: intent.customer,
            event: intent.event,
            epoch: self.event.epoch,
            state: OrderState::Withdrawn,
            rejection: None,
            version: 1,
            fingerprint: intent.fingerprint,
            lines: lines.collect(),
            total: Money { amount: 0, currency: self.event.currency },
            created_at: now,
            updated_at: now,
            pay_by: None,
        }
    }

    /// Redis took units for free that DynamoDB says are owned: it is told of each
    /// owner, and this order is given up for another attempt.
    async fn drifted(&self, order: &Order, taken: &[TakenUnit]) -> Result<Chunk, Failure> {
        let owners = TakenUnit::owners(taken);
        tracing::warn!(order = %order.id, metric = "unit_taken", ?owners, "units had owners");
        for owner in owners {
            let fetched = self.catalogue.orders.order_fetch(&owner.customer, &owner.order).await;
            let Some(fetched) = fetched.or_fail()? else {
                tracing::error!(
                    order = %order.id,
                    metric = "orphaned_unit",
                    owner = %owner.order,
                    "a unit is owned by an order that is not there"
                );
                continue;
            };
            if !settle(self.catalogue, &fetched, self.event.epoch).await? {
                tracing::warn!(order = %fetched.id, "Redis does not agree with an order yet");
            }
        }
        self.release(order.id, &order.customer).await;
        Ok(Chunk::Spent)
    }

    /// Gives an order back, or sees to it that it never comes to be; again is fine.
    pub(super) async fn give_back(
        &self,
        order: OrderId,
        owner: &CustomerId,
        line: Line,
    ) -> Result<(), Failure> {
        let stored = self.catalogue.orders.order_fetch(owner, &order).await.or_fail()?;
        let mut current = match stored {
            Some(order) => order,
            None => match self.refuse(order, owner, line).await? {
                Some(order) => order,
                None => return Ok(()),
            },
        };
        while current.state.standing() == Standing::Live {
            let (to, now) = (OrderState::Cancelled, clock::now());
            let partitions = self.partitions(&current).await?;
            let ended = self.catalogue.orders.order_end(&current, to, now, &partitions).await;
            current = match ended.or_fail()? {
                Ended::Ended { order, foreign } => {
                    report_foreign(&order, &foreign);
                    order
                }
                Ended::Lost(order) => order,
                Ended::Missing => return Ok(()),
            };
        }
        settle_later(self.catalogue, &current, self.event.epoch).await;
        Ok(())
    }

    /// Decides against an order that is not stored; with what was stored first.
    async fn refuse(
        &self,
        order: OrderId,
        owner: &CustomerId,
        line: Line,
    ) -> Result<Option<Order>, Failure> {
        let intent = self.intent(order, owner, line)?;
        let (epoch, currency) = (self.event.epoch, self.event.currency);
        let refusal =
            Order::refusal(intent, epoch, Rejection::Unprocessable, currency, clock::now());
        match self.catalogue.orders.order_refuse(&refusal).await.or_fail()? {
            Refused::Present(order) => Ok(Some(order)),
            Refused::Stored => {
                self.release(order, owner).await;
                Ok(None)
            }
        }
    }

    /// Frees a hold that will not be kept; where that fails, it lapses.
    async fn release(&self, order: OrderId, owner: &CustomerId) {
        let (id, epoch) = (&self.event.id, self.event.epoch);
        let released = self.catalogue.inventory.release(id, epoch, &order, &owner.key()).await;
        if let Err(error) = released {
            tracing::warn!(order = %order, %error, "a hold was not given back and will lapse");
        }
    }
}

fn lines_of(line: Line) -> Result<OrderLines, Failure> {
    OrderLines::new(vec![line]).map_err(Failure::internal)
}
