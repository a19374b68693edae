//! Many types under any names: each is sold as itself, whichever way a
//! reservation goes through the script.

use std::cell::Cell;

use domain::EventId;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis_server::Engine;
use redis_store::{LoadedCounts, Reservation, Reserve, TypeControl};

use crate::till::*;

/// Types by name, in the order of their indexes: each of another price, and of
/// one to three places.
fn controls(names: &[String]) -> Vec<TypeControl> {
    let control = |(index, name): (u8, &String)| {
        let ceiling = u32::from(index) % 3 + 1;
        TypeControl {
            id: kind(name),
            index,
            amount: 1_000 + i64::from(index),
            version: u64::from(index),
            ..floor(ceiling, ceiling)
        }
    };
    (1..).zip(names).map(control).collect()
}

/// Up to a hundred names. Half of them are a character or two: those are what an
/// index's byte may be taken for.
fn names() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof!["[A-Za-z0-9_-]{1,2}", "[A-Za-z0-9_-]{1,64}"];
    let names = prop::collection::btree_set(name, 1..=100);
    names.prop_map(|names| names.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

/// An event in which reservations go the fast way, or none does.
struct Sale<'a> {
    till: &'a Till,
    event: EventId,
    fast: bool,
}

impl Sale<'_> {
    async fn open(&self, types: &[TypeControl]) {
        let (inventory, event) = (&self.till.inventory, &self.event);
        inventory.build_begin(event, EPOCH).await.unwrap();
        inventory.sale_set(event, EPOCH, &sale(1)).await.unwrap();
        // The fast way is taken only where somebody holds something.
        let busy = TypeControl { id: kind("busy-busy"), index: 101, ..floor(1, 1) };
        for control in types.iter().chain([&busy]) {
            inventory.type_set(event, EPOCH, control).await.unwrap();
        }
        let nothing = LoadedCounts { units: 0, orders: 0 };
        assert!(inventory.activate(event, EPOCH, nothing).await.unwrap());
        assert!(matches!(self.ask(0, "busy-busy", 1).await, Reservation::Held(_)));
    }

    async fn ask(&self, fan: u32, name: &str, quantity: u32) -> Reservation {
        let wish = wish(fan, "k", vec![places(name, quantity)]);
        // Without a session a reservation always goes the long way.
        let session = wish.session.clone().filter(|_| self.fast);
        let wish = Reserve { event: self.event.clone(), session, ..wish };
        self.till.reserve(&wish).await
    }

    /// Asks for one place more than a type has, then for all of them.
    async fn buy_out(&self, fan: u32, control: &TypeControl) {
        let (name, all) = (control.id.as_str(), control.ceiling);
        assert_eq!(self.ask(fan, name, all + 1).await, Reservation::SoldOut { line: 0 }, "{name}");
        let reply = self.ask(fan, name, all).await;
        let Reservation::Held(hold) = reply else { panic!("{name}: {reply:?}") };
        let [line] = &hold.lines[..] else { panic!("{hold:?}") };
        assert_eq!(
            (&line.ticket_type, line.unit_amount, line.price_version),
            (&control.id, control.amount, control.version)
        );
        assert_eq!(serials(&hold.lines), (0..all).collect::<Vec<_>>(), "{name}");
    }
}

async fn sell(till: &Till, number: u32, names: &[String], strangers: &[String]) {
    let types = controls(names);
    for fast in [true, false] {
        let event = EventId::parse(&format!("show-{number}-{fast}")).unwrap();
        let sale = Sale { till, event, fast };
        sale.open(&types).await;
        for stranger in strangers.iter().filter(|name| !names.contains(name)) {
            let reply = sale.ask(1, stranger, 1).await;
            assert_eq!(reply, Reservation::UnknownType { line: 0 }, "{stranger}");
        }
        for (fan, control) in (1..).zip(&types) {
            sale.buy_out(fan, control).await;
        }
        let counts = till.inventory.counts(&sale.event, EPOCH).await.unwrap().unwrap();
        assert_eq!(counts.len(), types.len() + 1);
        assert!(counts.iter().all(|one| (one.remaining, one.held) == (0, one.ceiling)));
    }
}

#[tokio::test]
async fn an_index_that_is_a_letters_byte_is_taken_for_no_types_name() {
    // 48 is the byte of `0`: without a border between index and name, the end of one
    // entry and the begin of the next read `/0/`.
    let first = (1..=47).map(|number| format!("t{number}"));
    let names: Vec<String> = first.chain(["a48", "1b", "0"].map(str::to_owned)).collect();
    for engine in Engine::ALL {
        sell(&Till::open(engine).await, 0, &names, &["t".to_owned()]).await;
    }
}

fn explore(engine: Engine) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let till = runtime.block_on(Till::open(engine));
    let number = Cell::new(0);
    let mut runner =
        TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let strangers = prop::collection::vec("[A-Za-z0-9_-]{1,2}", 0..20);
    let result = runner.run(&(names(), strangers), |(names, strangers)| {
        number.set(number.get() + 1);
        runtime.block_on(sell(&till, number.get(), &names, &strangers));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn the_fast_and_the_long_way_sell_any_types_alike_on_redis() {
    explore(Engine::Redis);
}

#[test]
fn the_fast_and_the_long_way_sell_any_types_alike_on_valkey() {
    explore(Engine::Valkey);
}
