//! Taking units: all or none, once, and to whoever is first.

use futures::future::join_all;
use redis_store::{Released, Reservation, Settled};

use crate::till::*;

async fn rush(till: &Till, buyers: u32) -> (usize, usize) {
    let wishes: Vec<_> = (0..buyers).map(|fan| wish(fan, "k", vec![places("floor", 1)])).collect();
    let replies = join_all(wishes.iter().map(|wish| till.reserve(wish))).await;
    let held = replies.iter().filter(|reply| matches!(reply, Reservation::Held(_))).count();
    let sold_out = Reservation::SoldOut { line: 0 };
    (held, replies.iter().filter(|reply| **reply == sold_out).count())
}

/// B1.
#[tokio::test]
async fn one_place_left_and_50_buyers_one_gets_it() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        assert_eq!(rush(&till, 50).await, (1, 49));
        assert_eq!(till.counts("floor").await, [0, 1, 0, 0]);
    })
    .await;
}

/// B1, in large.
#[tokio::test]
async fn one_place_left_and_1000_buyers_one_gets_it() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        assert_eq!(rush(&till, 1_000).await, (1, 999));
    })
    .await;
}

#[tokio::test]
async fn a_thousand_buyers_of_a_hundred_places_get_a_hundred_different_ones() {
    each_engine(async |till: Till| {
        till.sell(100, 0).await;
        assert_eq!(rush(&till, 1_000).await, (100, 900));
        assert_eq!(till.counts("floor").await, [0, 100, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn one_seat_and_50_buyers_one_gets_it() {
    each_engine(async |till: Till| {
        till.sell(0, 10).await;
        let wishes: Vec<_> = (0..50).map(|fan| wish(fan, "k", vec![seats([3])])).collect();
        let replies = join_all(wishes.iter().map(|wish| till.reserve(wish))).await;
        let taken = Reservation::SeatTaken { line: 0, seats: vec![seat(3)] };
        assert_eq!(replies.iter().filter(|reply| **reply == taken).count(), 49);
        assert_eq!(till.counts("stalls").await, [9, 1, 0, 0]);
    })
    .await;
}

/// One that came back may still be some order's in DynamoDB, whose settle is on its way.
#[tokio::test]
async fn a_serial_that_came_back_is_not_issued_again_while_there_are_fresh_ones() {
    each_engine(async |till: Till| {
        till.sell(4, 0).await;
        let first = wish(1, "k", vec![places("floor", 1)]);
        let issued = serials(&till.hold(&first).await.lines);
        assert_eq!(till.release(&first.order, &fan(1)).await, Released::GivenBack);
        let next = serials(&till.hold(&wish(2, "k", vec![places("floor", 1)])).await.lines);
        assert_ne!(next, issued);
        let rest = serials(&till.hold(&wish(3, "k", vec![places("floor", 2)])).await.lines);
        assert!(!rest.contains(&issued[0]), "{rest:?}");
    })
    .await;
}

/// B2.
#[tokio::test]
async fn the_last_place_alone_is_sold() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        let hold = till.hold(&wish(1, "k", vec![places("floor", 1)])).await;
        assert_eq!(serials(&hold.lines), [0]);
        assert_eq!(hold.lines[0].unit_amount, 8_800);
        assert_eq!(hold.lines[0].price_version, 1);
    })
    .await;
}

/// B3 and B20.
#[tokio::test]
async fn more_than_is_left_is_refused_and_takes_nothing() {
    each_engine(async |till: Till| {
        till.sell(3, 0).await;
        let refused = till.reserve(&wish(1, "k", vec![places("floor", 5)])).await;
        assert_eq!(refused, Reservation::SoldOut { line: 0 });
        assert_eq!(till.counts("floor").await, [3, 0, 0, 0]);
        let hold = till.hold(&wish(1, "other", vec![places("floor", 3)])).await;
        assert_eq!(serials(&hold.lines), [0, 1, 2]);
        assert_eq!(till.counts("floor").await, [0, 3, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn several_lines_are_had_together_or_not_at_all() {
    each_engine(async |till: Till| {
        till.sell(2, 10).await;
        let hold = till.hold(&wish(1, "k", vec![places("floor", 2), seats([4, 5])])).await;
        assert_eq!(hold.lines.len(), 2);
        assert_eq!(hold.lines[1].units.len(), 2);
        let refused = till.reserve(&wish(2, "k", vec![places("floor", 1), seats([6])])).await;
        assert_eq!(refused, Reservation::SoldOut { line: 0 });
        let refused = till.reserve(&wish(2, "l", vec![seats([5, 6, 4])])).await;
        assert_eq!(refused, Reservation::SeatTaken { line: 0, seats: vec![seat(4), seat(5)] });
        assert_eq!(till.counts("stalls").await, [8, 2, 0, 0]);
    })
    .await;
}

/// B21.
#[tokio::test]
async fn a_sold_seat_is_never_lockable_again() {
    each_engine(async |till: Till| {
        till.sell(0, 2).await;
        let mut first = wish(1, "k", vec![seats([0])]);
        first.hold = SHORT;
        let hold = till.hold(&first).await;
        assert_eq!(till.settle(&persisted(&first, &hold)).await, Settled::Applied);
        till.passed(hold.expires_at).await;
        let again = till.reserve(&wish(2, "k", vec![seats([0])])).await;
        assert_eq!(again, Reservation::SeatTaken { line: 0, seats: vec![seat(0)] });
        assert_eq!(till.counts("stalls").await, [1, 0, 1, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_repeat_finds_its_hold_and_takes_nothing() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        for lines in
            [vec![places("floor", 2)], vec![seats([1, 2])], vec![places("floor", 1), seats([5])]]
        {
            let wish = wish(1, &format!("{lines:?}").replace(' ', ""), lines);
            let hold = till.hold(&wish).await;
            let before = (till.counts("floor").await, till.counts("stalls").await);
            assert_eq!(till.reserve(&wish).await, Reservation::Replayed(hold.clone()));
            let mut other = wish.clone();
            other.fingerprint.0[0] ^= 1;
            assert_eq!(till.reserve(&other).await, Reservation::Mismatch);
            let settle = persisted(&wish, &hold);
            till.settle(&settle).await;
            let Reservation::Replayed(live) = till.reserve(&wish).await else { panic!() };
            assert_eq!(live.lines, hold.lines);
            let after = (till.counts("floor").await, till.counts("stalls").await);
            assert_eq!(before.0[0], after.0[0]);
            assert_eq!(before.1[0], after.1[0]);
        }
    })
    .await;
}

#[tokio::test]
async fn fifty_equal_requests_at_once_are_one_hold() {
    each_engine(async |till: Till| {
        till.sell(100, 0).await;
        let wish = wish(1, "k", vec![places("floor", 2)]);
        let replies = join_all((0..50).map(|_| till.reserve(&wish))).await;
        let held = |reply: &&Reservation| matches!(reply, Reservation::Held(_));
        assert_eq!(replies.iter().filter(held).count(), 1);
        assert_eq!(till.counts("floor").await, [98, 2, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn two_events_on_one_redis_do_not_meet() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        let other = domain::EventId::parse("other").unwrap();
        let mut elsewhere = wish(1, "k", vec![places("floor", 1)]);
        elsewhere.event = other;
        assert_eq!(till.reserve(&elsewhere).await, Reservation::Unavailable);
        till.hold(&wish(1, "k", vec![places("floor", 1)])).await;
    })
    .await;
}

#[tokio::test]
async fn forty_units_in_one_order_are_had() {
    each_engine(async |till: Till| {
        till.sell(40, 40).await;
        let hold = till.hold(&wish(1, "a", vec![places("floor", 40)])).await;
        assert_eq!(serials(&hold.lines), (0..40).collect::<Vec<_>>());
        till.hold(&wish(1, "b", vec![seats(0..40)])).await;
        assert_eq!(till.counts("floor").await, [0, 40, 0, 0]);
        assert_eq!(till.counts("stalls").await, [0, 40, 0, 0]);
    })
    .await;
}
