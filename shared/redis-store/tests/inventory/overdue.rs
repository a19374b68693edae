//! Orders that were not paid in time: they are named where they keep a place that
//! is wanted, and keep nobody from what is free.

use domain::{Epoch, Line};
use jiff::Timestamp;
use redis_store::{
    LoadedCounts, LoadedOrder, Reservation, Settle, SettleStanding, Settled, TypeControl,
};

use crate::till::*;

/// Persists an order of a fan that is to be paid by then.
async fn unpaid(
    till: &Till,
    number: u32,
    key: &str,
    lines: Vec<Line>,
    pay_by: Timestamp,
) -> Settle {
    let wish = wish(number, key, lines);
    let live = persisted(&wish, &till.hold(&wish).await);
    let unpaid = Settle { standing: SettleStanding::Live { pay_by: Some(pay_by) }, ..live };
    assert_eq!(till.settle(&unpaid).await, Settled::Applied);
    unpaid
}

fn named(orders: &[Settle]) -> Reservation {
    Reservation::Overdue(orders.iter().map(|one| (one.customer, one.order)).collect())
}

async fn end(till: &Till, orders: &[Settle]) {
    for order in orders {
        assert_eq!(till.settle(&ended(order)).await, Settled::Applied);
    }
}

async fn add_balcony(till: &Till, ceiling: u32) {
    let control = TypeControl { id: kind("balcony"), index: 3, ..floor(ceiling, ceiling) };
    till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
}

async fn limit(till: &Till, units: u32) {
    let mut sale = sale(2);
    sale.limit_per_customer = Some(units);
    till.sale_set(&sale).await;
}

/// B25.
#[tokio::test]
async fn five_hundred_unpaid_orders_of_one_type_do_not_hide_one_of_another() {
    each_engine(async |till: Till| {
        till.sell(500, 0).await;
        add_balcony(&till, 1).await;
        for fan in 0..500 {
            unpaid(&till, fan, "k", vec![places("floor", 1)], in_ms(0)).await;
        }
        let last = [unpaid(&till, 1_000, "k", vec![places("balcony", 1)], in_ms(0)).await];
        till.passed(in_ms(0)).await;
        let balcony = wish(2_000, "k", vec![places("balcony", 1)]);
        assert_eq!(till.reserve(&balcony).await, named(&last));
        end(&till, &last).await;
        till.hold(&balcony).await;
        // None of the balcony's is left: now it is sold out, whatever the floor's do.
        let more = wish(2_001, "k", vec![places("balcony", 1)]);
        assert_eq!(till.reserve(&more).await, Reservation::SoldOut { line: 0 });
    })
    .await;
}

#[tokio::test]
async fn an_overdue_order_slows_nobody_who_buys_what_is_free_and_makes_nothing_sold_out() {
    each_engine(async |till: Till| {
        till.sell(4, 0).await;
        let old = [unpaid(&till, 1, "k", vec![places("floor", 1)], in_ms(-1_000)).await];
        // The fast way is taken only where somebody holds something.
        till.hold(&wish(2, "k", vec![places("floor", 1)])).await;
        let before = gates_written(&till).await;
        till.hold(&wish(3, "k", vec![places("floor", 1)])).await;
        assert_eq!(gates_written(&till).await, before, "it went the long way");
        let two = wish(4, "k", vec![places("floor", 2)]);
        assert_eq!(till.reserve(&two).await, named(&old));
        end(&till, &old).await;
        till.hold(&two).await;
        let more = wish(5, "k", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&more).await, Reservation::SoldOut { line: 0 });
        assert_eq!(till.counts("floor").await, [0, 4, 0, 0]);
    })
    .await;
}

/// How often a gate was written as a whole, which the fast way never does.
async fn gates_written(till: &Till) -> String {
    let client = redis::Client::open(till.server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let info = redis::cmd("INFO").arg("commandstats").query_async(&mut connection).await;
    let info: String = info.unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix("cmdstat_set:calls=")).unwrap();
    line.split(',').next().unwrap().to_owned()
}

#[tokio::test]
async fn fifty_are_named_at_once_those_first_that_were_due_first() {
    each_engine(async |till: Till| {
        till.sell(60, 0).await;
        let mut orders = Vec::new();
        for fan in 0..60 {
            let due = in_ms(-1_000 * i64::from(1 + fan));
            orders.insert(0, unpaid(&till, fan, "k", vec![places("floor", 1)], due).await);
        }
        let most = wish(99, "k", vec![places("floor", 40)]);
        assert_eq!(till.reserve(&most).await, named(&orders[..50]));
        end(&till, &orders[..50]).await;
        till.hold(&most).await;
        let rest = wish(99, "l", vec![places("floor", 20)]);
        assert_eq!(till.reserve(&rest).await, named(&orders[50..]));
        end(&till, &orders[50..]).await;
        till.hold(&rest).await;
    })
    .await;
}

