//! What is refused, in which order, and that a refusal changes nothing.

use domain::{SaleSwitch, SessionId};
use futures::future::join_all;
use redis_store::{Mode, Released, Reservation, Session, TypeControl};

use crate::till::*;

#[tokio::test]
async fn nothing_is_sold_without_an_inventory_or_while_it_is_built() {
    each_engine(async |till: Till| {
        let wish = wish(1, "k", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&wish).await, Reservation::Unavailable);
        till.inventory.build_begin(&event(), EPOCH).await.unwrap();
        assert_eq!(till.reserve(&wish).await, Reservation::Unavailable);
    })
    .await;
}

#[tokio::test]
async fn the_window_and_the_switch_decide_by_the_servers_clock() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let one = wish(1, "k", vec![places("floor", 1)]);
        let mut sale = sale(2);
        sale.window.opens_at = in_ms(60_000);
        till.sale_set(&sale).await;
        let opens_at = sale.window.opens_at;
        assert_eq!(till.reserve(&one).await, Reservation::NotOpen { opens_at });
        sale.version = 3;
        sale.window.opens_at = in_ms(-60_000);
        sale.switch = SaleSwitch::Scheduled;
        till.sale_set(&sale).await;
        let opens_at = sale.window.opens_at;
        assert_eq!(till.reserve(&one).await, Reservation::NotOpen { opens_at });
        for (version, switch, reply) in [
            (4, SaleSwitch::Paused, Reservation::Paused),
            (5, SaleSwitch::Closed, Reservation::Closed),
        ] {
            sale.version = version;
            sale.switch = switch;
            till.sale_set(&sale).await;
            assert_eq!(till.reserve(&one).await, reply);
        }
        // B22: none of these was a decision.
        sale.version = 6;
        sale.switch = SaleSwitch::Open;
        till.sale_set(&sale).await;
        till.hold(&one).await;
        sale.version = 7;
        sale.window.closes_at = in_ms(0);
        till.sale_set(&sale).await;
        till.passed(sale.window.closes_at).await;
        let two = wish(2, "k", vec![places("floor", 1)]);
        assert_eq!(till.reserve(&two).await, Reservation::Closed);
        assert!(matches!(till.reserve(&one).await, Reservation::Replayed(_)), "bought before");
    })
    .await;
}

#[tokio::test]
async fn a_sale_opens_at_its_very_instant() {
    each_engine(async |till: Till| {
        till.sell(100, 0).await;
        let mut sale = sale(2);
        sale.window.opens_at = in_ms(200);
        let opens_at = sale.window.opens_at;
        till.sale_set(&sale).await;
        let mut tries = 0;
        loop {
            tries += 1;
            let reply = till.reserve(&wish(1, "k", vec![places("floor", 1)])).await;
            if let Reservation::Held(hold) = reply {
                let held_at = hold.expires_at.as_millisecond() - 600_000;
                assert!(held_at >= opens_at.as_millisecond());
                break;
            }
            assert_eq!(reply, Reservation::NotOpen { opens_at });
        }
        assert!(tries > 1);
    })
    .await;
}

/// W11: also by a machine whose clock is off, as Redis' clock counts.
#[tokio::test]
async fn a_session_that_ended_or_expired_buys_nothing() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let mut one = wish(1, "k", vec![places("floor", 1)]);
        one.session = Some(session("1-7", -1));
        assert_eq!(till.reserve(&one).await, Reservation::SessionEnded);
        one.session = Some(session("1-7", 300_000));
        let id = SessionId::parse("1-7").unwrap();
        for _twice in 0..2 {
            till.inventory.session_end(&event(), &fan(1), &id, in_ms(300_000)).await.unwrap();
        }
        assert_eq!(till.reserve(&one).await, Reservation::SessionEnded);
        // A new session of the same fan, and another fan's session of that name, are others.
        one.session = Some(session("1-9", 300_000));
        till.hold(&one).await;
        let mut two = wish(2, "k", vec![places("floor", 1)]);
        two.session = Some(session("1-7", 300_000));
        till.hold(&two).await;
        // A hold that is there is found with the ended session too.
        one.session = Some(session("1-7", 300_000));
        assert!(matches!(till.reserve(&one).await, Reservation::Replayed(_)));
    })
    .await;
}

#[tokio::test]
async fn a_session_that_ended_stays_ended_in_the_next_epoch() {
    each_engine(async |till: Till| {
        let id = SessionId::parse("1-7").unwrap();
        till.inventory.session_end(&event(), &fan(1), &id, in_ms(300_000)).await.unwrap();
        till.sell(10, 0).await;
        let mut one = wish(1, "k", vec![places("floor", 1)]);
        one.session = Some(Session { id, expires_at: in_ms(300_000) });
        assert_eq!(till.reserve(&one).await, Reservation::SessionEnded);
        till.sell_in(domain::Epoch(2), 10, 0).await;
        one.epoch = domain::Epoch(2);
        assert_eq!(till.reserve(&one).await, Reservation::SessionEnded);
    })
    .await;
}

