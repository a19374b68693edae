//! On a cluster of three masters: every event lives on one node, and which one
//! does not matter.

use domain::EventId;
use redis_server::{Engine, RedisCluster};
use redis_store::{Inventory, LoadedCounts, Redis, RedisMode, Reservation, Settled};

use crate::till::*;

async fn sell_one(inventory: &Inventory, event: &EventId) {
    assert!(inventory.build_begin(event, EPOCH).await.unwrap());
    inventory.sale_set(event, EPOCH, &sale(1)).await.unwrap();
    inventory.type_set(event, EPOCH, &floor(1, 1)).await.unwrap();
    inventory.type_set(event, EPOCH, &stalls()).await.unwrap();
    inventory.seats_add(event, EPOCH, &kind("stalls"), 0, &[seat(0)]).await.unwrap();
    let nothing = LoadedCounts { units: 0, orders: 0 };
    assert!(inventory.activate(event, EPOCH, nothing).await.unwrap());
    let mut wish = wish(1, "k", vec![places("floor", 1), seats([0])]);
    wish.event = event.clone();
    let Reservation::Held(hold) = inventory.reserve(&wish).await.unwrap() else { panic!() };
    let settle = persisted(&wish, &hold);
    assert_eq!(inventory.settle(&settle).await.unwrap(), Settled::Applied);
    wish.customer = fan(2);
    wish.order = order(2, "k");
    let refused = inventory.reserve(&wish).await.unwrap();
    assert_eq!(refused, Reservation::SoldOut { line: 0 });
    assert_eq!(inventory.settle(&ended(&settle)).await.unwrap(), Settled::Applied);
    assert!(matches!(inventory.reserve(&wish).await.unwrap(), Reservation::Held(_)));
}

#[tokio::test]
async fn events_sell_on_every_node_also_after_scripts_were_forgotten() {
    let cluster = RedisCluster::start(Engine::Valkey);
    let inventory = Inventory::new(Redis::connect(&cluster.url(), RedisMode::Cluster));
    for number in 0..12 {
        if number == 6 {
            for node in cluster.nodes() {
                let client = redis::Client::open(node.url()).unwrap();
                let mut connection = client.get_connection().unwrap();
                redis::cmd("SCRIPT").arg("FLUSH").exec(&mut connection).unwrap();
            }
        }
        sell_one(&inventory, &EventId::parse(&format!("show-{number}")).unwrap()).await;
    }
    for node in cluster.nodes() {
        let client = redis::Client::open(node.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let keys: usize = redis::cmd("DBSIZE").query(&mut connection).unwrap();
        assert!(keys > 0, "an event on every node");
    }
}
