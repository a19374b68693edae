//! Commands about a sale that were carried out: pk `event#<event>`, sk
//! `command#<operator and key, as a hash>`. Each is the receipt of its key: an "open"
//! that is sent again after somebody paused the sale must not open it again.

use std::time::Duration;

use domain::{Event, EventId, SaleCommand, SaleSwitch};
use receipts::{Claim, Fingerprint, Outcome, Patience, Receipts};
use serde::{Deserialize, Serialize};

use super::event::{Details, IS_VERSION_BEFORE, event_key};
use super::{CatalogStore, key};
use crate::StoreError;
use crate::table::{Change, Guard, Item, Key, decode, encode, step};

/// While a transaction is at an event's item, DynamoDB takes no other: of many
/// operators who press a button at once, most are in each other's way.
const PATIENCE: Patience = Patience { tries: 6, time_left: Duration::from_secs(5) };

/// What a command says is all its content.
const FINGERPRINT_VERSION: u8 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    switch: SaleSwitch,
}

fn command_key(event: &EventId, command: &SaleCommand) -> Key {
    key(event, format!("command#{:032x}", command.key))
}

fn switch_of(item: Item) -> Result<SaleSwitch, StoreError> {
    decode("sale command", item).map(|Record { switch }| switch)
}

/// What a command came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaleCommanded {
    /// It is carried out, now.
    New,
    /// One of this key was carried out before, and said this.
    Before(SaleSwitch),
    /// Someone else edited the event first, or there is none. Nothing was written.
    VersionMismatch,
}

impl CatalogStore {
    /// What the command of this key said, where one was carried out; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn sale_command_fetch(
        &self,
        event: &EventId,
        command: &SaleCommand,
    ) -> Result<Option<SaleSwitch>, StoreError> {
        let item = self.table.get(&command_key(event, command), true).await?;
        item.map(switch_of).transpose()
    }

    /// Carries a command out: `event` is as it is afterwards, version + 1. Event and
    /// command are written both or neither, and no key a second time.
    ///
    /// # Errors
    /// When DynamoDB fails or others are in the way all the time; the outcome may be
    /// unknown, repeating is safe.
    pub async fn sale_command_put(
        &self,
        event: &Event,
        command: &SaleCommand,
    ) -> Result<SaleCommanded, StoreError> {
        let change = Change::set(encode(&Details::of(event))?);
        let before =
            Guard::new(IS_VERSION_BEFORE).value(":before", event.version.saturating_sub(1));
        let fingerprint = Fingerprint::new(FINGERPRINT_VERSION, command.switch.as_str());
        let claim = Claim::new(command_key(&event.id, command).to_item(), fingerprint)
            .storing(encode(&Record { switch: command.switch })?)
            .work(step::update(&self.table, &event_key(&event.id), &change, &before)?);
        let receipts = Receipts::new(self.table.client().clone(), self.table.name());
        match receipts.claim(&claim, PATIENCE).await? {
            Outcome::New => Ok(SaleCommanded::New),
            Outcome::Replayed(present) | Outcome::Mismatch(present) => {
                switch_of(present).map(SaleCommanded::Before)
            }
            Outcome::WorkRefused(_) => Ok(SaleCommanded::VersionMismatch),
        }
    }
}
