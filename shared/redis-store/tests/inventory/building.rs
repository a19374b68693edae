//! Building an inventory, epoch by epoch, and editing it.

use domain::{Epoch, OrderLine, SaleSwitch, UnitId};
use redis_store::{
    LoadedCounts, LoadedOrder, Pointer, Released, Reservation, SettleStanding, TypeControl, Written,
};

use crate::till::*;

fn loaded(number: u32, line: OrderLine) -> LoadedOrder {
    LoadedOrder {
        order: order(number, "k"),
        customer: fan(number),
        fingerprint: PRINT,
        version: 1,
        standing: SettleStanding::Live { pay_by: None },
        lines: vec![line],
    }
}

fn line(name: &str, units: Vec<UnitId>) -> OrderLine {
    OrderLine { ticket_type: kind(name), unit_amount: 1, price_version: 1, units }
}

fn counts(units: u64, orders: u64) -> LoadedCounts {
    LoadedCounts { units, orders }
}

#[tokio::test]
async fn epochs_only_grow() {
    each_engine(async |till: Till| {
        let inventory = &till.inventory;
        assert_eq!(inventory.pointer(&event()).await.unwrap(), None);
        assert!(inventory.build_begin(&event(), Epoch(3)).await.unwrap());
        assert_eq!(inventory.pointer(&event()).await.unwrap(), Some(Pointer::Building(Epoch(3))));
        assert!(inventory.build_begin(&event(), Epoch(3)).await.unwrap(), "a repeat");
        assert!(!inventory.build_begin(&event(), Epoch(2)).await.unwrap());
        assert!(!inventory.activate(&event(), Epoch(2), counts(0, 0)).await.unwrap());
        assert!(inventory.activate(&event(), Epoch(3), counts(0, 0)).await.unwrap());
        assert!(inventory.activate(&event(), Epoch(3), counts(0, 0)).await.unwrap(), "a repeat");
        assert_eq!(inventory.pointer(&event()).await.unwrap(), Some(Pointer::Active(Epoch(3))));
        assert!(!inventory.build_begin(&event(), Epoch(3)).await.unwrap(), "it sells");
        // A slower recoverer can't activate once another began.
        assert!(inventory.build_begin(&event(), Epoch(4)).await.unwrap());
        assert!(inventory.build_begin(&event(), Epoch(5)).await.unwrap());
        assert!(!inventory.activate(&event(), Epoch(4), counts(0, 0)).await.unwrap());
        assert_eq!(inventory.pointer(&event()).await.unwrap(), Some(Pointer::Building(Epoch(5))));
    })
    .await;
}

#[tokio::test]
async fn an_epoch_is_loaded_with_what_is_owned_and_sells_the_rest() {
    each_engine(async |till: Till| {
        let inventory = &till.inventory;
        inventory.build_begin(&event(), EPOCH).await.unwrap();
        inventory.sale_set(&event(), EPOCH, &sale(1)).await.unwrap();
        inventory.type_set(&event(), EPOCH, &floor(6, 6)).await.unwrap();
        inventory.type_set(&event(), EPOCH, &stalls()).await.unwrap();
        inventory
            .seats_add(&event(), EPOCH, &kind("stalls"), 0, &[seat(0), seat(1)])
            .await
            .unwrap();
        inventory.seats_add(&event(), EPOCH, &kind("stalls"), 2, &[seat(2)]).await.unwrap();
        let mut orders = vec![
            loaded(1, line("floor", vec![UnitId::Serial(4), UnitId::Serial(1)])),
            loaded(2, line("stalls", vec![UnitId::Seat(seat(1))])),
        ];
        orders[1].standing = SettleStanding::Withdrawn;
        for _twice in 0..2 {
            assert_eq!(
                inventory.orders_load(&event(), EPOCH, &orders).await.unwrap(),
                Written::Applied
            );
        }
        assert!(!inventory.activate(&event(), EPOCH, counts(3, 3)).await.unwrap());
        assert!(!inventory.activate(&event(), EPOCH, counts(4, 2)).await.unwrap());
        assert!(inventory.activate(&event(), EPOCH, counts(3, 2)).await.unwrap());
        assert_eq!(till.counts("floor").await, [4, 0, 2, 0]);
        assert_eq!(till.counts("stalls").await, [2, 0, 0, 1]);
        let hold = till.hold(&wish(3, "k", vec![places("floor", 4), seats([0, 2])])).await;
        let mut had = serials(&hold.lines);
        had.sort_unstable();
        assert_eq!(had, [0, 2, 3, 5]);
        let late = loaded(9, line("floor", vec![]));
        let written = inventory.orders_load(&event(), EPOCH, &[late]).await.unwrap();
        assert_eq!(written, Written::StaleEpoch, "it sells already");
    })
    .await;
}

