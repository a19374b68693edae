//! Random sequences of all that happens to units, beside a model of a few lines:
//! who owns what, never two, and what each call must answer.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::{EventId, OrderId, OrderLine, UnitId};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis_server::Engine;
use redis_store::{
    Hold, LoadedCounts, Released, Reservation, Reserve, Settle, SettleStanding, Settled,
};

use crate::till::*;

const PLACES: u32 = 7;
const SEATS: u32 = 5;
const LIMIT: usize = 5;

#[derive(Debug, Clone)]
enum Step {
    /// Holds under one of the fan's keys; perhaps so short that it has lapsed
    /// before the next step, although nobody has noticed.
    Buy { fan: u32, key: u8, places: u32, seats: BTreeSet<u32>, lapses: bool },
    /// Settles one of the orders as live; perhaps its time to pay is over.
    Persist { order: prop::sample::Index, overdue: bool },
    /// Settles one of the orders as ended.
    End { order: prop::sample::Index },
    /// Gives back a hold that was not persisted.
    Release { order: prop::sample::Index },
}

fn step() -> impl Strategy<Value = Step> {
    let order = any::<prop::sample::Index>;
    let buy =
        (0..4u32, 0..4u8, 0..4u32, prop::collection::btree_set(0..SEATS, 0..3), any::<bool>());
    prop_oneof![
        4 => buy.prop_filter_map("asks for nothing", |(fan, key, places, seats, lapses)| {
            (places > 0 || !seats.is_empty())
                .then_some(Step::Buy { fan, key, places, seats, lapses })
        }),
        2 => (order(), any::<bool>())
            .prop_map(|(order, overdue)| Step::Persist { order, overdue }),
        1 => order().prop_map(|order| Step::End { order }),
        1 => order().prop_map(|order| Step::Release { order }),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Held,
    Live,
    Lapsed,
    Ended,
}

/// An order that once held: what it asked for and got, and what it is now.
#[derive(Debug, Clone)]
struct Known {
    wish: Reserve,
    lines: Vec<OrderLine>,
    state: State,
    overdue: bool,
    version: u64,
}

impl Known {
    fn is_overdue(&self) -> bool {
        self.state == State::Live && self.overdue
    }
}

#[derive(Default)]
struct Model {
    orders: Vec<Known>,
    owners: BTreeMap<(String, UnitId), OrderId>,
}

/// The orders that a reply names as overdue.
fn named(reply: Reservation) -> BTreeSet<OrderId> {
    let Reservation::Overdue(orders) = reply else { panic!("nothing is overdue: {reply:?}") };
    orders.into_iter().map(|(_, order)| order).collect()
}

fn units_of(lines: &[OrderLine]) -> Vec<(String, UnitId)> {
    let of_line = |line: &OrderLine| {
        let name = line.ticket_type.to_string();
        line.units.iter().map(move |unit| (name.clone(), unit.clone())).collect::<Vec<_>>()
    };
    lines.iter().flat_map(of_line).collect()
}

impl Model {
    fn find(&mut self, id: OrderId) -> Option<&mut Known> {
        self.orders.iter_mut().find(|known| known.wish.order == id)
    }

    fn free_all(&mut self, id: OrderId) {
        self.owners.retain(|_, owner| *owner != id);
    }

    fn owned(&self, name: &str) -> u32 {
        u32::try_from(self.owners.keys().filter(|(of, _)| of == name).count()).unwrap()
    }

    /// Who has what stands in the way of these places and seats; none: nobody.
    fn short_of(&self, places: u32, seats: &BTreeSet<u32>) -> Option<BTreeSet<OrderId>> {
        let is_floor = self.owned("floor") + places > PLACES;
        let wanted = |name: &str, unit: &UnitId| match name {
            "floor" => is_floor && places > 0,
            _ => seats.iter().any(|number| *unit == UnitId::Seat(seat(*number))),
        };
        let owners = self.owners.iter().filter(|((name, unit), _)| wanted(name, unit));
        let owners: BTreeSet<_> = owners.map(|(_, owner)| *owner).collect();
        (!owners.is_empty()).then_some(owners)
    }

    /// What the fan has; of orders that are overdue or not.
    fn has(&self, wish: &Reserve, overdue: bool) -> usize {
        let counts =
            |known: &&Known| known.wish.customer == wish.customer && known.is_overdue() == overdue;
        let ids: Vec<_> = self.orders.iter().filter(counts).map(|known| known.wish.order).collect();
        self.owners.values().filter(|owner| ids.contains(owner)).count()
    }

    /// Those that are overdue, among those that pass.
    fn overdue(&self, passes: impl Fn(&Known) -> bool) -> BTreeSet<OrderId> {
        let overdue = self.orders.iter().filter(|known| known.is_overdue() && passes(known));
        overdue.map(|known| known.wish.order).collect()
    }

    fn counts(&self, name: &str, ceiling: u32) -> [u32; 3] {
        let state = |id: &OrderId| self.orders.iter().find(|known| known.wish.order == *id);
        let owned = self.owners.iter().filter(|((of, _), _)| of == name);
        let held =
            owned.filter(|(_, id)| state(id).is_some_and(|known| known.state == State::Held));
        let held = u32::try_from(held.count()).unwrap();
        let all = self.owned(name);
        [ceiling - all, held, all - held]
    }
}

struct Case<'a> {
    till: &'a Till,
    event: EventId,
    model: Model,
}

