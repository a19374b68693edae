//! Making Redis agree with DynamoDB, whatever comes late, twice or in another
//! order.

use domain::{Epoch, OrderLine, UnitId};
use redis_store::{RecordState, Released, Reservation, Settle, SettleStanding, Settled};

use crate::till::*;

fn line_of(units: &[u32]) -> Vec<OrderLine> {
    let units = units.iter().map(|serial| UnitId::Serial(*serial)).collect();
    vec![OrderLine { ticket_type: kind("floor"), unit_amount: 8_800, price_version: 1, units }]
}

/// An order whose item was read again.
fn read_again(order: &Settle) -> Settle {
    Settle { reread: true, ..order.clone() }
}

/// Holds for a moment and waits until it is over.
async fn lapsed(till: &Till, wish: &redis_store::Reserve) -> redis_store::Hold {
    let mut short = wish.clone();
    short.hold = SHORT;
    let hold = till.hold(&short).await;
    till.passed(hold.expires_at).await;
    hold
}

#[tokio::test]
async fn an_order_goes_from_held_to_sold_to_free_once() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let wish = wish(1, "k", vec![places("floor", 3), seats([1, 2])]);
        let live = persisted(&wish, &till.hold(&wish).await);
        for reply in [Settled::Applied, Settled::Ignored] {
            assert_eq!(till.settle(&live).await, reply);
            assert_eq!(till.counts("floor").await, [7, 0, 3, 0]);
            assert_eq!(till.counts("stalls").await, [8, 0, 2, 0]);
        }
        // B5: given back exactly once, however often that is reported.
        for reply in [Settled::Applied, Settled::Ignored] {
            assert_eq!(till.settle(&ended(&live)).await, reply);
            assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
            assert_eq!(till.counts("stalls").await, [10, 0, 0, 0]);
        }
        assert_eq!(
            till.settle(&live).await,
            Settled::Ignored,
            "a late repeat of the first version"
        );
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
        assert_eq!(till.reserve(&wish).await, Reservation::Ended);
    })
    .await;
}

#[tokio::test]
async fn a_partly_refunded_order_keeps_exactly_the_rest() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let live = till.sold(&wish(1, "k", vec![places("floor", 3)])).await;
        let rest = Settle { version: 2, lines: line_of(&[1]), ..live.clone() };
        assert_eq!(till.settle(&rest).await, Settled::Applied);
        assert_eq!(till.counts("floor").await, [9, 0, 1, 0]);
        till.settle(&ended(&rest)).await;
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_refused_intent_gives_its_hold_back() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let wish = wish(1, "k", vec![places("floor", 3)]);
        let live = persisted(&wish, &till.hold(&wish).await);
        let refusal = Settle { version: 1, ..ended(&live) };
        assert_eq!(till.settle(&refusal).await, Settled::Applied);
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
        assert_eq!(till.reserve(&wish).await, Reservation::Ended);
    })
    .await;
}

/// M10.
#[tokio::test]
async fn a_place_whose_settle_was_lost_comes_back_to_its_owner_and_stays() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        let x = wish(1, "x", vec![places("floor", 1)]);
        let x_live = read_again(&persisted(&x, &lapsed(&till, &x).await));
        let mut y = wish(2, "y", vec![places("floor", 1)]);
        y.hold = SHORT * 3;
        let y_hold = till.hold(&y).await;
        assert_eq!(serials(&y_hold.lines), [0], "the very place");
        // Persistence refuses Y by X's unit, and settles X.
        assert_eq!(till.settle(&x_live).await, Settled::Applied);
        assert_eq!(till.counts("floor").await, [0, 0, 1, 0]);
        assert_eq!(till.reserve(&y).await, Reservation::Lapsed);
        till.passed(y_hold.expires_at).await;
        assert_eq!(till.counts("floor").await, [0, 0, 1, 0]);
        assert_eq!(till.release(&y.order, &fan(2)).await, Released::NoHold);
        let z = wish(3, "z", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&z).await, Reservation::SoldOut { line: 0 });
    })
    .await;
}

