//! Changing the size of a ticket type that was never on sale.

use domain::{EventId, TicketType};
use receipts::{Reason, Transacted, transact};
use serde::Serialize;

use super::CatalogStore;
use super::event::event_key;
use super::ticket_type::{Details, type_key, type_of};
use crate::StoreError;
use crate::table::{Change, Guard, encode, no_item, step};

/// Only who read the version before may write the one after it.
const IS_VERSION_BEFORE: &str = "#version = :before";
/// No inventory of the event was ever begun.
const IS_NEVER_ON_SALE: &str = "#epoch = :none";

/// Where units will be found.
#[derive(Serialize)]
struct Spread {
    partitions: u32,
}

/// What changing the size came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketTypeResized {
    /// It is so now.
    Resized,
    /// Someone else edited it first; this is what stands there.
    VersionMismatch(TicketType),
    /// There is no such type.
    Missing,
    /// An inventory was begun: from then on a ceiling only grows.
    OnSale,
}

impl CatalogStore {
    /// As [`Self::ticket_type_update`], but the ceiling may sink, and the partitions are
    /// written with it: until an inventory is begun (which raises the event's epoch) no
    /// serial can have been given to anybody. Both are checked in one transaction.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown.
    pub async fn ticket_type_resize(
        &self,
        event: &EventId,
        ticket_type: &TicketType,
    ) -> Result<TicketTypeResized, StoreError> {
        let details = Details::of(ticket_type);
        let before =
            Guard::new(IS_VERSION_BEFORE).value(":before", ticket_type.version.saturating_sub(1));
        let mut resized = encode(&details)?;
        resized.extend(encode(&Spread { partitions: ticket_type.partitions })?);
        let resize = Change::set(resized);
        let never_on_sale = Guard::new(IS_NEVER_ON_SALE).value(":none", 0u64);
        let nothing = Change::new("SET #epoch = :none");
        let type_key = type_key(event, &ticket_type.id);
        let steps = vec![
            step::update(&self.table, &type_key, &resize, &before)?,
            step::update(&self.table, &event_key(event), &nothing, &never_on_sale)?,
        ];
        let (failures, error) = match transact(self.table.client(), steps).await? {
            Transacted::Done => return Ok(TicketTypeResized::Resized),
            Transacted::Cancelled { failures, error } => (failures, error),
        };
        let mut failures = failures.into_iter();
        match (failures.next(), failures.next()) {
            (_, Some(event)) if event.reason == Reason::ConditionFailed => {
                event.present.ok_or_else(no_item)?;
                Ok(TicketTypeResized::OnSale)
            }
            (Some(type_failure), _) if type_failure.reason == Reason::ConditionFailed => {
                let Some(present) = type_failure.present else {
                    return Ok(TicketTypeResized::Missing);
                };
                let present = type_of(present)?;
                // The same: the reply to our write was lost and the SDK sent it again.
                let ours = Details::of(&present) == details;
                Ok(match ours {
                    true => TicketTypeResized::Resized,
                    false => TicketTypeResized::VersionMismatch(present),
                })
            }
            _ => Err(error),
        }
    }
}
