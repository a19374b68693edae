//! Time that passes for one order at a time, without anybody's waiting: instants
//! that are stored are moved to now.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{CustomerKey, Epoch, OrderId};
use redis::Script;
use test_sale::{Sale, now, show};

/// What happens to what Redis knows of an order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Passing {
    /// Its hold lapses.
    Lapse,
    /// It is not paid in time.
    Due,
    /// It is forgotten.
    Forget,
}

/// In Redis.
pub(crate) async fn pass(
    sale: &Sale,
    epoch: Epoch,
    order: &OrderId,
    customer: &CustomerKey,
    what: Passing,
) {
    let script = Script::new(concat!(
        include_str!("../../../shared/redis-store/src/inventory/prelude.lua"),
        "\n",
        include_str!("../../../shared/redis-store/src/inventory/lines.lua"),
        "\n",
        include_str!("time.lua")
    ));
    let what = match what {
        Passing::Lapse => "lapse",
        Passing::Due => "due",
        Passing::Forget => "forget",
    };
    let mut call = script.prepare_invoke();
    call.key(format!("{{i:{}}}:gate", show()))
        .key(format!("{{i:{}}}:{epoch}:customers", show()))
        .arg(epoch.0)
        .arg(&customer.0[..])
        .arg(&order.as_bytes()[..])
        .arg(what);
    let mut connection = connection(sale).await;
    call.invoke_async::<i64>(&mut connection).await.expect("Redis");
}

/// Redis is emptied.
pub(crate) async fn flush(sale: &Sale) {
    let mut connection = connection(sale).await;
    redis::cmd("FLUSHALL").exec_async(&mut connection).await.expect("Redis");
}

async fn connection(sale: &Sale) -> redis::aio::MultiplexedConnection {
    let client = redis::Client::open(sale.redis.url()).expect("a URL");
    client.get_multiplexed_async_connection().await.expect("Redis")
}

/// In the orders table: the order was to be paid by now.
pub(crate) async fn fall_due(sale: &Sale, order: &OrderId) {
    let client = sale.dynamo.client();
    let table = &sale.dynamo.tables.orders;
    let item = item(sale, order).await.expect("a stored order");
    let key = |name: &str| item.get(name).cloned().expect("a key");
    client
        .update_item()
        .table_name(table)
        .key("pk", key("pk"))
        .key("sk", key("sk"))
        .update_expression("SET pay_by = :now")
        .expression_attribute_values(":now", AttributeValue::N(now().as_millisecond().to_string()))
        .send()
        .await
        .expect("DynamoDB");
}

/// An order's item as it is now; none: there is none.
pub(crate) async fn item(
    sale: &Sale,
    order: &OrderId,
) -> Option<std::collections::HashMap<String, AttributeValue>> {
    let scan = sale.dynamo.client().scan().table_name(&sale.dynamo.tables.orders);
    let items = scan.consistent_read(true).send().await.expect("DynamoDB").items;
    let sort_key = AttributeValue::S(order.to_string());
    items.unwrap_or_default().into_iter().find(|item| item.get("sk") == Some(&sort_key))
}
