//! What can happen between a caller and Redis.

use redis_server::{Engine, Proxy, RedisServer};
use redis_store::{Inventory, Redis, RedisMode, Released, Reservation, Settled};

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
        assert_eq!(till.release(&live.order, &fan(1)).await, Released::Unavailable);
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

/// Opens the connection and makes the scripts known, so that the next reply on
/// it is that of a script that ran.
async fn warm_up(till: &Till, inventory: &Inventory) {
    let live = till.sold(&wish(99, "k", vec![places("floor", 1)])).await;
    till.settle(&ended(&live)).await;
    inventory.release(&event(), EPOCH, &live.order, &fan(99)).await.unwrap();
}

/// M7: the script ran, and its reply was lost with the connection.
#[tokio::test]
async fn a_reply_that_is_lost_is_asked_for_again_and_nothing_happens_twice() {
    each_engine(async |till: Till| {
        till.sell(10, 10).await;
        let proxy = Proxy::to(till.server.port());
        let inventory = Inventory::new(Redis::connect(&proxy.url(), RedisMode::Single));
        warm_up(&till, &inventory).await;
        for (key, line) in [("a", places("floor", 2)), ("b", seats([1, 2]))] {
            let wish = wish(1, key, vec![line]);
            proxy.lose_replies(1);
            let reply = inventory.reserve(&wish).await.unwrap();
            assert_eq!(proxy.to_lose(), 0);
            let Reservation::Replayed(hold) = reply else { panic!("{reply:?}") };
            let live = persisted(&wish, &hold);
            proxy.lose_replies(1);
            assert_eq!(inventory.settle(&live).await.unwrap(), Settled::Ignored);
            proxy.lose_replies(1);
            assert_eq!(inventory.settle(&ended(&live)).await.unwrap(), Settled::Ignored);
            let again =
                crate::till::wish(1, &format!("{key}{key}"), wish.lines.as_slice().to_vec());
            till.hold(&again).await;
            proxy.lose_replies(1);
            let freed = inventory.release(&event(), EPOCH, &again.order, &fan(1)).await.unwrap();
            assert_eq!(freed, Released::NoHold, "the first time had done it");
        }
        assert_eq!(till.counts("floor").await, [10, 0, 0, 0]);
        assert_eq!(till.counts("stalls").await, [10, 0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn a_redis_that_stays_away_is_a_fault_that_may_pass() {
    each_engine(async |till: Till| {
        till.sell(10, 0).await;
        let proxy = Proxy::to(till.server.port());
        let inventory = Inventory::new(Redis::connect(&proxy.url(), RedisMode::Single));
        warm_up(&till, &inventory).await;
        let wish = wish(1, "k", vec![places("floor", 1)]);
        proxy.lose_replies(1_000);
        let error = inventory.reserve(&wish).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        proxy.lose_replies(0);
        assert!(matches!(inventory.reserve(&wish).await.unwrap(), Reservation::Replayed(_)));
    })
    .await;
}

/// M7: the node became a replica, and the name leads to another by now. The old
/// connection still stands.
#[tokio::test]
async fn a_node_that_turned_read_only_is_left_for_the_one_the_name_leads_to() {
    for engine in Engine::ALL {
        let (old, new) = (Till::open(engine).await, Till::open(engine).await);
        for till in [&old, &new] {
            till.sell(10, 10).await;
        }
        let proxy = Proxy::to(old.server.port());
        let inventory = Inventory::new(Redis::connect(&proxy.url(), RedisMode::Single));
        warm_up(&old, &inventory).await;
        follow_nobody(&old.server);
        proxy.lead_to(new.server.port());
        let wish = wish(1, "k", vec![places("floor", 1), seats([1])]);
        let reply = inventory.reserve(&wish).await.unwrap();
        assert!(matches!(reply, Reservation::Held(_)), "{reply:?}");
        assert_eq!(new.counts("floor").await, [9, 1, 0, 0], "once");
        assert!(matches!(inventory.reserve(&wish).await.unwrap(), Reservation::Replayed(_)));
    }
}

#[tokio::test]
async fn a_node_that_turned_read_only_decides_nothing() {
    for engine in Engine::ALL {
        let till = Till::open(engine).await;
        till.sell(10, 0).await;
        follow_nobody(&till.server);
        let wish = wish(1, "k", vec![places("floor", 1)]);
        let error = till.inventory.reserve(&wish).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
    }
}

/// Makes it a replica, of a master that is away: it keeps what it has and takes no
/// write.
fn follow_nobody(server: &RedisServer) {
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    redis::cmd("REPLICAOF").arg("127.0.0.1").arg("1").exec(&mut connection).unwrap();
}
