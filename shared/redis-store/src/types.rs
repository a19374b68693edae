//! What goes into the scripts and what comes out of them.

use std::time::Duration;

use domain::{
    CustomerId, CustomerKey, Epoch, EventId, Fingerprint, Line, LogPosition, OrderId, OrderLine,
    OrderLines, QueueSettings, SaleSwitch, SaleWindow, SeatLabel, SessionId, TicketKind,
    TicketTypeId, UnitId, UnitState,
};
use jiff::Timestamp;

/// Which inventory an event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// This epoch sells.
    Active(Epoch),
    /// This epoch is being loaded; nothing sells.
    Building(Epoch),
}

/// The sale of an event, as the till needs it. Absolute; newer versions only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaleControl {
    /// What the operator last said.
    pub switch: SaleSwitch,
    /// When it sells.
    pub window: SaleWindow,
    /// Units one customer can have over all types.
    pub limit_per_customer: Option<u32>,
    /// The event's version.
    pub version: u64,
}

/// A ticket type, as the till needs it. Price and limit: newer versions only;
/// ceiling and mark only grow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeControl {
    /// The type.
    pub id: TicketTypeId,
    /// Its position among the event's types, from 1.
    pub index: u8,
    /// General admission or seats.
    pub kind: TicketKind,
    /// The price of one unit, in minor units.
    pub amount: i64,
    /// The type's version.
    pub version: u64,
    /// Units of it one customer can have.
    pub limit_per_customer: Option<u32>,
    /// The serial space. For seats it follows from the seats added; 0 is fine.
    pub ceiling: u32,
    /// Serials below it may be issued. Ignored for seats.
    pub mark: u32,
}

/// What an absolute, versioned write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It stands now.
    Applied,
    /// Something newer, or the same, stood there.
    Ignored,
    /// Another epoch is the active one, or none is there.
    StaleEpoch,
}

/// An order that an inventory is built with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedOrder {
    /// The order.
    pub order: OrderId,
    /// Who owns it.
    pub customer: CustomerKey,
    /// What was asked for.
    pub fingerprint: Fingerprint,
    /// Its version.
    pub version: u64,
    /// What it is; live ones own their units.
    pub standing: SettleStanding,
    /// Its units.
    pub lines: Vec<OrderLine>,
}

/// What a build has to have loaded before it may sell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedCounts {
    /// Owned units.
    pub units: u64,
    /// Orders.
    pub orders: u64,
}

/// Who reserves, and how much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A fan with a valid admission.
    Buy,
    /// A fan without one: finds the hold there is, and takes nothing.
    ReplayOnly,
    /// An operator takes units out of sale: no window, no limit, no session.
    Withdraw,
}

/// The shopping session an order is placed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session.
    pub id: SessionId,
    /// When its token expires, by the token.
    pub expires_at: Timestamp,
}

/// A wish for units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserve {
    /// The event.
    pub event: EventId,
    /// The epoch the caller knows.
    pub epoch: Epoch,
    /// The order.
    pub order: OrderId,
    /// Who it is for.
    pub customer: CustomerKey,
    /// What is wanted, as a hash.
    pub fingerprint: Fingerprint,
    /// What is wanted.
    pub lines: OrderLines,
    /// How long the hold lasts.
    pub hold: Duration,
    /// Who reserves.
    pub mode: Mode,
    /// The session, in [`Mode::Buy`].
    pub session: Option<Session>,
}

/// A question whether units could be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The event.
    pub event: EventId,
    /// The epoch the caller knows.
    pub epoch: Epoch,
    /// Who it is for: what this customer has already is in nobody's way.
    pub customer: CustomerKey,
    /// What is wanted: as many places as one likes, or as many seats as an order has.
    pub line: Line,
}

/// Units that are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The units and the prices they were held at.
    pub lines: Vec<OrderLine>,
    /// When the hold lapses. It was made the hold time before.
    pub expires_at: Timestamp,
}