impl Case<'_> {
    async fn open(&self) {
        let (inventory, event) = (&self.till.inventory, &self.event);
        inventory.build_begin(event, EPOCH).await.unwrap();
        let limit = u32::try_from(LIMIT).ok();
        let sale = redis_store::SaleControl { limit_per_customer: limit, ..sale(1) };
        inventory.sale_set(event, EPOCH, &sale).await.unwrap();
        inventory.type_set(event, EPOCH, &floor(PLACES, PLACES)).await.unwrap();
        inventory.type_set(event, EPOCH, &stalls()).await.unwrap();
        let labels: Vec<_> = (0..SEATS).map(seat).collect();
        inventory.seats_add(event, EPOCH, &kind("stalls"), 0, &labels).await.unwrap();
        let nothing = LoadedCounts { units: 0, orders: 0 };
        assert!(inventory.activate(event, EPOCH, nothing).await.unwrap());
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Buy { fan, key, places, seats, lapses } => {
                self.buy(fan, key, places, &seats, lapses).await;
            }
            Step::Persist { order, overdue } => self.settle(&order, State::Live, overdue).await,
            Step::End { order } => self.settle(&order, State::Ended, false).await,
            Step::Release { order } => self.release(&order).await,
        }
    }

    async fn buy(&mut self, fan: u32, key: u8, floor: u32, chosen: &BTreeSet<u32>, lapses: bool) {
        let mut lines = Vec::new();
        if floor > 0 {
            lines.push(places("floor", floor));
        }
        if !chosen.is_empty() {
            lines.push(seats(chosen.iter().copied()));
        }
        let mut wish = wish(fan, &key.to_string(), lines);
        wish.event = self.event.clone();
        // Without a session a reservation always goes the long way through the script.
        wish.session = wish.session.filter(|_| key.is_multiple_of(2));
        wish.hold = if lapses { Duration::from_millis(2) } else { LONG };
        let reply = self.till.reserve(&wish).await;
        if let Some(known) = self.model.find(wish.order) {
            // All wishes have one print, so a repeat is one whatever it asks for.
            match known.state {
                State::Held | State::Live => {
                    let Reservation::Replayed(hold) = reply else { panic!("{reply:?}") };
                    assert_eq!(hold.lines, known.lines);
                }
                State::Lapsed => assert_eq!(reply, Reservation::Lapsed),
                State::Ended => assert_eq!(reply, Reservation::Ended),
            }
            return;
        }
        let after = self.model.has(&wish, false) + wish.lines.unit_count();
        if after > LIMIT {
            assert!(matches!(reply, Reservation::OverLimit { .. }), "{reply:?}");
        } else if after + self.model.has(&wish, true) > LIMIT {
            let own = self.model.overdue(|known| known.wish.customer == wish.customer);
            assert_eq!(named(reply), own);
        } else if let Some(owners) = self.model.short_of(floor, chosen) {
            let overdue = self.model.overdue(|known| owners.contains(&known.wish.order));
            if overdue.is_empty() {
                let refused = |reply: &Reservation| {
                    matches!(reply, Reservation::SoldOut { .. } | Reservation::SeatTaken { .. })
                };
                assert!(refused(&reply), "{reply:?}");
            } else {
                assert_eq!(named(reply), overdue);
            }
        } else if let Reservation::Held(hold) = reply {
            self.held(wish, hold, lapses).await;
        } else {
            panic!("to be had, but {reply:?}");
        }
    }

    async fn held(&mut self, wish: Reserve, hold: Hold, lapses: bool) {
        let id = wish.order;
        for unit in units_of(&hold.lines) {
            let before = self.model.owners.insert(unit.clone(), id);
            assert_eq!(before, None, "{unit:?} has two owners");
        }
        let units = units_of(&hold.lines).len();
        assert_eq!(units, wish.lines.unit_count());
        let (state, lines) = (State::Held, hold.lines);
        let mut known = Known { wish, lines, state, overdue: false, version: 0 };
        if lapses {
            self.till.passed(hold.expires_at).await;
            known.state = State::Lapsed;
            self.model.free_all(id);
        }
        self.model.orders.push(known);
    }

    async fn settle(&mut self, order: &prop::sample::Index, state: State, overdue: bool) {
        if self.model.orders.is_empty() {
            return;
        }
        let known = order.get(&self.model.orders).clone();
        let hold = Hold { lines: known.lines.clone(), expires_at: in_ms(0) };
        let mut live = Settle { version: known.version + 1, ..persisted(&known.wish, &hold) };
        if overdue {
            live.standing = SettleStanding::Live { pay_by: Some(in_ms(-1_000)) };
        }
        let id = known.wish.order;
        if state == State::Ended {
            let gone = Settle { version: live.version, ..ended(&live) };
            assert_eq!(self.till.settle(&gone).await, Settled::Applied);
            self.model.free_all(id);
        } else {
            if known.version == 0 && known.state != State::Held {
                assert_eq!(self.till.settle(&live).await, Settled::Reread, "it holds no more");
                live.reread = true;
            }
            let rivals = self.rivals(&known);
            let is_live = |id: &OrderId| {
                self.model.orders.iter().any(|o| o.wish.order == *id && o.state == State::Live)
            };
            if rivals.iter().any(is_live) {
                let reply = self.till.settle(&live).await;
                assert!(
                    matches!(reply, Settled::Conflict { order, .. } if rivals.contains(&order))
                );
                return;
            }
            assert_eq!(self.till.settle(&live).await, Settled::Applied);
            for rival in rivals {
                self.model.free_all(rival);
                self.model.find(rival).unwrap().state = State::Lapsed;
            }
            for unit in units_of(&known.lines) {
                self.model.owners.insert(unit, id);
            }
        }
        let known = self.model.find(id).unwrap();
        known.state = state;
        known.overdue = overdue;
        known.version += 1;
        assert_eq!(self.till.settle(&live).await, Settled::Ignored);
    }

    /// Others who have what this order had.
    fn rivals(&self, known: &Known) -> Vec<OrderId> {
        let units = units_of(&known.lines);
        let owner = |unit| self.model.owners.get(unit).copied();
        units.iter().filter_map(owner).filter(|owner| *owner != known.wish.order).collect()
    }

    async fn release(&mut self, order: &prop::sample::Index) {
        if self.model.orders.is_empty() {
            return;
        }
        let known = order.get(&self.model.orders).clone();
        let wish = &known.wish;
        let inventory = &self.till.inventory;
        let released =
            inventory.release(&self.event, EPOCH, &wish.order, &wish.customer).await.unwrap();
        let freed = released == Released::GivenBack;
        if known.state == State::Held {
            assert!(freed);
            self.model.free_all(wish.order);
            self.model.find(wish.order).unwrap().state = State::Ended;
        } else if freed {
            // It had lapsed, and nobody had noticed before.
            assert_eq!(known.state, State::Lapsed);
            self.model.find(wish.order).unwrap().state = State::Ended;
        }
    }

    async fn compare(&self) {
        let counts = self.till.inventory.counts(&self.event, EPOCH).await.unwrap().unwrap();
        let found: Vec<_> = counts.iter().map(|one| [one.remaining, one.held, one.sold]).collect();
        let model = [self.model.counts("floor", PLACES), self.model.counts("stalls", SEATS)];
        assert_eq!(found, model);
    }
}

fn explore(engine: Engine) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let till = runtime.block_on(Till::open(engine));
    let number = Cell::new(0);
    let mut runner =
        TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec((step(), any::<bool>()), 1..40);
    let result = runner.run(&steps, |steps| {
        number.set(number.get() + 1);
        let event = EventId::parse(&format!("show-{}", number.get())).unwrap();
        let mut case = Case { till: &till, event, model: Model::default() };
        runtime.block_on(async {
            case.open().await;
            // Counting gives back what lapsed: often enough nobody counts for a while.
            for (step, counted) in steps {
                case.take(step).await;
                if counted {
                    case.compare().await;
                }
            }
            case.compare().await;
        });
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn no_sequence_gives_a_unit_two_owners_or_loses_one_on_redis() {
    explore(Engine::Redis);
}

#[test]
fn no_sequence_gives_a_unit_two_owners_or_loses_one_on_valkey() {
    explore(Engine::Valkey);
}