/// M10, the other order: both holds have lapsed when X's settle comes.
#[tokio::test]
async fn a_place_that_lapsed_twice_still_comes_back_to_its_owner() {
    each_engine(async |till: Till| {
        till.sell(0, 1).await;
        let x = wish(1, "x", vec![seats([0])]);
        let x_live = read_again(&persisted(&x, &lapsed(&till, &x).await));
        lapsed(&till, &wish(2, "y", vec![seats([0])])).await;
        assert_eq!(till.settle(&x_live).await, Settled::Applied);
        let z = wish(3, "z", vec![seats([0])]);
        assert!(matches!(till.reserve(&z).await, Reservation::SeatTaken { .. }));
        assert_eq!(till.counts("stalls").await, [0, 0, 1, 0]);
    })
    .await;
}

/// M8, with a record that is older than the order's end.
#[tokio::test]
async fn a_late_record_of_an_order_that_holds_no_more_takes_nothing_unasked() {
    each_engine(async |till: Till| {
        till.sell(0, 2).await;
        let x = wish(1, "x", vec![seats([0])]);
        let lapsed = persisted(&x, &lapsed(&till, &x).await);
        let z = wish(3, "z", vec![seats([1])]);
        let released = persisted(&z, &till.hold(&z).await);
        assert_eq!(till.release(&z.order, &fan(3)).await, Released::GivenBack);
        let y = wish(2, "y", vec![seats([0, 1])]);
        till.hold(&y).await;
        for late in [&lapsed, &released] {
            assert_eq!(till.settle(late).await, Settled::Reread);
            assert_eq!(till.settle(&ended(late)).await, Settled::Applied, "so it is by now");
            assert_eq!(till.settle(late).await, Settled::Ignored);
        }
        assert_eq!(till.record(&y).await.state, RecordState::Held);
        assert_eq!(till.counts("stalls").await, [0, 2, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_late_record_never_takes_a_seat_that_was_withdrawn_meanwhile() {
    each_engine(async |till: Till| {
        till.sell(0, 1).await;
        let x = wish(1, "x", vec![seats([0])]);
        let x_live = read_again(&persisted(&x, &lapsed(&till, &x).await));
        let mut withdrawal = wish(2, "house", vec![seats([0])]);
        withdrawal.mode = redis_store::Mode::Withdraw;
        let mut withdrawn = persisted(&withdrawal, &till.hold(&withdrawal).await);
        withdrawn.standing = SettleStanding::Withdrawn;
        assert_eq!(till.settle(&withdrawn).await, Settled::Applied);
        let conflict = Settled::Conflict { customer: fan(2), order: withdrawal.order };
        assert_eq!(till.settle(&x_live).await, conflict);
        assert_eq!(till.record(&withdrawal).await.state, RecordState::Withdrawn);
    })
    .await;
}

#[tokio::test]
async fn a_hold_that_loses_a_seat_gives_back_the_others() {
    each_engine(async |till: Till| {
        till.sell(0, 3).await;
        let x = wish(1, "x", vec![seats([1])]);
        let x_live = read_again(&persisted(&x, &lapsed(&till, &x).await));
        till.hold(&wish(2, "y", vec![seats([0, 1, 2])])).await;
        till.settle(&x_live).await;
        assert_eq!(till.counts("stalls").await, [2, 0, 1, 0]);
    })
    .await;
}

/// M11.
#[tokio::test]
async fn a_late_settle_never_takes_a_place_from_a_live_order() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        let x = wish(1, "x", vec![places("floor", 1)]);
        let x_live = read_again(&persisted(&x, &lapsed(&till, &x).await));
        let y = wish(2, "y", vec![places("floor", 1)]);
        let y_live = till.sold(&y).await;
        let conflict = Settled::Conflict { customer: fan(2), order: y_live.order };
        for _twice in 0..2 {
            assert_eq!(till.settle(&x_live).await, conflict);
        }
        assert_eq!(till.settle(&ended(&x_live)).await, Settled::Applied);
        assert_eq!(till.settle(&y_live).await, Settled::Ignored);
        assert_eq!(till.settle(&x_live).await, Settled::Ignored);
        assert_eq!(till.counts("floor").await, [0, 0, 1, 0]);
        assert_eq!(till.record(&y).await.state, RecordState::Live);
    })
    .await;
}

#[tokio::test]
async fn the_same_fans_two_orders_do_not_share_a_place() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        let x = wish(1, "x", vec![places("floor", 1)]);
        let x_live = read_again(&persisted(&x, &lapsed(&till, &x).await));
        let y = wish(1, "y", vec![places("floor", 1)]);
        let y_live = read_again(&persisted(&y, &till.hold(&y).await));
        assert_eq!(till.settle(&x_live).await, Settled::Applied);
        assert_eq!(till.reserve(&y).await, Reservation::Lapsed);
        let conflict = Settled::Conflict { customer: fan(1), order: x.order };
        assert_eq!(till.settle(&y_live).await, conflict);
        till.settle(&ended(&y_live)).await;
        assert_eq!(till.counts("floor").await, [0, 0, 1, 0]);
        till.settle(&ended(&x_live)).await;
        assert_eq!(till.counts("floor").await, [1, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn an_unknown_ended_order_leaves_a_tombstone() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let wish = wish(1, "k", vec![places("floor", 1)]);
        let hold = redis_store::Hold { lines: line_of(&[0]), expires_at: in_ms(0) };
        let gone = ended(&persisted(&wish, &hold));
        assert_eq!(till.settle(&gone).await, Settled::Applied);
        assert_eq!(till.settle(&persisted(&wish, &hold)).await, Settled::Ignored);
        assert_eq!(till.reserve(&wish).await, Reservation::Ended);
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn an_unknown_live_order_of_this_epoch_means_lost_writes() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let wish = wish(1, "k", vec![places("floor", 1)]);
        let hold = redis_store::Hold { lines: line_of(&[0]), expires_at: in_ms(0) };
        let mut settle = persisted(&wish, &hold);
        // M14: an older inventory came back, and the order is of a newer one.
        for (reread, epoch) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
            (settle.reread, settle.order_epoch) = (reread, Epoch(epoch));
            assert_eq!(till.settle(&settle).await, Settled::Lost);
        }
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
    })
    .await;
}

