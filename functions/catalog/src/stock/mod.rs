//! Keeping Redis in step with the catalogue: loading an event's inventory when it
//! is first needed, and writing edits after it.
//!
//! ```text
//! raise the epoch (DynamoDB) ─▶ pointer: building n ─▶ read everything, write it under n
//!   ─▶ pointer: active n ─▶ event: activated (DynamoDB) ─▶ the sale opens
//! ```
//!
//! The sale opens last, so an inventory whose event is not marked as activated has
//! sold nothing: whoever finds such a load unfinished may begin another one. Once
//! marked, a missing inventory is a loss, and nothing here touches it.

mod load;
mod settle;
pub(crate) mod sync;

pub(crate) use settle::{settle, settle_later};

use std::time::Duration;

use contracts::problem::{Reason, Text};
use domain::{Epoch, Event, EventId};
use dynamo_store::EventActivated;
use lambda_kit::http::Failure;
use redis_store::Pointer;
use store_failures::OrFail;
use tokio::time::Instant;

use crate::catalogue::Catalogue;

/// A load takes some tens of milliseconds for each thousand seats. Whoever finds
/// one under way gives it this long before it counts as dead.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at somebody else's load; each is twice as long as the last.
const LOOKS: [Duration; 2] = [Duration::from_millis(25), Duration::from_millis(400)];
/// So often a load may be overtaken before the client is asked to come again.
const ATTEMPTS: u32 = 4;

/// How an event and its inventory stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nothing was ever loaded.
    Empty,
    /// Somebody began to load, and may still be at it.
    Loading,
    /// It is active, and the event does not know.
    Unmarked,
    /// It is active.
    Active,
    /// It was active and is gone, or an older one came back.
    Lost,
}

fn standing(event: &Event, pointer: Option<Pointer>) -> Standing {
    let is_active = pointer == Some(Pointer::Active(event.epoch));
    match (event.activated, is_active) {
        (true, true) => Standing::Active,
        (true, false) => Standing::Lost,
        (false, true) => Standing::Unmarked,
        (false, false) if event.epoch.0 == 0 => Standing::Empty,
        (false, false) => Standing::Loading,
    }
}

/// The event with an active inventory, which is loaded where there never was one.
pub(crate) async fn loaded(catalogue: &Catalogue, id: &EventId) -> Result<Event, Failure> {
    let mut attempts = 0;
    let mut wait = Wait::begin(catalogue.patience);
    loop {
        let event = catalogue.event(id).await?;
        let pointer = catalogue.inventory.pointer(id).await.or_fail()?;
        match standing(&event, pointer) {
            Standing::Active => return Ok(event),
            Standing::Lost => return Err(lost()),
            Standing::Unmarked => {
                let marked = catalogue.store.event_activate(id, event.epoch).await.or_fail()?;
                if marked == EventActivated::Activated {
                    return Ok(Event { activated: true, ..event });
                }
            }
            Standing::Loading if wait.goes_on(event.epoch) => wait.look_away().await,
            Standing::Empty | Standing::Loading => {
                if attempts == ATTEMPTS {
                    return Err(Failure::new(Reason::Unavailable));
                }
                attempts += 1;
                load::load(catalogue, &event).await?;
                wait = Wait::begin(catalogue.patience);
            }
        }
    }
}

/// Waiting for somebody else's load. Each load has an epoch of its own, so another
/// epoch is another load, which gets the same time.
struct Wait {
    patience: Duration,
    epoch: Option<Epoch>,
    until: Instant,
    look: Duration,
}

impl Wait {
    fn begin(patience: Duration) -> Self {
        Self { patience, epoch: None, until: Instant::now(), look: LOOKS[0] }
    }

    fn goes_on(&mut self, epoch: Epoch) -> bool {
        if self.epoch != Some(epoch) {
            (self.epoch, self.until) = (Some(epoch), Instant::now() + self.patience);
        }
        Instant::now() < self.until
    }

    async fn look_away(&mut self) {
        tokio::time::sleep(self.look).await;
        self.look = LOOKS[1].min(self.look * 2);
    }
}

/// The inventory is gone, and what it sold with it.
pub(crate) fn lost() -> Failure {
    Failure::new(Reason::Unavailable).with_detail(Text::Recovering)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Currency, SaleSwitch, SaleWindow, Venue};
    use jiff::Timestamp;

    fn event(epoch: u64, activated: bool) -> Event {
        Event {
            id: EventId::parse("show").unwrap(),
            title: String::new(),
            venue: Venue { name: String::new(), city: String::new() },
            time_zone: "UTC".to_owned(),
            starts_at: Timestamp::UNIX_EPOCH,
            window: SaleWindow { opens_at: Timestamp::UNIX_EPOCH, closes_at: Timestamp::MAX },
            currency: Currency::parse("TWD").unwrap(),
            limit_per_customer: None,
            switch: SaleSwitch::Scheduled,
            version: 1,
            epoch: Epoch(epoch),
            activated,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_load_is_waited_for_and_none_for_ever() {
        let mut wait = Wait::begin(PATIENCE);
        let mut looks = 0;
        while wait.goes_on(Epoch(1)) {
            wait.look_away().await;
            looks += 1;
        }
        assert!((5..12).contains(&looks), "{looks}");
        assert!(wait.goes_on(Epoch(2)), "another load gets its own time");
        assert!(!Wait::begin(Duration::ZERO).goes_on(Epoch(1)));
    }

    #[test]
    fn only_an_inventory_that_never_sold_is_loaded_afresh() {
        let (active, building) =
            (|n| Some(Pointer::Active(Epoch(n))), |n| Some(Pointer::Building(Epoch(n))));
        let cases = [
            (0, false, None, Standing::Empty),
            (1, false, None, Standing::Loading),
            (2, false, building(2), Standing::Loading),
            (2, false, building(1), Standing::Loading),
            (2, false, active(1), Standing::Loading),
            (2, false, active(2), Standing::Unmarked),
            (2, true, active(2), Standing::Active),
            (2, true, None, Standing::Lost),
            (2, true, active(1), Standing::Lost),
            (2, true, building(3), Standing::Lost),
        ];
        for (epoch, activated, pointer, expected) in cases {
            assert_eq!(standing(&event(epoch, activated), pointer), expected, "{pointer:?}");
        }
    }
}
