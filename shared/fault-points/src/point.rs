//! The places. Each stands between two steps of which the second may never come: those
//! of handlers once in the code, those of stores wherever the same was done.

use std::fmt;

/// A named place between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point(&'static str);

impl Point {
    /// Its name: the function or the store, then what has just been done.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: Point = Point($text);)*

        /// All of them: a test that goes through this list can't forget one.
        pub const ALL: &[Point] = &[$($name),*];
    };
}

points! {
    /// The order was read, nothing else happened.
    RESERVATION_READ = "reservation/read";
    /// A durable mark was raised, Redis doesn't know it.
    RESERVATION_MARK_RAISED = "reservation/mark-raised";
    /// An overdue order was ended in DynamoDB, Redis doesn't know it.
    EXPIRY_ENDED = "expiry/ended";
    /// The script has held the units, no message was sent.
    RESERVATION_HELD = "reservation/held";
    /// The message was sent, the fan has no answer.
    RESERVATION_SENT = "reservation/sent";
    /// The script has refused, the refusal is not stored.
    RESERVATION_DECIDED = "reservation/decided";
    /// The refusal is stored, the fan has no answer.
    RESERVATION_REFUSED = "reservation/refused";
    /// An intent came, nothing was done about it.
    PERSISTENCE_BEGUN = "order-persistence/begun";
    /// Order and units are committed, Redis doesn't know it.
    PERSISTENCE_COMMITTED = "order-persistence/committed";
    /// Redis knows it, the message is not acknowledged.
    PERSISTENCE_SETTLED = "order-persistence/settled";
    /// The owner of a unit that was taken is settled, the loser is not refused.
    PERSISTENCE_OWNER_SETTLED = "order-persistence/owner-settled";
    /// A refusal is stored, its hold is not given back.
    PERSISTENCE_REFUSED = "order-persistence/refused";
    /// A poisoned intent is in the dead-letter queue, the message is not acknowledged.
    PERSISTENCE_BURIED = "order-persistence/buried";
    /// A change was read from the stream, nothing was done about it.
    PROJECTOR_BEGUN = "order-projector/begun";
    /// Redis agrees with it, nobody was told.
    PROJECTOR_SETTLED = "order-projector/settled";
    /// What can't be settled now is in the retry queue, the record is not done with.
    PROJECTOR_DEFERRED = "order-projector/deferred";
    /// Watchers are nudged, the record is not done with.
    PROJECTOR_NUDGED = "order-projector/nudged";
    /// A dead letter came, nothing was done about it.
    DEAD_LETTERS_BEGUN = "dead-letters/begun";
    /// The order of a dead letter is ended, its hold is not given back.
    DEAD_LETTERS_ENDED = "dead-letters/ended";
    /// The hold is given back, the fan is not told.
    DEAD_LETTERS_RELEASED = "dead-letters/released";
    /// The fan is told, the letter is not kept.
    DEAD_LETTERS_TOLD = "dead-letters/told";
    /// The letter is kept, its message is not acknowledged.
    DEAD_LETTERS_KEPT = "dead-letters/kept";
    /// An order and its units are written, or what was there is read.
    TABLES_PERSISTED = "dynamo-store/persisted";
    /// A refusal is written, or what was there is read.
    TABLES_REFUSED = "dynamo-store/refused";
    /// An order is ended, or what it is by now is read.
    TABLES_ENDED = "dynamo-store/ended";
    /// A durable mark is raised.
    TABLES_MARK_RAISED = "dynamo-store/mark-raised";
    /// The script has decided about a wish.
    REDIS_RESERVED = "redis-store/reserved";
    /// The script has settled an order.
    REDIS_SETTLED = "redis-store/settled";
    /// The script has given back a hold, or there was none.
    REDIS_RELEASED = "redis-store/released";
    /// A queue has a message.
    QUEUES_SENT = "queues/sent";
}