/// B6: in one order, in two, in two at once.
#[tokio::test]
async fn a_limit_holds_over_types_and_orders() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let mut sale = sale(2);
        sale.limit_per_customer = Some(1);
        till.sale_set(&sale).await;
        let over = Reservation::OverLimit { ticket_type: None, limit: 1 };
        assert_eq!(till.reserve(&wish(1, "a", vec![places("floor", 1), seats([0])])).await, over);
        assert_eq!(till.reserve(&wish(1, "b", vec![places("floor", 2)])).await, over);
        till.hold(&wish(1, "c", vec![places("floor", 1)])).await;
        assert_eq!(till.reserve(&wish(1, "d", vec![seats([0])])).await, over);
        assert_eq!(till.reserve(&wish(1, "e", vec![places("floor", 1)])).await, over);
        let wishes = ["x", "y"].map(|key| wish(2, key, vec![places("floor", 1)]));
        let replies = join_all(wishes.iter().map(|wish| till.reserve(wish))).await;
        assert_eq!(replies.iter().filter(|reply| **reply == over).count(), 1);
        assert_eq!(till.counts("floor").await, [8, 2, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_types_own_limit_counts_that_type_only() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let control = TypeControl { limit_per_customer: Some(2), version: 2, ..floor(10, 10) };
        till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        let over = Reservation::OverLimit { ticket_type: Some(kind("floor")), limit: 2 };
        assert_eq!(till.reserve(&wish(1, "a", vec![places("floor", 3)])).await, over);
        till.hold(&wish(1, "b", vec![places("floor", 1), seats([0, 1, 2])])).await;
        assert_eq!(till.reserve(&wish(1, "c", vec![places("floor", 2)])).await, over);
        till.hold(&wish(1, "d", vec![places("floor", 1)])).await;
        assert_eq!(till.reserve(&wish(1, "e", vec![places("floor", 1)])).await, over);
    })
    .await;
}

#[tokio::test]
async fn what_a_customer_gave_back_no_longer_counts_against_the_limit() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let mut sale = sale(2);
        sale.limit_per_customer = Some(1);
        till.sale_set(&sale).await;
        let mut first = wish(1, "a", vec![places("floor", 1)]);
        first.hold = SHORT;
        let hold = till.hold(&first).await;
        till.passed(hold.expires_at).await;
        let second = wish(1, "b", vec![places("floor", 1)]);
        let live = till.sold(&second).await;
        assert!(matches!(
            till.reserve(&wish(1, "c", vec![places("floor", 1)])).await,
            Reservation::OverLimit { .. }
        ));
        till.settle(&ended(&live)).await;
        till.hold(&wish(1, "d", vec![places("floor", 1)])).await;
    })
    .await;
}