/// M13.
#[tokio::test]
async fn an_old_epochs_order_is_read_again_and_never_revived() {
    each_engine(async |till: Till| {
        till.sell_in(Epoch(2), 10, 0).await;
        let wish = wish(1, "k", vec![places("floor", 1)]);
        let hold = redis_store::Hold { lines: line_of(&[0]), expires_at: in_ms(0) };
        let live = Settle { epoch: Epoch(2), ..persisted(&wish, &hold) };
        assert_eq!(live.order_epoch, Epoch(1));
        assert_eq!(till.settle(&live).await, Settled::Reread);
        let now = Settle { reread: true, ..ended(&live) };
        assert_eq!(till.settle(&now).await, Settled::Applied);
        assert_eq!(till.settle(&live).await, Settled::Ignored);
        assert_eq!(till.settle(&Settle { reread: true, ..live }).await, Settled::Ignored);
        assert_eq!(till.counts_in(Epoch(2)).await[0].remaining, 10);
    })
    .await;
}

#[tokio::test]
async fn an_old_epochs_live_order_is_taken_in_once_it_was_read_again() {
    each_engine(async |till: Till| {
        till.sell_in(Epoch(2), 10, 0).await;
        let wish = wish(1, "k", vec![places("floor", 2)]);
        let hold = redis_store::Hold { lines: line_of(&[3, 7]), expires_at: in_ms(0) };
        let live = Settle { epoch: Epoch(2), reread: true, ..persisted(&wish, &hold) };
        assert_eq!(till.settle(&live).await, Settled::Applied);
        let counts = till.counts_in(Epoch(2)).await;
        assert_eq!((counts[0].remaining, counts[0].sold), (8, 2));
        // Its places are not given to others, those before them are.
        let mut all = crate::till::wish(2, "k", vec![places("floor", 8)]);
        all.epoch = Epoch(2);
        let mut had = serials(&till.hold(&all).await.lines);
        had.sort_unstable();
        assert_eq!(had, [0, 1, 2, 4, 5, 6, 8, 9]);
        // What was read again is known: no third reading is asked for.
        assert_eq!(
            till.settle(&Settle { version: 2, reread: false, ..live }).await,
            Settled::Applied
        );
    })
    .await;
}