/// What a wish for units led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reservation {
    /// The units are held now.
    Held(Hold),
    /// They were held (or persisted) before under this order.
    Replayed(Hold),
    /// The order exists with another content.
    Mismatch,
    /// The order's hold has lapsed; this id never holds again in this epoch.
    Lapsed,
    /// The order has ended.
    Ended,
    /// [`Mode::ReplayOnly`], and nothing is there.
    NotFound,
    /// There is no inventory, or one is being built.
    Unavailable,
    /// Another epoch is the active one.
    StaleEpoch {
        /// That one.
        active: Epoch,
    },
    /// The window has not opened, or the sale never was.
    NotOpen {
        /// When the window opens.
        opens_at: Timestamp,
    },
    /// The sale is over.
    Closed,
    /// The sale is stopped for now.
    Paused,
    /// The session has ended, or its token has expired by Redis' clock.
    SessionEnded,
    /// More than one customer can have.
    OverLimit {
        /// The type whose limit it is; none: the limit over all types.
        ticket_type: Option<TicketTypeId>,
        /// The limit.
        limit: u32,
    },
    /// This customer has too many orders on record.
    TooManyOrders,
    /// Short, but lapsed holds remain to be given back: ask again.
    Again,
    /// Short, but these persisted orders are overdue: expire them, ask again.
    Overdue(Vec<(CustomerKey, OrderId)>),
    /// Serials are issued up to the mark: raise it durably, then here, ask again.
    GrantNeeded {
        /// The type.
        ticket_type: TicketTypeId,
        /// Its mark.
        mark: u32,
        /// Its ceiling.
        ceiling: u32,
    },
    /// Short while units are withheld by a recovery.
    Recovering,
    /// Not enough left of a line's type.
    SoldOut {
        /// Which line, in canonical order.
        line: usize,
    },
    /// Others have seats of a line.
    SeatTaken {
        /// Which line.
        line: usize,
        /// Those seats.
        seats: Vec<SeatLabel>,
    },
    /// The event has no such type.
    UnknownType {
        /// Which line.
        line: usize,
    },
    /// The type has no such seats.
    UnknownSeat {
        /// Which line.
        line: usize,
        /// Those seats.
        seats: Vec<SeatLabel>,
    },
    /// Seats of general admission, or a quantity of reserved seating.
    WrongKind {
        /// Which line.
        line: usize,
    },
}

/// What DynamoDB says an order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleStanding {
    /// Owns its units; to be paid by then, where it is not paid yet.
    Live {
        /// By when.
        pay_by: Option<Timestamp>,
    },
    /// Owns its units: they are out of sale.
    Withdrawn,
    /// Owns nothing.
    Ended,
}

/// An order's DynamoDB item, for Redis to agree with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// The event.
    pub event: EventId,
    /// The active epoch the caller saw before it read the item.
    pub epoch: Epoch,
    /// The order.
    pub order: OrderId,
    /// The epoch its units were held in.
    pub order_epoch: Epoch,
    /// Who owns it.
    pub customer: CustomerKey,
    /// What was asked for.
    pub fingerprint: Fingerprint,
    /// The item's version.
    pub version: u64,
    /// What it is.
    pub standing: SettleStanding,
    /// Its units.
    pub lines: Vec<OrderLine>,
    /// Whether the item was read consistently after `epoch` was seen.
    pub reread: bool,
}

impl Settle {
    /// From an order as it was read.
    #[must_use]
    pub fn of(order: &domain::Order, epoch: Epoch, reread: bool) -> Self {
        let standing = match (order.state, order.state.standing()) {
            (_, domain::Standing::Ended) => SettleStanding::Ended,
            (domain::OrderState::Withdrawn, domain::Standing::Live) => SettleStanding::Withdrawn,
            (_, domain::Standing::Live) => SettleStanding::Live { pay_by: order.pay_by },
        };
        Self {
            event: order.event.clone(),
            epoch,
            order: order.id,
            order_epoch: order.epoch,
            customer: CustomerId::key(&order.customer),
            fingerprint: order.fingerprint,
            version: order.version,
            standing,
            lines: order.lines.clone(),
            reread,
        }
    }
}

/// What settling did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Redis agrees now.
    Applied,
    /// Redis knew this version or a later one.
    Ignored,
    /// A unit belongs to another order that is live in Redis: one of the two is
    /// stale. Read both items again and settle both.
    Conflict {
        /// Whose order it is.
        customer: CustomerKey,
        /// The other order.
        order: OrderId,
    },
    /// A live order of this epoch is unknown here: Redis has lost writes.
    Lost,
    /// An order of an older epoch: read its item again, consistently, and say so.
    Reread,
    /// Another epoch is the active one.
    StaleEpoch {
        /// That one.
        active: Epoch,
    },
    /// There is no inventory, or one is being built.
    Unavailable,
}

