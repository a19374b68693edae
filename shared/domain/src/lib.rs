//! The rules of a sale, and nothing else.
//!
//! **Architecture invariant:** this crate knows no AWS, no Redis, no async
//! runtime and no clock. Time is always passed in, so every rule can be tested
//! at any instant and gives the same answer on every machine.
//!
//! The words here are the words of the public interface: an *event* sells
//! *ticket types*; a ticket is a *unit* of a type (a seat, or a serial number
//! of general admission); an *order* holds units and ends paid or given back.

mod event;
mod hashing;
mod ids;
mod lines;
mod live;
mod money;
mod order;
mod queue;
mod recent;
mod seat_map;
mod unit;

pub use event::{
    Event, HoldTime, PriceTag, SaleCommand, SaleState, SaleSwitch, SaleWindow, TicketKind,
    TicketType, Venue,
};
pub use ids::{
    ConnectionId, CustomerId, CustomerKey, Epoch, EventId, FINGERPRINT_VERSION, Fingerprint,
    IdempotencyKey, InvalidId, Operation, OrderId, SeatLabel, SectionId, SessionId, TicketTypeId,
    WithdrawalId,
};
pub use lines::{InvalidLines, Line, LineProblem, MAX_UNITS_PER_ORDER, OrderLines, Wanted};
pub use live::{ChainStep, LogPosition};
pub use money::{Currency, InvalidMoney, Money};
pub use order::{Intent, Order, OrderLine, OrderState, Rejection, Standing};
pub use queue::{Place, PlaceState, QueueSettings, WaitEstimate, estimate_wait, poll_seconds};
pub use recent::{is_fresh, is_recent};
pub use seat_map::{InvalidSeatMap, MAX_SEATS_PER_SECTION, Row, Section, SectionSpan};
pub use unit::{OwnedUnit, UnitId, UnitState, mark_block, partition_count, partition_of};