/// M15.
#[tokio::test]
async fn a_refunded_order_that_holds_again_in_a_new_epoch_stays_ended() {
    each_engine(async |till: Till| {
        till.sell_in(Epoch(2), 2, 0).await;
        let mut again = wish(1, "k", vec![places("floor", 2)]);
        again.epoch = Epoch(2);
        let hold = till.hold(&again).await;
        let paid = Settle {
            order_epoch: Epoch(1),
            version: 2,
            standing: SettleStanding::Live { pay_by: None },
            ..persisted(&again, &hold)
        };
        assert_eq!(till.settle(&paid).await, Settled::Reread);
        let refunded = Settle { version: 4, reread: true, ..ended(&paid) };
        assert_eq!(till.settle(&refunded).await, Settled::Applied);
        assert_eq!(till.settle(&paid).await, Settled::Ignored);
        let counts = till.counts_in(Epoch(2)).await;
        assert_eq!((counts[0].remaining, counts[0].held, counts[0].sold), (2, 0, 0));
        assert_eq!(till.reserve(&again).await, Reservation::Ended);
    })
    .await;
}

#[tokio::test]
async fn settling_needs_the_active_epoch() {
    each_engine(async |till: Till| {
        let wish = wish(1, "k", vec![places("floor", 1)]);
        let hold = redis_store::Hold { lines: line_of(&[0]), expires_at: in_ms(0) };
        let settle = persisted(&wish, &hold);
        assert_eq!(till.settle(&settle).await, Settled::Unavailable);
        till.inventory.build_begin(&event(), EPOCH).await.unwrap();
        assert_eq!(till.settle(&settle).await, Settled::Unavailable);
        till.sell_in(Epoch(2), 1, 0).await;
        assert_eq!(till.settle(&settle).await, Settled::StaleEpoch { active: Epoch(2) });
    })
    .await;
}