#[tokio::test]
async fn an_epoch_with_something_missing_is_not_activated() {
    each_engine(async |till: Till| {
        let inventory = &till.inventory;
        inventory.build_begin(&event(), EPOCH).await.unwrap();
        inventory.type_set(&event(), EPOCH, &floor(6, 6)).await.unwrap();
        let order = loaded(1, line("floor", vec![UnitId::Serial(4)]));
        let rival = loaded(2, line("floor", vec![UnitId::Serial(3), UnitId::Serial(4)]));
        let beyond = loaded(3, line("floor", vec![UnitId::Serial(6)]));
        let orders = [order, rival, beyond];
        inventory.orders_load(&event(), EPOCH, &orders).await.unwrap();
        assert!(!inventory.activate(&event(), EPOCH, counts(4, 3)).await.unwrap());
        assert!(inventory.activate(&event(), EPOCH, counts(1, 1)).await.unwrap());
        // A chunk of seats that was dropped on the way.
        inventory.build_begin(&event(), Epoch(2)).await.unwrap();
        inventory.type_set(&event(), Epoch(2), &stalls()).await.unwrap();
        inventory.seats_add(&event(), Epoch(2), &kind("stalls"), 1, &[seat(1)]).await.unwrap();
        assert!(!inventory.activate(&event(), Epoch(2), counts(0, 0)).await.unwrap());
        inventory.seats_add(&event(), Epoch(2), &kind("stalls"), 0, &[seat(0)]).await.unwrap();
        assert!(inventory.activate(&event(), Epoch(2), counts(0, 0)).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn an_older_epoch_leaves_no_keys_behind() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        till.sold(&wish(1, "k", vec![places("floor", 1), seats([1])])).await;
        till.hold(&wish(2, "k", vec![places("floor", 1)])).await;
        assert!(till.inventory.build_begin(&event(), Epoch(2)).await.unwrap());
        let client = redis::Client::open(till.server.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let keys: Vec<String> =
            redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
        assert_eq!(keys, ["{i:show}:gate"]);
    })
    .await;
}

#[tokio::test]
async fn edits_are_absolute_and_only_newer_ones_count() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let inventory = &till.inventory;
        let mut sale = sale(1);
        sale.switch = SaleSwitch::Paused;
        assert_eq!(inventory.sale_set(&event(), EPOCH, &sale).await.unwrap(), Written::Ignored);
        let dearer = TypeControl { amount: 9_900, version: 2, ..floor(10, 10) };
        assert_eq!(inventory.type_set(&event(), EPOCH, &dearer).await.unwrap(), Written::Applied);
        let old = TypeControl { amount: 1, version: 1, ..floor(8, 5) };
        assert_eq!(inventory.type_set(&event(), EPOCH, &old).await.unwrap(), Written::Ignored);
        let hold = till.hold(&wish(1, "k", vec![places("floor", 1)])).await;
        assert_eq!((hold.lines[0].unit_amount, hold.lines[0].price_version), (9_900, 2));
        // B19: the price edit afterwards does not change the hold.
        let again = TypeControl { amount: 5, version: 3, ..floor(12, 10) };
        assert_eq!(inventory.type_set(&event(), EPOCH, &again).await.unwrap(), Written::Applied);
        let repeat = till.reserve(&wish(1, "k", vec![places("floor", 1)])).await;
        assert_eq!(repeat, Reservation::Replayed(hold));
        assert_eq!(till.counts("floor").await, [11, 1, 0, 0]);
        let foreign = inventory.type_set(&event(), Epoch(7), &again).await.unwrap();
        assert_eq!(foreign, Written::StaleEpoch);
        assert_eq!(
            inventory.sale_set(&event(), Epoch(7), &sale).await.unwrap(),
            Written::StaleEpoch
        );
    })
    .await;
}

