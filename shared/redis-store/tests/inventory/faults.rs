//! What can happen between a caller and Redis.

use redis_store::{Reservation, Settled};

use crate::till::*;

async fn forget_scripts(till: &Till) {
    let client = redis::Client::open(till.server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("SCRIPT").arg("FLUSH").exec_async(&mut connection).await.unwrap();
}

/// M7, its first part.
#[tokio::test]
async fn scripts_that_redis_forgot_are_sent_again() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let wish = wish(1, "k", vec![places("floor", 1), seats([1])]);
        forget_scripts(&till).await;
        let hold = till.hold(&wish).await;
        forget_scripts(&till).await;
        assert_eq!(till.settle(&persisted(&wish, &hold)).await, Settled::Applied);
        forget_scripts(&till).await;
        assert_eq!(till.counts("floor").await, [9, 0, 1, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_flushed_redis_sells_nothing() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let live = till.sold(&wish(1, "k", vec![places("floor", 1)])).await;
        let client = redis::Client::open(till.server.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        redis::cmd("FLUSHALL").exec_async(&mut connection).await.unwrap();
        let reply = till.reserve(&wish(2, "k", vec![places("floor", 1)])).await;
        assert_eq!(reply, Reservation::Unavailable);
        assert_eq!(till.settle(&live).await, Settled::Unavailable);
        assert!(!till.inventory.release(&event(), EPOCH, &live.order, &fan(1)).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn no_key_of_an_inventory_can_expire_or_be_evicted_for_it() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        till.sold(&wish(1, "k", vec![places("floor", 1), seats([1])])).await;
        till.hold(&wish(2, "k", vec![places("floor", 1)])).await;
        let mut short = wish(3, "k", vec![places("floor", 1)]);
        short.hold = SHORT;
        till.hold(&short).await;
        let client = redis::Client::open(till.server.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let keys: Vec<String> =
            redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
        assert!(keys.len() > 8, "{keys:?}");
        for key in keys {
            assert!(key.starts_with("{i:show}:"), "{key}: one hash tag");
            let ttl: i64 = redis::cmd("TTL").arg(&key).query_async(&mut connection).await.unwrap();
            assert_eq!(ttl, -1, "{key}");
        }
    })
    .await;
}
