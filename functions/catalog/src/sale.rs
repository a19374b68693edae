//! The sale: open, paused, closed. Commands are absolute, and each is carried
//! out once: an "open" that was lost on the way and comes again after a "paused"
//! must not open the sale again.

use std::sync::Arc;

use axum::extract::State;
use contracts::catalog::SaleEdit;
use contracts::problem::{Reason, Text};
use domain::{Event, EventId, SaleCommand, SaleSwitch};
use dynamo_store::EventUpdated;
use http::{HeaderMap, StatusCode};
use lambda_kit::http::{Answer, Failure, JsonBody, Operator, PathId, idempotency_key};
use store_failures::OrFail;

use crate::catalogue::{Catalogue, unknown_event};
use crate::event;
use crate::stock::{self, sync};

/// So often another edit may come between reading and writing: of fifty operators
/// who press a button at once, each is carried out.
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
    for _ in 0..ATTEMPTS {
        let mut event = catalogue.event(id).await?;
        match event.commanded(command.key) {
            Some(switch) if switch == command.switch => return Ok(event),
            Some(_) => return Err(Reason::KeyReused.into()),
            None => {}
        }
        if command.switch == SaleSwitch::Open {
            event = stock::loaded(catalogue, id).await?;
            if event.commanded(command.key).is_some() {
                continue;
            }
        }
        event.command(command.clone());
        event.version = event.version.saturating_add(1);
        match catalogue.store.event_update(&event).await.or_fail()? {
            EventUpdated::Updated => return Ok(event),
            EventUpdated::VersionMismatch(_) => {}
            EventUpdated::Missing => return Err(unknown_event()),
        }
    }
    Err(Failure::new(Reason::Unavailable).with_detail(Text::TooManyEdits))
}