#[tokio::test]
async fn units_that_are_unknown_here_mean_lost_writes() {
    each_engine(async |till: Till| {
        till.sell(10, 1).await;
        let wish = wish(1, "k", vec![places("floor", 1)]);
        let live = persisted(&wish, &till.hold(&wish).await);
        for lines in [
            line_of(&[10]),
            vec![OrderLine { ticket_type: kind("gold"), ..line_of(&[0]).remove(0) }],
            vec![OrderLine {
                ticket_type: kind("stalls"),
                units: vec![UnitId::Seat(seat(5))],
                ..line_of(&[0]).remove(0)
            }],
        ] {
            assert_eq!(till.settle(&Settle { lines, ..live.clone() }).await, Settled::Lost);
        }
        assert_eq!(till.counts("floor").await, [9, 1, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn an_unpaid_order_is_named_when_its_time_is_over_and_it_is_in_the_way() {
    each_engine(async |till: Till| {
        till.sell(1, 2).await;
        let mut owners = Vec::new();
        for (fan, line) in [(1, places("floor", 1)), (2, seats([0])), (3, seats([1]))] {
            let wish = wish(fan, "k", vec![line]);
            let live = persisted(&wish, &till.hold(&wish).await);
            owners.push(Settle {
                standing: SettleStanding::Live { pay_by: Some(in_ms(100)) },
                ..live
            });
        }
        owners[2].standing = SettleStanding::Live { pay_by: None };
        for owner in &owners {
            assert_eq!(till.settle(owner).await, Settled::Applied);
        }
        let place = wish(9, "a", vec![places("floor", 1)]);
        let chosen = wish(9, "b", vec![seats([0])]);
        let paid = wish(9, "c", vec![seats([1])]);
        assert_eq!(till.reserve(&place).await, Reservation::SoldOut { line: 0 });
        assert!(matches!(till.reserve(&chosen).await, Reservation::SeatTaken { .. }));
        till.passed(in_ms(100)).await;
        for (wish, owner) in [(&place, &owners[0]), (&chosen, &owners[1])] {
            let overdue = Reservation::Overdue(vec![(owner.customer, owner.order)]);
            assert_eq!(till.reserve(wish).await, overdue);
            assert_eq!(till.settle(&ended(owner)).await, Settled::Applied);
            till.hold(wish).await;
        }
        assert!(matches!(till.reserve(&paid).await, Reservation::SeatTaken { .. }));
        // The other unpaid orders are gone: sold out is sold out again.
        assert_eq!(
            till.reserve(&wish(10, "a", vec![places("floor", 1)])).await,
            Reservation::SoldOut { line: 0 }
        );
    })
    .await;
}

#[tokio::test]
async fn an_order_that_falls_due_after_another_is_named_in_its_turn() {
    each_engine(async |till: Till| {
        till.sell(2, 0).await;
        let mut owners = Vec::new();
        for (fan, milliseconds) in [(1, 100), (2, 400)] {
            let wish = wish(fan, "k", vec![places("floor", 1)]);
            let live = persisted(&wish, &till.hold(&wish).await);
            let standing = SettleStanding::Live { pay_by: Some(in_ms(milliseconds)) };
            owners.push(Settle { standing, ..live });
            assert_eq!(till.settle(owners.last().unwrap()).await, Settled::Applied);
        }
        for (fan, owner) in [(3, &owners[0]), (4, &owners[1])] {
            let SettleStanding::Live { pay_by: Some(pay_by) } = owner.standing else { panic!() };
            till.passed(pay_by).await;
            let wish = wish(fan, "k", vec![places("floor", 1)]);
            let overdue = Reservation::Overdue(vec![(owner.customer, owner.order)]);
            assert_eq!(till.reserve(&wish).await, overdue);
            till.settle(&ended(owner)).await;
            till.hold(&wish).await;
        }
        let more = wish(5, "k", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&more).await, Reservation::SoldOut { line: 0 });
    })
    .await;
}

/// Puts an order that ended so long ago where the script keeps it.
async fn bury(till: &Till, wish: &redis_store::Reserve, ago_ms: i64) {
    let ended_at = in_ms(-ago_ms).as_millisecond().to_be_bytes();
    let record =
        [&[0, 45][..], wish.order.as_bytes(), &PRINT.short(), &ended_at[2..], &[5, 0, 0, 0, 1]]
            .concat();
    let client = redis::Client::open(till.server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("HSET")
        .arg("{i:show}:1:customers")
        .arg(&wish.customer.0[..])
        .arg(record)
        .exec_async(&mut connection)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_tombstone_stays_a_day_and_an_hour() {
    const HOUR: i64 = 3_600_000;
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let young = wish(1, "k", vec![places("floor", 1)]);
        bury(&till, &young, 24 * HOUR).await;
        assert_eq!(till.reserve(&young).await, Reservation::Ended);
        let old = wish(2, "k", vec![places("floor", 1)]);
        bury(&till, &old, 26 * HOUR).await;
        till.hold(&old).await;
    })
    .await;
}