/// What giving back a hold did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// The order held units until now.
    GivenBack,
    /// It held some once: they were given back before, or persisted.
    NoHold,
    /// Nothing is known of the order: it never held in this epoch.
    Unknown,
    /// Another epoch is the active one.
    StaleEpoch {
        /// That one.
        active: Epoch,
    },
    /// There is no inventory, or one is being built.
    Unavailable,
}

/// The answer to who asks for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// This is known of it.
    Known(OrderRecord),
    /// This epoch knows no such order.
    Unknown,
    /// Another epoch is the active one.
    StaleEpoch {
        /// That one.
        active: Epoch,
    },
    /// There is no inventory, or one is being built.
    Unavailable,
}

/// What Redis knows of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRecord {
    /// What it is.
    pub state: RecordState,
    /// What was asked for: the part of the fingerprint that Redis keeps.
    pub fingerprint: [u8; 16],
    /// When its hold lapses (or lapsed), or by when it is to be paid.
    pub expires_at: Timestamp,
    /// Its units; empty once they are given back.
    pub lines: Vec<OrderLine>,
}

/// The state of an order in Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    /// Held, not persisted.
    Held,
    /// Persisted.
    Live,
    /// Taken out of sale.
    Withdrawn,
    /// Its hold has lapsed.
    Lapsed,
    /// Ended.
    Ended,
}

/// The counts of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeCounts {
    /// The type.
    pub ticket_type: TicketTypeId,
    /// The serial space.
    pub ceiling: u32,
    /// What can be had now.
    pub remaining: u32,
    /// Held, not persisted.
    pub held: u32,
    /// Persisted.
    pub sold: u32,
    /// Out of sale.
    pub withdrawn: u32,
}

/// A contiguous range of seats of one type (a section).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatRange {
    /// The type.
    pub ticket_type: TicketTypeId,
    /// The index of the first seat.
    pub first: u32,
    /// How many seats.
    pub count: u32,
}

/// All seats of some ranges, and what remains, at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Where the log stood.
    pub position: LogPosition,
    /// Of every type.
    pub counts: Vec<TypeCounts>,
    /// A list for each range asked for, in that order.
    pub states: Vec<Vec<UnitState>>,
}

/// One seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatStatus {
    /// Can be had.
    Free,
    /// Held for so long still.
    Held {
        /// When the hold lapses.
        until: Timestamp,
        /// How long that is, by Redis' clock.
        remaining: Duration,
    },
    /// Persisted.
    Sold,
    /// Out of sale.
    Withdrawn,
    /// No such seat.
    Unknown,
    /// There is no inventory.
    Unavailable,
}

/// A unit's new state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitChange {
    /// The index of its type.
    pub type_index: u8,
    /// Its index within the type.
    pub unit_index: u32,
    /// The state.
    pub state: UnitState,
}

/// What the log says after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// All of `(after, to]`, in order.
    Entries {
        /// The last sequence these entries cover.
        to: LogPosition,
        /// Seats, in order; a seat can be in it more than once.
        units: Vec<UnitChange>,
        /// Indexes of general admission types whose counts changed.
        counts: Vec<u8>,
        /// Whether the log has more after `to`.
        more: bool,
    },
    /// The position is of another log, or too old: take a snapshot.
    Gap {
        /// Where the log stands.
        now: LogPosition,
    },
    /// There is no inventory, another epoch is active, or one is being built.
    Unavailable,
}

/// The settings a waiting room runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSettings {
    /// The settings.
    pub settings: QueueSettings,
    /// Their version; newer ones only.
    pub version: u64,
    /// The line that is begun with these, where there is none.
    pub generation: u64,
}

/// The public state of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineStatus {
    /// The line.
    pub generation: u64,
    /// The highest number called.
    pub serving: u32,
    /// The highest number given.
    pub issued: u32,
    /// How many shop.
    pub active: u32,
    /// How many are called and not in yet.
    pub called: u32,
    /// How many still wait.
    pub waiting: u32,
    /// The settings it runs with.
    pub settings: QueueSettings,
    /// Their version.
    pub version: u64,
}

/// A unit by the label or serial that fans see, and where it is in its array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedUnit {
    /// The unit.
    pub unit: UnitId,
    /// Its index within the type.
    pub index: u32,
}
