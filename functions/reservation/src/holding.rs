//! Asking the inventory for units, and putting right what stands in the way.

use std::sync::Arc;

use domain::{CustomerKey, Epoch, Event, OrderId, Wanted, mark_block};
use expiry::Expiry;
use fault_points::{RESERVATION_MARK_RAISED, reached};
use lambda_kit::clock;
use lambda_kit::http::Failure;
use redis_store::{Mode, Reserve, Session};
use store_failures::OrFail;

use crate::answer;
use crate::handler::PlaceOrder;
use crate::till::Till;
use crate::verdict::{Remedy, Undecided, Verdict, verdict_of};

/// How often each remedy may be tried for one request. Beyond that the request
/// is told to come again: nothing may keep a function busy for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Patience {
    lapses: u32,
    epochs: u32,
    marks: u32,
    overdue: u32,
}

impl Patience {
    /// Each round gives back many lapsed holds; a mark may move on twice while
    /// others take what was granted; an epoch is read again once. A round of overdue
    /// orders ends fifty: some turn out to be paid, or others take what they freed.
    const FRESH: Self = Self { lapses: 100, epochs: 1, marks: 8, overdue: 20 };

    fn allows(&mut self, remedy: &Remedy) -> bool {
        let left = match remedy {
            Remedy::None => &mut self.lapses,
            Remedy::Epoch => &mut self.epochs,
            Remedy::Mark { .. } => &mut self.marks,
            Remedy::Overdue(_) => &mut self.overdue,
        };
        let allowed = *left > 0;
        *left = left.saturating_sub(1);
        allowed
    }
}

impl Till {
    /// Holds what the request wants, or says why not; with the event as it was
    /// when the inventory replied. Without a session it only finds a hold that
    /// is there.
    pub(crate) async fn reserve(
        &self,
        request: &PlaceOrder,
        mut event: Arc<Event>,
        session: Option<&Session>,
    ) -> Result<(Verdict, Arc<Event>), Failure> {
        let mut patience = Patience::FRESH;
        loop {
            let wish = self.wish(request, &event, session);
            let reply = self.inventory.reserve(&wish).await;
            let reply = match wish.mode {
                // It takes nothing, so nothing is unknown of this request.
                Mode::ReplayOnly => reply.or_fail()?,
                // The script may have run although its reply did not come.
                Mode::Buy | Mode::Withdraw => reply.map_err(Failure::outcome_unknown)?,
            };
            let remedy = match verdict_of(reply, &request.lines) {
                Ok(verdict) => return Ok((verdict, event)),
                Err(remedy) => remedy,
            };
            if !patience.allows(&remedy) {
                return Ok((Verdict::Undecided(Undecided::Unavailable), event));
            }
            match remedy {
                Remedy::None => {}
                Remedy::Epoch => event = self.event_now(&event).await?,
                Remedy::Mark { ticket_type, mark, ceiling } => {
                    let step = mark_block(ceiling).max(wanted_of(request, &ticket_type));
                    let to = mark.saturating_add(step).min(ceiling);
                    self.grant(&event, &ticket_type, to).await?;
                }
                Remedy::Overdue(orders) => {
                    // While one is left that may make room, nothing is sold out.
                    if !self.end_overdue(event.epoch, &orders).await? {
                        return Ok((Verdict::Undecided(Undecided::Unavailable), event));
                    }
                }
            }
        }
    }

    fn wish(&self, request: &PlaceOrder, event: &Event, session: Option<&Session>) -> Reserve {
        Reserve {
            event: event.id.clone(),
            epoch: event.epoch,
            order: request.intent.order,
            customer: request.intent.customer.key(),
            fingerprint: request.intent.fingerprint,
            lines: request.lines.clone(),
            hold: self.hold.hold(),
            mode: if session.is_some() { Mode::Buy } else { Mode::ReplayOnly },
            session: session.cloned(),
        }
    }

    async fn end_overdue(
        &self,
        epoch: Epoch,
        overdue: &[(CustomerKey, OrderId)],
    ) -> Result<bool, Failure> {
        let Self { orders, partitions, inventory, .. } = self;
        let expiry = Expiry { orders, partitions, inventory, epoch };
        expiry.end_overdue(overdue, clock::now()).await.map_err(|error| {
            let is_retryable = error.is_retryable();
            Failure::at_store(error, is_retryable)
        })
    }

    async fn event_now(&self, event: &Event) -> Result<Arc<Event>, Failure> {
        let event = self.events.event_renewed(&event.id).await.or_fail()?;
        event.ok_or_else(answer::unknown_event)
    }

    /// The mark is raised durably first: serials that Redis issues below a mark
    /// it alone knows would look fresh after a loss.
    async fn grant(
        &self,
        event: &Event,
        ticket_type: &domain::TicketTypeId,
        to: u32,
    ) -> Result<(), Failure> {
        let mark = self.catalog.mark_raise(&event.id, ticket_type, to).await;
        let mark = mark.or_fail()?;
        reached(RESERVATION_MARK_RAISED).await;
        let raised = self.inventory.mark_raise(&event.id, event.epoch, ticket_type, mark).await;
        // Whatever it did, the next reply shows where the mark stands.
        raised.map(|_| ()).or_fail()
    }
}

fn wanted_of(request: &PlaceOrder, ticket_type: &domain::TicketTypeId) -> u32 {
    let line = request.lines.iter().find(|line| line.ticket_type == *ticket_type);
    match line.map(|line| &line.wanted) {
        Some(Wanted::Quantity(quantity)) => *quantity,
        Some(Wanted::Seats(_)) | None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_remedy_is_tried_for_ever_and_none_uses_up_another() {
        let mut patience = Patience::FRESH;
        let rounds = (0..1_000).filter(|_| patience.allows(&Remedy::Overdue(vec![]))).count();
        assert_eq!(rounds, 20);
        assert!(patience.allows(&Remedy::Epoch));
        assert!(!patience.allows(&Remedy::Epoch));
        let lapses = (0..1_000).filter(|_| patience.allows(&Remedy::None)).count();
        assert_eq!(lapses, 100);
    }
}
