//! What can be asked of a sale, and at random.

use model::{ORDERS, OrderNo, Sale, Set, UNITS, Wish};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A sale and what happens to it.
#[derive(Debug, Clone)]
pub struct Case {
    /// What is sold, and what each order wants.
    pub sale: Sale,
    /// What happens, in order.
    pub commands: Vec<Command>,
}

/// Whether the function reaches Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redis {
    /// It does.
    Up,
    /// It does not.
    Away,
}

/// Something that happens. An index names one of what there is at that moment;
/// where there is nothing, nothing happens.
#[derive(Debug, Clone)]
pub enum Command {
    /// A fan asks for an order, or asks again with the same key.
    Place(OrderNo),
    /// A fan sends other content under the key of an order.
    PlaceOther(OrderNo),
    /// A fan asks what became of an order.
    Read(OrderNo),
    /// A message of order-intents is delivered: so many copies in one batch, and
    /// perhaps it comes again.
    Deliver {
        /// Which one.
        message: Index,
        /// How often it is in the batch.
        copies: usize,
        /// Its deletion does not come through.
        again: bool,
        /// Whether Redis is there.
        redis: Redis,
    },
    /// A message of order-intents is given up by its queue, and its letter seen to.
    GiveUp(Index),
    /// A record of the stream is delivered, perhaps with all others of its order,
    /// and perhaps it comes again.
    Project {
        /// Which one.
        record: Index,
        /// With the others.
        whole: bool,
        /// The shard goes back to it.
        again: bool,
        /// Whether Redis is there.
        redis: Redis,
    },
    /// A message of settle-retries is delivered.
    Retry(Index),
    /// An order is given up; perhaps whoever does it dies before Redis is told.
    End {
        /// The order.
        order: OrderNo,
        /// Redis is told.
        settles: bool,
    },
    /// The hold of an order lapses.
    Lapse(OrderNo),
    /// An order is not paid in time.
    FallDue(OrderNo),
    /// The functions start anew and remember nothing.
    Restart,
    /// Redis is emptied.
    LoseRedis,
    /// Redis forgets an order.
    Forget(OrderNo),
    /// The inventory is built again from the tables.
    Recover {
        /// Whoever does it dies as soon as the building has begun.
        dies: bool,
    },
}

fn order() -> impl Strategy<Value = OrderNo> {
    (0..u8::try_from(ORDERS).unwrap_or(1)).prop_map(OrderNo)
}

fn redis() -> impl Strategy<Value = Redis> {
    prop_oneof![9 => Just(Redis::Up), 1 => Just(Redis::Away)]
}

fn command() -> impl Strategy<Value = Command> {
    let deliver = (any::<Index>(), 1..3usize, any::<bool>(), redis());
    let project = (any::<Index>(), any::<bool>(), any::<bool>(), redis());
    prop_oneof![
        8 => order().prop_map(Command::Place),
        1 => order().prop_map(Command::PlaceOther),
        2 => order().prop_map(Command::Read),
        8 => deliver.prop_map(|(message, copies, again, redis)| {
            Command::Deliver { message, copies, again, redis }
        }),
        5 => project.prop_map(|(record, whole, again, redis)| {
            Command::Project { record, whole, again, redis }
        }),
        1 => any::<Index>().prop_map(Command::GiveUp),
        2 => any::<Index>().prop_map(Command::Retry),
        3 => (order(), any::<bool>()).prop_map(|(order, settles)| Command::End { order, settles }),
        3 => order().prop_map(Command::Lapse),
        2 => order().prop_map(Command::FallDue),
        1 => Just(Command::Restart),
        1 => Just(Command::LoseRedis),
        1 => order().prop_map(Command::Forget),
        2 => prop::bool::weighted(0.2).prop_map(|dies| Command::Recover { dies }),
    ]
}

fn sale() -> impl Strategy<Value = Sale> {
    let wishes = |units: u8| {
        let places = (1..=units.min(2)).prop_map(Wish::Places);
        let all = usize::from(units);
        let seats = prop::collection::btree_set(0..units, 1..=all.min(2))
            .prop_map(|seats| seats.into_iter().fold(Set::NONE, |set, one| set.or(Set::one(one))))
            .prop_map(Wish::Seats);
        let some = prop_oneof![vec(places, ORDERS), vec(seats, ORDERS)];
        some.prop_map(move |wishes| Sale::of(units, &wishes))
    };
    (1..u8::try_from(UNITS).unwrap_or(2)).prop_flat_map(wishes)
}

/// A sale and what happens to it, at random.
pub fn case() -> impl Strategy<Value = Case> {
    (sale(), vec(command(), 1..40)).prop_map(|(sale, commands)| Case { sale, commands })
}