#[tokio::test]
async fn fifty_orders_of_one_fan_are_named_at_once_and_no_more() {
    each_engine(async |till: Till| {
        till.sell(60, 0).await;
        let mut orders = Vec::new();
        for number in 0..60 {
            let line = places("floor", 1);
            orders.push(unpaid(&till, 1, &number.to_string(), vec![line], in_ms(-1_000)).await);
        }
        let place = wish(2, "k", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&place).await, named(&orders[..50]));
        limit(&till, 1).await;
        let own = wish(1, "k", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&own).await, named(&orders[..50]));
        end(&till, &orders[..50]).await;
        assert_eq!(till.reserve(&own).await, named(&orders[50..]));
        end(&till, &orders[50..]).await;
        till.hold(&own).await;
    })
    .await;
}

#[tokio::test]
async fn a_fans_own_unpaid_order_stands_against_no_limit_once_it_is_overdue() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        limit(&till, 2).await;
        let over = Reservation::OverLimit { ticket_type: None, limit: 2 };
        let due = in_ms(300);
        let old = [unpaid(&till, 1, "a", vec![places("floor", 1), seats([0])], due).await];
        let next = wish(1, "b", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&next).await, over, "it may still be paid");
        till.passed(due).await;
        assert_eq!(till.reserve(&next).await, named(&old));
        // More than the limit is more than the limit, whatever ends.
        assert_eq!(till.reserve(&wish(1, "c", vec![places("floor", 3)])).await, over);
        assert_eq!(till.counts("floor").await, [9, 0, 1, 0]);
        end(&till, &old).await;
        till.hold(&next).await;
        till.hold(&wish(1, "d", vec![places("floor", 1)])).await;
        assert_eq!(till.reserve(&wish(1, "e", vec![places("floor", 1)])).await, over);
        // A type's own limit is counted the same way.
        let control = TypeControl { limit_per_customer: Some(1), version: 2, ..floor(10, 10) };
        till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        let old = [unpaid(&till, 2, "a", vec![places("floor", 1)], in_ms(-1)).await];
        let next = wish(2, "b", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&next).await, named(&old));
        end(&till, &old).await;
        till.hold(&next).await;
    })
    .await;
}

#[tokio::test]
async fn what_was_paid_or_ended_is_named_for_none_of_its_types() {
    each_engine(async |till: Till| {
        till.sell(2, 2).await;
        add_balcony(&till, 2).await;
        let lines = || vec![places("floor", 1), places("balcony", 1), seats([0])];
        let paid = unpaid(&till, 1, "k", lines(), in_ms(-1_000)).await;
        let other = [unpaid(&till, 2, "k", vec![places("floor", 1)], in_ms(-500)).await];
        let two = |name: &str| wish(9, name, vec![places(name, 2)]);
        let both = [paid.clone(), other[0].clone()];
        assert_eq!(till.reserve(&two("floor")).await, named(&both));
        assert_eq!(till.reserve(&two("balcony")).await, named(&both[..1]));
        let settle =
            Settle { version: 2, standing: SettleStanding::Live { pay_by: None }, ..paid.clone() };
        assert_eq!(till.settle(&settle).await, Settled::Applied);
        assert_eq!(till.reserve(&two("floor")).await, named(&other));
        assert_eq!(till.reserve(&two("balcony")).await, Reservation::SoldOut { line: 0 });
        end(&till, &other).await;
        assert_eq!(till.reserve(&two("floor")).await, Reservation::SoldOut { line: 0 });
    })
    .await;
}

#[tokio::test]
async fn an_epoch_is_built_with_what_is_unpaid() {
    each_engine(async |till: Till| {
        till.sell(2, 0).await;
        let held = [1, 2].map(|fan| wish(fan, "k", vec![places("floor", 1)]));
        let mut orders = Vec::new();
        for (wish, ago) in held.iter().zip([-500, -1_000]) {
            let settle = persisted(wish, &till.hold(wish).await);
            orders.push(LoadedOrder {
                order: settle.order,
                customer: settle.customer,
                fingerprint: settle.fingerprint,
                version: 1,
                standing: SettleStanding::Live { pay_by: Some(in_ms(ago)) },
                lines: settle.lines,
            });
        }
        let (inventory, next) = (&till.inventory, Epoch(2));
        assert!(inventory.build_begin(&event(), next).await.unwrap());
        inventory.sale_set(&event(), next, &sale(1)).await.unwrap();
        inventory.type_set(&event(), next, &floor(2, 2)).await.unwrap();
        inventory.orders_load(&event(), next, &orders).await.unwrap();
        let counts = LoadedCounts { units: 2, orders: 2 };
        assert!(inventory.activate(&event(), next, counts).await.unwrap());
        let mut place = wish(9, "k", vec![places("floor", 1)]);
        place.epoch = next;
        let overdue = [&orders[1], &orders[0]].map(|one| (one.customer, one.order)).to_vec();
        assert_eq!(till.reserve(&place).await, Reservation::Overdue(overdue));
    })
    .await;
}
