//! Holds that lapse: exactly on time, without a job, and never twice.

use std::time::Duration;

use domain::{Line, TicketTypeId};
use futures::future::join_all;
use jiff::Timestamp;
use redis_store::{Mode, RecordState, Released, Reservation, Settled, TypeControl};

use crate::till::*;

/// Holds by many fans at once, each for that type; the last instant one lapses.
async fn short_holds(till: &Till, fans: std::ops::Range<u32>, line: &Line) -> Timestamp {
    let holds = fans.map(|fan| {
        let mut wish = wish(fan, "k", vec![line.clone()]);
        wish.hold = Duration::from_millis(1_500);
        async move { till.hold(&wish).await.expires_at }
    });
    join_all(holds).await.into_iter().max().unwrap()
}

async fn add_type(till: &Till, name: &str, index: u8, ceiling: u32) -> TicketTypeId {
    let control = TypeControl { id: kind(name), index, ..floor(ceiling, ceiling) };
    till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
    control.id
}

/// B4.
#[tokio::test]
async fn what_lapsed_can_be_had_at_once() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let last = short_holds(&till, 0..9, &places("floor", 1)).await;
        till.passed(last).await;
        let hold = till.hold(&wish(50, "k", vec![places("floor", 2)])).await;
        assert_eq!(hold.lines[0].units.len(), 2);
        assert_eq!(till.counts("floor").await, [8, 2, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_lapsed_seat_can_be_had_at_once_whoever_had_it() {
    each_engine(async |till: Till| {
        till.sell(0, 3).await;
        let mut first = wish(1, "k", vec![seats([0, 1])]);
        first.hold = SHORT;
        let hold = till.hold(&first).await;
        let rival = wish(2, "k", vec![seats([1, 2])]);
        assert!(matches!(till.reserve(&rival).await, Reservation::SeatTaken { .. }));
        till.passed(hold.expires_at).await;
        till.hold(&rival).await;
        assert_eq!(till.counts("stalls").await, [1, 2, 0, 0]);
    })
    .await;
}

/// B25.
#[tokio::test]
async fn five_hundred_lapsed_holds_of_one_type_do_not_hide_one_of_another() {
    each_engine(async |till: Till| {
        till.sell(600, 0).await;
        add_type(&till, "balcony", 3, 1).await;
        short_holds(&till, 0..500, &places("floor", 1)).await;
        let last = short_holds(&till, 1_000..1_001, &places("balcony", 1)).await;
        till.passed(last).await;
        till.hold(&wish(2_000, "k", vec![places("balcony", 1)])).await;
    })
    .await;
}

#[tokio::test]
async fn many_lapsed_holds_do_not_hide_that_a_chosen_seats_has_lapsed() {
    each_engine(async |till: Till| {
        till.sell(100, 10).await;
        short_holds(&till, 0..100, &places("floor", 1)).await;
        let last = short_holds(&till, 200..201, &seats([3])).await;
        till.passed(last).await;
        till.hold(&wish(300, "k", vec![seats([3])])).await;
        assert_eq!(till.counts("stalls").await, [9, 1, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn many_lapsed_holds_do_not_hide_that_a_fans_own_has_lapsed() {
    each_engine(async |till: Till| {
        till.sell(100, 0).await;
        let mut sale = sale(2);
        sale.limit_per_customer = Some(1);
        till.sale_set(&sale).await;
        let last = short_holds(&till, 0..60, &places("floor", 1)).await;
        till.passed(last).await;
        till.hold(&wish(59, "l", vec![places("floor", 1)])).await;
    })
    .await;
}

#[tokio::test]
async fn more_lapsed_holds_than_one_call_gives_back_are_asked_for_again() {
    each_engine(async |till: Till| {
        till.sell(1_200, 0).await;
        add_type(&till, "balcony", 3, 1).await;
        short_holds(&till, 0..1_100, &places("floor", 1)).await;
        let last = short_holds(&till, 2_000..2_001, &places("balcony", 1)).await;
        till.passed(last).await;
        let wish = wish(3_000, "k", vec![places("balcony", 1)]);
        let mut agains = 0;
        loop {
            let reply = till.reserve(&wish).await;
            if let Reservation::Held(_) = reply {
                break;
            }
            assert_eq!(reply, Reservation::Again, "a false refusal");
            agains += 1;
            assert!(agains < 10);
        }
        assert!(agains > 0);
    })
    .await;
}

/// B24, Redis' half.
#[tokio::test]
async fn an_order_whose_hold_lapsed_never_holds_again() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let mut wish = wish(1, "k", vec![places("floor", 2)]);
        wish.hold = SHORT;
        let hold = till.hold(&wish).await;
        till.passed(hold.expires_at).await;
        for mode in [Mode::Buy, Mode::ReplayOnly, Mode::Buy] {
            wish.mode = mode;
            assert_eq!(till.reserve(&wish).await, Reservation::Lapsed);
        }
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
        let record = till.record(&wish).await;
        assert_eq!((record.state, record.expires_at), (RecordState::Lapsed, hold.expires_at));
        assert!(record.lines.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_shorter_hold_after_longer_ones_lapses_on_time_too() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        till.hold(&wish(1, "k", vec![places("floor", 5)])).await;
        let mut short = wish(2, "k", vec![places("floor", 5)]);
        short.hold = SHORT;
        let hold = till.hold(&short).await;
        let mut between = wish(2, "l", vec![places("floor", 1)]);
        between.hold = SHORT;
        assert_eq!(till.reserve(&between).await, Reservation::SoldOut { line: 0 });
        till.passed(hold.expires_at).await;
        let next = till.hold(&wish(3, "k", vec![places("floor", 5)])).await;
        assert_eq!(serials(&next.lines).len(), 5);
        assert_eq!(till.counts("floor").await, [0, 10, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn several_holds_of_one_fan_lapse_each_on_its_time() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        till.hold(&wish(9, "k", vec![places("floor", 1)])).await;
        let mut expiries = Vec::new();
        for (key, factor) in [("c", 3), ("a", 1), ("b", 2)] {
            let mut wish = wish(1, key, vec![places("floor", 3)]);
            wish.hold = SHORT * factor;
            expiries.push(till.hold(&wish).await.expires_at);
        }
        expiries.sort();
        for (lapsed, expiry) in (1..).zip(expiries) {
            till.passed(expiry).await;
            let [remaining, held, ..] = till.counts("floor").await;
            assert!(remaining >= lapsed * 3, "{remaining} after {lapsed}");
            assert!(held <= 10 - lapsed * 3);
        }
        assert_eq!(till.counts("floor").await, [9, 1, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn counting_and_watching_give_back_what_lapsed() {
    each_engine(async |till: Till| {
        till.sell(0, 5).await;
        let mut wish = wish(1, "k", vec![seats([2])]);
        wish.hold = SHORT;
        let hold = till.hold(&wish).await;
        assert_eq!(till.counts("stalls").await, [4, 1, 0, 0]);
        till.passed(hold.expires_at).await;
        assert_eq!(till.counts("stalls").await, [5, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_persisted_order_does_not_lapse_with_its_hold() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        let mut wish1 = wish(1, "k", vec![places("floor", 1)]);
        wish1.hold = SHORT;
        let hold = till.hold(&wish1).await;
        assert_eq!(till.settle(&persisted(&wish1, &hold)).await, Settled::Applied);
        till.passed(hold.expires_at).await;
        assert_eq!(
            till.reserve(&wish(2, "k", vec![places("floor", 1)])).await,
            Reservation::SoldOut { line: 0 }
        );
        assert_eq!(till.counts("floor").await, [0, 0, 1, 0]);
    })
    .await;
}

#[tokio::test]
async fn giving_back_a_hold_twice_frees_it_once() {
    each_engine(async |till: Till| {
        till.sell(2, 0).await;
        let one = wish(1, "k", vec![places("floor", 1)]);
        till.hold(&one).await;
        assert_eq!(till.release(&one.order, &fan(1)).await, Released::GivenBack);
        assert_eq!(till.release(&one.order, &fan(1)).await, Released::NoHold);
        assert_eq!(till.counts("floor").await, [2, 0, 0, 0]);
        assert_eq!(till.reserve(&one).await, Reservation::Ended);
        // The hold's place in the queue of lapses is empty now: nothing is freed by it.
        let other = till.sold(&wish(2, "k", vec![places("floor", 2)])).await;
        assert_eq!(serials(&other.lines).len(), 2);
        assert_eq!(till.release(&one.order, &fan(1)).await, Released::NoHold);
        assert_eq!(till.release(&other.order, &fan(2)).await, Released::NoHold);
        assert_eq!(till.counts("floor").await, [0, 0, 2, 0]);
    })
    .await;
}

#[tokio::test]
async fn where_nothing_can_be_given_back_it_is_said_why() {
    each_engine(async |till: Till| {
        let one = wish(1, "k", vec![places("floor", 1)]);
        let release = async || till.release(&one.order, &fan(1)).await;
        assert_eq!(release().await, Released::Unavailable);
        till.sell(2, 0).await;
        assert_eq!(release().await, Released::Unknown);
        till.hold(&one).await;
        assert!(till.inventory.build_begin(&event(), domain::Epoch(2)).await.unwrap());
        assert_eq!(release().await, Released::Unavailable);
        till.sell_in(domain::Epoch(2), 2, 0).await;
        assert_eq!(release().await, Released::StaleEpoch { active: domain::Epoch(2) });
    })
    .await;
}
