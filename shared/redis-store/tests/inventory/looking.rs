//! Whether units could be had: looked at, not taken.

use domain::{Epoch, Line, LogPosition, SeatLabel};
use redis_store::{Look, Reservation, Reserve, Settle, SettleStanding, Settled};

use crate::till::*;

/// Whether a fan could have units.
fn question(number: u32, line: Line) -> Look {
    Look { event: event(), epoch: EPOCH, customer: fan(number), line }
}

async fn look(till: &Till, number: u32, line: Line) -> Option<Reservation> {
    till.inventory.look(&question(number, line)).await.unwrap()
}

const SOLD_OUT: Option<Reservation> = Some(Reservation::SoldOut { line: 0 });

fn taken(seats: Vec<SeatLabel>) -> Option<Reservation> {
    Some(Reservation::SeatTaken { line: 0, seats })
}

/// Where the log stands: it goes on with every unit that changes hands.
async fn position(till: &Till) -> LogPosition {
    let states = till.inventory.seat_states(&event(), EPOCH, &[]).await;
    states.unwrap().unwrap().position
}

async fn overdue(till: &Till, wish: &Reserve) -> Settle {
    let live = persisted(wish, &till.hold(wish).await);
    let standing = SettleStanding::Live { pay_by: Some(in_ms(-1_000)) };
    let unpaid = Settle { standing, ..live };
    assert_eq!(till.settle(&unpaid).await, Settled::Applied);
    unpaid
}

#[tokio::test]
async fn all_that_is_free_could_be_had_and_nothing_moves() {
    each_engine(async |till: Till| {
        till.sell(2_000, 40).await;
        let before = position(&till).await;
        assert_eq!(look(&till, 1, places("floor", 2_000)).await, None);
        assert_eq!(look(&till, 1, places("floor", 2_001)).await, SOLD_OUT);
        assert_eq!(look(&till, 1, seats(0..40)).await, None);
        assert_eq!(position(&till).await, before);
    })
    .await;
}

#[tokio::test]
async fn what_others_have_is_named_and_what_the_customer_has_is_not() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        till.hold(&wish(1, "k", vec![places("floor", 4), seats([0, 1])])).await;
        till.sold(&wish(1, "l", vec![places("floor", 1), seats([2])])).await;
        assert_eq!(look(&till, 1, places("floor", 10)).await, None);
        assert_eq!(look(&till, 1, places("floor", 11)).await, SOLD_OUT);
        assert_eq!(look(&till, 2, places("floor", 6)).await, SOLD_OUT);
        assert_eq!(look(&till, 2, places("floor", 5)).await, None);
        assert_eq!(look(&till, 1, seats(0..10)).await, None);
        assert_eq!(look(&till, 2, seats(1..10)).await, taken(vec![seat(1), seat(2)]));

        till.hold(&wish(2, "k", vec![places("floor", 1), seats([7])])).await;
        let before = position(&till).await;
        assert_eq!(look(&till, 1, places("floor", 10)).await, SOLD_OUT);
        assert_eq!(look(&till, 1, places("floor", 9)).await, None);
        assert_eq!(look(&till, 1, seats(0..10)).await, taken(vec![seat(7)]));
        assert_eq!(position(&till).await, before);
        assert_eq!(till.counts("floor").await, [4, 5, 1, 0]);
    })
    .await;
}

#[tokio::test]
async fn orders_that_were_not_paid_in_time_are_named_first() {
    each_engine(async |till: Till| {
        till.sell(4, 4).await;
        let old = overdue(&till, &wish(1, "k", vec![places("floor", 1), seats([3])])).await;
        let named = Some(Reservation::Overdue(vec![(old.customer, old.order)]));
        assert_eq!(look(&till, 2, places("floor", 3)).await, None, "it is in nobody's way");
        assert_eq!(look(&till, 2, places("floor", 4)).await, named);
        assert_eq!(look(&till, 2, seats(0..4)).await, named);
        assert_eq!(till.settle(&ended(&old)).await, Settled::Applied);
        assert_eq!(look(&till, 2, places("floor", 4)).await, None);
        assert_eq!(look(&till, 2, seats(0..4)).await, None);
    })
    .await;
}

#[tokio::test]
async fn holds_that_have_lapsed_are_in_nobodys_way_the_customers_own_neither() {
    each_engine(async |till: Till| {
        till.sell(4, 4).await;
        let mut last = in_ms(0);
        for number in [1, 2] {
            let lines = vec![places("floor", 2), seats([number])];
            let short = Reserve { hold: SHORT, ..wish(number, "k", lines) };
            last = till.hold(&short).await.expires_at;
        }
        till.passed(last).await;
        assert_eq!(look(&till, 2, seats(0..4)).await, None);
        assert_eq!(look(&till, 2, places("floor", 4)).await, None);
        assert_eq!(look(&till, 2, places("floor", 5)).await, SOLD_OUT);
        assert_eq!(till.counts("floor").await, [4, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn what_there_is_not_is_said() {
    each_engine(async |till: Till| {
        let nothing = look(&till, 1, places("floor", 1)).await;
        assert_eq!(nothing, Some(Reservation::Unavailable));
        till.sell(4, 4).await;
        let old = Look { epoch: Epoch(7), ..question(1, places("floor", 1)) };
        let stale = till.inventory.look(&old).await.unwrap();
        assert_eq!(stale, Some(Reservation::StaleEpoch { active: EPOCH }));
        let unknown = look(&till, 1, places("gallery", 1)).await;
        assert_eq!(unknown, Some(Reservation::UnknownType { line: 0 }));
        let wrong = Some(Reservation::WrongKind { line: 0 });
        assert_eq!(look(&till, 1, places("stalls", 1)).await, wrong);
        let labels = Line { ticket_type: kind("floor"), ..seats([0]) };
        assert_eq!(look(&till, 1, labels).await, wrong);
        let unknown = Reservation::UnknownSeat { line: 0, seats: vec![seat(4)] };
        assert_eq!(look(&till, 1, seats([3, 4])).await, Some(unknown));
    })
    .await;
}