#[tokio::test]
async fn a_type_keeps_its_index_and_its_kind() {
    each_engine(async |till: Till| {
        till.sell(10, 2).await;
        for wrong in [
            TypeControl { index: 3, version: 9, ..floor(10, 10) },
            TypeControl { id: kind("other"), version: 9, ..floor(10, 10) },
            TypeControl { kind: domain::TicketKind::ReservedSeating, version: 9, ..floor(10, 10) },
        ] {
            assert!(till.inventory.type_set(&event(), EPOCH, &wrong).await.is_err());
        }
        let add = |first, label| {
            let label = [seat(label)];
            let inventory = till.inventory.clone();
            async move { inventory.seats_add(&event(), EPOCH, &kind("stalls"), first, &label).await }
        };
        assert_eq!(add(1, 1).await.unwrap(), Written::Ignored);
        assert!(add(1, 7).await.is_err(), "the index is another seat's");
        assert!(add(7, 1).await.is_err(), "the seat has another index");
        assert_eq!(add(2, 2).await.unwrap(), Written::Applied);
        assert_eq!(till.counts("stalls").await, [3, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_mark_above_the_ceiling_issues_no_serial_that_there_is_not() {
    each_engine(async |till: Till| {
        till.sell(0, 0).await;
        let control = TypeControl { version: 2, ..floor(6, 9) };
        till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        till.hold(&wish(1, "k", vec![places("floor", 5)])).await;
        let given_back = wish(2, "k", vec![places("floor", 1)]);
        let had = till.hold(&given_back).await;
        till.release(&given_back.order, &given_back.customer).await;
        let again = till.hold(&wish(3, "k", vec![places("floor", 1)])).await;
        assert_eq!(serials(&again.lines), serials(&had.lines));
    })
    .await;
}

#[tokio::test]
async fn serials_are_issued_below_the_mark_only() {
    each_engine(async |till: Till| {
        till.sell(0, 0).await;
        let inventory = &till.inventory;
        let control = TypeControl { version: 2, ..floor(100, 4) };
        inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        assert_eq!(
            serials(&till.hold(&wish(1, "k", vec![places("floor", 3)])).await.lines),
            [0, 1, 2]
        );
        let needed =
            |mark| Reservation::GrantNeeded { ticket_type: kind("floor"), mark, ceiling: 100 };
        let two = wish(2, "k", vec![places("floor", 2)]);
        assert_eq!(till.reserve(&two).await, needed(4));
        assert_eq!(till.counts("floor").await, [97, 3, 0, 0]);
        let raise = |mark| async move {
            inventory.mark_raise(&event(), EPOCH, &kind("floor"), mark).await.unwrap()
        };
        assert_eq!(raise(5).await, Written::Applied);
        assert_eq!(raise(5).await, Written::Ignored);
        assert_eq!(raise(2).await, Written::Ignored);
        assert_eq!(serials(&till.hold(&two).await.lines), [3, 4]);
        // What came back needs no mark, and comes before a grant is asked for.
        assert_eq!(till.release(&order(2, "k"), &fan(2)).await, Released::GivenBack);
        let mut back = serials(&till.hold(&wish(3, "k", vec![places("floor", 2)])).await.lines);
        back.sort_unstable();
        assert_eq!(back, [3, 4]);
        assert_eq!(till.reserve(&wish(4, "k", vec![places("floor", 40)])).await, needed(5));
        assert_eq!(raise(1_000).await, Written::Applied);
        assert_eq!(raise(100).await, Written::Ignored, "the ceiling was the end");
        till.hold(&wish(4, "l", vec![places("floor", 40)])).await;
        let control = TypeControl { version: 3, ..floor(200, 4) };
        inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        till.hold(&wish(5, "l", vec![places("floor", 40)])).await;
        let needed =
            Reservation::GrantNeeded { ticket_type: kind("floor"), mark: 100, ceiling: 200 };
        assert_eq!(till.reserve(&wish(6, "l", vec![places("floor", 40)])).await, needed);
        let unknown = inventory.mark_raise(&event(), EPOCH, &kind("gold"), 5).await.unwrap();
        assert_eq!(unknown, Written::StaleEpoch);
    })
    .await;
}

#[tokio::test]
async fn a_hall_of_15000_seats_is_loaded_in_chunks() {
    each_engine(async |till: Till| {
        till.sell(0, 15_000).await;
        assert_eq!(till.counts("stalls").await, [15_000, 0, 0, 0]);
        till.hold(&wish(1, "k", vec![seats([0, 7_777, 14_999])])).await;
    })
    .await;
}

#[tokio::test]
async fn numbers_too_large_for_redis_are_refused_here() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        let control = TypeControl { amount: i64::MAX, version: 2, ..floor(1, 1) };
        let error = till.inventory.type_set(&event(), EPOCH, &control).await.unwrap_err();
        assert!(!error.is_retryable(), "{error}");
    })
    .await;
}

#[tokio::test]
async fn beginning_a_build_again_loses_nothing_that_was_loaded() {
    each_engine(async |till: Till| {
        let inventory = &till.inventory;
        inventory.build_begin(&event(), EPOCH).await.unwrap();
        inventory.sale_set(&event(), EPOCH, &sale(1)).await.unwrap();
        inventory.type_set(&event(), EPOCH, &floor(6, 6)).await.unwrap();
        assert!(inventory.build_begin(&event(), EPOCH).await.unwrap());
        assert!(inventory.activate(&event(), EPOCH, counts(0, 0)).await.unwrap());
        till.hold(&wish(1, "k", vec![places("floor", 1)])).await;
    })
    .await;
}
