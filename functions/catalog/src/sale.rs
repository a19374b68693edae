//! The sale: open, paused, closed. Commands are absolute, and each is carried
//! out once: an "open" that was lost on the way and comes again after a "paused"
//! must not open the sale again.

use std::sync::Arc;

use axum::extract::State;
use contracts::catalog::SaleEdit;
use contracts::problem::{Reason, Text};
use domain::{Event, EventId, SaleCommand, SaleSwitch};
use dynamo_store::SaleCommanded;
use http::{HeaderMap, StatusCode};
use lambda_kit::http::{Answer, Failure, JsonBody, Operator, PathId, idempotency_key};
use store_failures::OrFail;

use crate::catalogue::Catalogue;
use crate::event;
use crate::stock::{self, sync};

/// So often another edit may come between reading and writing, when many operators press
/// a button at once.
const ATTEMPTS: u32 = 64;

/// `PUT /events/{event}/sale`
pub(crate) async fn write(
    State(catalogue): State<Arc<Catalogue>>,
    Operator(operator): Operator,
    PathId(id): PathId<EventId>,
    headers: HeaderMap,
    JsonBody(edit): JsonBody<SaleEdit>,
) -> Answer {
    let key = idempotency_key(&headers)?;
    let command = SaleCommand::new(&operator, &key, edit.state.into());
    let event = carry_out(&catalogue, &id, &command).await?;
    // Also for a repeat: the first one may have died before it came this far.
    sync::sale(&catalogue, &id).await?;
    Ok(event::answer(StatusCode::OK, &event))
}

async fn carry_out(
    catalogue: &Catalogue,
    id: &EventId,
    command: &SaleCommand,
) -> Result<Event, Failure> {
    let store = &catalogue.store;
    // Also before an "open" loads anything: a key that was used changes nothing.
    if let Some(said) = store.sale_command_fetch(id, command).await.or_fail()? {
        return repeated(catalogue, id, command, said).await;
    }
    for _ in 0..ATTEMPTS {
        let mut event = if command.switch == SaleSwitch::Open {
            stock::loaded(catalogue, id).await?
        } else {
            catalogue.event(id).await?
        };
        event.switch = command.switch;
        event.version = event.version.saturating_add(1);
        match store.sale_command_put(&event, command).await.or_fail()? {
            SaleCommanded::New => return Ok(event),
            SaleCommanded::Before(said) => return repeated(catalogue, id, command, said).await,
            SaleCommanded::VersionMismatch => {}
        }
    }
    Err(Failure::new(Reason::Unavailable).with_detail(Text::TooManyEdits))
}

/// The event as it is now: others may have commanded since.
async fn repeated(
    catalogue: &Catalogue,
    id: &EventId,
    command: &SaleCommand,
    said: SaleSwitch,
) -> Result<Event, Failure> {
    if said != command.switch {
        return Err(Reason::KeyReused.into());
    }
    catalogue.event(id).await
}