/// B21, and unknown types and kinds.
#[tokio::test]
async fn what_does_not_exist_is_named_and_locks_nothing() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let reply = till.reserve(&wish(1, "a", vec![seats([1, 70, 80])])).await;
        assert_eq!(reply, Reservation::UnknownSeat { line: 0, seats: vec![seat(70), seat(80)] });
        let reply = till.reserve(&wish(1, "b", vec![places("floor", 1), places("gold", 1)])).await;
        assert_eq!(reply, Reservation::UnknownType { line: 1 });
        assert_eq!(
            till.reserve(&wish(1, "c", vec![places("gold", 1)])).await,
            Reservation::UnknownType { line: 0 }
        );
        assert_eq!(
            till.reserve(&wish(1, "d", vec![places("stalls", 1)])).await,
            Reservation::WrongKind { line: 0 }
        );
        let mut wrong = seats([1]);
        wrong.ticket_type = kind("floor");
        assert_eq!(
            till.reserve(&wish(1, "e", vec![wrong])).await,
            Reservation::WrongKind { line: 0 }
        );
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
        assert_eq!(till.counts("stalls").await, [10, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_type_whose_name_begins_like_anothers_is_another() {
    each_engine(async |till: Till| {
        till.sell(1, 0).await;
        for (index, name) in [(3, "floor2"), (4, "loor"), (5, "f")] {
            let control =
                TypeControl { id: kind(name), index, amount: i64::from(index), ..floor(5, 5) };
            till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        }
        for (index, name) in [(3, "floor2"), (4, "loor"), (5, "f")] {
            let hold = till.hold(&wish(1, name, vec![places(name, 1)])).await;
            assert_eq!(hold.lines[0].unit_amount, i64::from(index));
        }
        assert_eq!(till.counts("floor").await, [1, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_price_that_reads_like_a_types_name_is_no_type() {
    each_engine(async |till: Till| {
        till.sell(5, 0).await;
        let amount = i64::from(u32::from_be_bytes(*b"/f/\x01"));
        let control = TypeControl { amount, version: 2, ..floor(5, 5) };
        till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        let control = TypeControl { id: kind("f"), index: 3, ..floor(5, 5) };
        till.inventory.type_set(&event(), EPOCH, &control).await.unwrap();
        let hold = till.hold(&wish(1, "k", vec![places("f", 1)])).await;
        assert_eq!(hold.lines[0].unit_amount, 8_800);
        assert_eq!(till.counts("f").await, [4, 1, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn without_an_admission_only_a_hold_that_is_there_is_found() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let mut replay = wish(1, "k", vec![places("floor", 1)]);
        replay.mode = Mode::ReplayOnly;
        assert_eq!(till.reserve(&replay).await, Reservation::NotFound);
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
        let hold = till.hold(&wish(1, "k", vec![places("floor", 1)])).await;
        assert_eq!(till.reserve(&replay).await, Reservation::Replayed(hold));
    })
    .await;
}

#[tokio::test]
async fn an_operator_withdraws_outside_the_sale_and_over_the_limit() {
    each_engine(async |till: Till| {
        till.sell(50, 0).await;
        let mut sale = sale(2);
        sale.switch = SaleSwitch::Scheduled;
        sale.limit_per_customer = Some(1);
        till.sale_set(&sale).await;
        let mut withdrawal = wish(1, "k", vec![places("floor", 40)]);
        withdrawal.mode = Mode::Withdraw;
        let mut settle = persisted(&withdrawal, &till.hold(&withdrawal).await);
        settle.standing = redis_store::SettleStanding::Withdrawn;
        till.settle(&settle).await;
        assert_eq!(till.counts("floor").await, [10, 0, 0, 40]);
        let mut more = wish(1, "l", vec![places("floor", 11)]);
        more.mode = Mode::Withdraw;
        assert_eq!(till.reserve(&more).await, Reservation::SoldOut { line: 0 });
        till.settle(&ended(&settle)).await;
        assert_eq!(till.counts("floor").await, [50, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_caller_of_another_epoch_is_told_which_one_sells() {
    each_engine(async |till: Till| {
        till.sell_in(domain::Epoch(4), 10, 0).await;
        for stale in [domain::Epoch(3), domain::Epoch(5)] {
            let mut wish = wish(1, "k", vec![places("floor", 1)]);
            wish.epoch = stale;
            let active = domain::Epoch(4);
            assert_eq!(till.reserve(&wish).await, Reservation::StaleEpoch { active });
        }
    })
    .await;
}

#[tokio::test]
async fn a_customer_has_so_many_orders_on_record_and_no_more() {
    each_engine(async |till: Till| {
        till.sell(1_000, 0).await;
        for number in 0..200 {
            let key = number.to_string();
            till.hold(&wish(1, &key, vec![places("floor", 1)])).await;
            assert_eq!(till.release(&order(1, &key), &fan(1)).await, Released::GivenBack);
        }
        let reply = till.reserve(&wish(1, "more", vec![places("floor", 1)])).await;
        assert_eq!(reply, Reservation::TooManyOrders);
        till.hold(&wish(2, "k", vec![places("floor", 1)])).await;
    })
    .await;
}

#[tokio::test]
async fn a_session_that_is_ended_again_for_shorter_stays_ended_for_as_long_as_before() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let mut one = wish(1, "k", vec![places("floor", 1)]);
        one.session = Some(session("1-7", 300_000));
        let id = SessionId::parse("1-7").unwrap();
        let shorter = in_ms(100);
        for until in [in_ms(300_000), shorter] {
            till.inventory.session_end(&event(), &fan(1), &id, until).await.unwrap();
        }
        till.passed(shorter).await;
        assert_eq!(till.reserve(&one).await, Reservation::SessionEnded);
    })
    .await;
}

#[tokio::test]
async fn a_mark_of_a_session_goes_when_no_token_of_it_can_live() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let mut one = wish(1, "k", vec![places("floor", 1)]);
        one.session = Some(session("1-7", 300_000));
        let id = SessionId::parse("1-7").unwrap();
        let until = in_ms(100);
        till.inventory.session_end(&event(), &fan(1), &id, until).await.unwrap();
        assert_eq!(till.reserve(&one).await, Reservation::SessionEnded);
        till.passed(until).await;
        till.hold(&one).await;
    })
    .await;
}
