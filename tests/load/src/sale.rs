//! Events to reserve places of.

use std::time::Duration;

use domain::{
    CustomerId, Epoch, EventId, Fingerprint, IdempotencyKey, Line, Operation, OrderId, OrderLines,
    SaleSwitch, SaleWindow, SessionId, TicketKind, TicketTypeId, Wanted,
};
use jiff::Timestamp;
use redis_store::{
    Inventory, LoadedCounts, Mode, Reservation, Reserve, SaleControl, Session, TypeControl,
    pipelined,
};

use crate::error::BenchError;
use crate::pipeline::{self, Command};
use crate::resp::Kind;

const EPOCH: Epoch = Epoch(1);
const TICKET_TYPE: &str = "floor";

/// An event with one type of places, on sale; one is held.
pub(crate) struct Sale {
    event: EventId,
    /// The number of the next fan: each buys once.
    fans: u32,
}

impl Sale {
    /// Opens the sale of so many places, and holds one.
    pub(crate) async fn open(
        inventory: &Inventory,
        name: &str,
        places: u32,
    ) -> Result<Self, BenchError> {
        let event = EventId::parse(name)?;
        let window = SaleWindow { opens_at: Timestamp::UNIX_EPOCH, closes_at: far_off() };
        let switch = SaleSwitch::Open;
        let sale = SaleControl { switch, window, limit_per_customer: Some(4), version: 1 };
        let floor = TypeControl {
            id: TicketTypeId::parse(TICKET_TYPE)?,
            index: 1,
            kind: TicketKind::GeneralAdmission,
            amount: 8_800,
            version: 1,
            limit_per_customer: None,
            ceiling: places,
            mark: places,
        };
        inventory.build_begin(&event, EPOCH).await?;
        inventory.sale_set(&event, EPOCH, &sale).await?;
        inventory.type_set(&event, EPOCH, &floor).await?;
        let nothing = LoadedCounts { units: 0, orders: 0 };
        inventory.activate(&event, EPOCH, nothing).await?;
        // The first of all goes the long way; it also shows that the sale is on.
        let sale = Self { event, fans: 1 };
        let reply = inventory.reserve(&sale.wish(0)?).await?;
        if let Reservation::Held(_) = reply {
            return Ok(sale);
        }
        let what = "the first reservation".to_owned();
        Err(BenchError::Unexpected { what, reply: format!("{reply:?}") })
    }

    /// The reservations of the next so many fans: a place each, in a session.
    pub(crate) fn reservations(&mut self, count: u32) -> Result<Vec<Command>, BenchError> {
        let fans = self.fans..self.fans + count;
        self.fans = fans.end;
        fans.map(|fan| Ok(pipeline::command(&pipelined::reserve(&self.wish(fan)?)?))).collect()
    }

    /// A reservation, for its script.
    pub(crate) fn wish(&self, fan: u32) -> Result<Reserve, BenchError> {
        let customer = CustomerId::parse(&format!("fan-{fan}"))?;
        let key = IdempotencyKey::parse("benchmark")?;
        let ticket_type = TicketTypeId::parse(TICKET_TYPE)?;
        let lines = OrderLines::new(vec![Line { ticket_type, wanted: Wanted::Quantity(1) }])?;
        Ok(Reserve {
            event: self.event.clone(),
            epoch: EPOCH,
            order: OrderId::derive(&customer, Operation::PlaceOrder, &self.event, &key),
            customer: customer.key(),
            fingerprint: Fingerprint::v1(&lines),
            lines,
            hold: Duration::from_secs(3_600),
            mode: Mode::Buy,
            session: Some(Session {
                id: SessionId::parse(&format!("1-{fan}"))?,
                expires_at: far_off(),
            }),
        })
    }
}

fn far_off() -> Timestamp {
    Timestamp::from_second(4_000_000_000).unwrap_or(Timestamp::MAX)
}

/// Whether a reply to a reservation says that the place is held.
pub(crate) fn is_held(kind: Kind) -> bool {
    matches!(kind, Kind::Text(length) if length > 1)
}

/// Whether it says that nothing is left.
pub(crate) fn is_sold_out(kind: Kind) -> bool {
    kind == Kind::Text(1)
}
