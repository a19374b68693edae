//! What is known of orders.

use redis_store::{RecordState, Recorded, Reserve};

use crate::till::*;

#[tokio::test]
async fn an_orders_record_follows_it_to_its_end() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let one = wish(1, "k", vec![places("floor", 2), seats([4, 2])]);
        assert_eq!(till.recorded(&one).await, Recorded::Unknown);
        let hold = till.hold(&one).await;
        let held = till.record(&one).await;
        assert_eq!((held.state, held.expires_at), (RecordState::Held, hold.expires_at));
        assert_eq!(held.lines, hold.lines);
        assert_eq!(held.fingerprint, PRINT.short());
        let live = persisted(&one, &hold);
        till.settle(&live).await;
        assert_eq!(till.record(&one).await.state, RecordState::Live);
        till.settle(&ended(&live)).await;
        let gone = till.record(&one).await;
        assert_eq!(gone.state, RecordState::Ended);
        assert!(gone.lines.is_empty());
        let others = Reserve { customer: fan(2), ..one };
        assert_eq!(till.recorded(&others).await, Recorded::Unknown, "an order is its owner's");
    })
    .await;
}

#[tokio::test]
async fn an_order_is_denied_by_the_epoch_that_sells_and_by_no_other() {
    each_engine(async |till: Till| {
        let one = wish(1, "k", vec![places("floor", 1)]);
        assert_eq!(till.recorded(&one).await, Recorded::Unavailable);
        till.sell(1, 1).await;
        till.hold(&one).await;
        assert!(till.inventory.build_begin(&event(), domain::Epoch(2)).await.unwrap());
        assert_eq!(till.recorded(&one).await, Recorded::Unavailable);
        till.sell_in(domain::Epoch(2), 1, 1).await;
        let active = domain::Epoch(2);
        assert_eq!(till.recorded(&one).await, Recorded::StaleEpoch { active });
    })
    .await;
}

#[tokio::test]
async fn there_are_no_counts_without_an_inventory() {
    each_engine(async |till: Till| {
        assert_eq!(till.inventory.counts(&event(), EPOCH).await.unwrap(), None);
        till.sell(1, 1).await;
        let names: Vec<_> =
            till.counts_in(EPOCH).await.into_iter().map(|one| one.ticket_type).collect();
        assert_eq!(names[..2], [kind("floor"), kind("stalls")]);
        assert_eq!(till.inventory.counts(&event(), domain::Epoch(2)).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_record_says_lapsed_from_the_very_end_of_its_hold_on() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let mut short = wish(1, "k", vec![places("floor", 1)]);
        short.hold = SHORT;
        let hold = till.hold(&short).await;
        till.passed(hold.expires_at).await;
        assert_eq!(till.record(&short).await.state, RecordState::Lapsed);
    })
    .await;
}
