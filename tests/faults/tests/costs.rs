//! What an order costs from its request until it is pending, counted from what the
//! functions really sent.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use domain::OrderState;
use faults::House;
use faults::books::billed_bytes;
use faults::scenario::{FAN, KEY, Kind};
use serde_json::{Value, json};
use test_support::wire::Sent;

const PLACES: u32 = 200;

/// Everything is warm: caches are filled, connections open, scripts known.
async fn warm() -> House {
    let house = House::of(PLACES, 4).await;
    house.order("other", KEY, &Kind::Places.body()).await;
    house.order("another", KEY, &Kind::Seats.body()).await;
    house.deliver().await;
    house.stream().await;
    house.forget();
    let _ = house.sale.wire.take_sent();
    house
}

fn one_ticket() -> Value {
    json!({"lines": [{"ticket_type": "floor", "quantity": 1}]})
}

fn capacity(sent: &[Sent]) -> (f64, f64) {
    let sum = |of: fn(&Sent) -> f64| sent.iter().map(of).sum();
    (sum(|sent| sent.written), sum(|sent| sent.read))
}

#[tokio::test]
async fn a_one_ticket_order_costs_4_write_units_2_read_units_1_message_and_2_scripts() {
    let house = warm().await;
    let before = house.sale.redis.scripts_run();
    assert_eq!(house.order(FAN, KEY, &one_ticket()).await.status, 202);
    let on_the_way_in = house.sale.redis.scripts_run();
    assert_eq!(on_the_way_in - before, 1, "one script on the way in");
    assert_eq!(house.intents_sent().len(), 1, "one message");
    assert_eq!(house.deliver().await, Vec::<String>::new());
    assert_eq!(house.sale.redis.scripts_run() - on_the_way_in, 1, "one to settle");
    let sent = house.sale.wire.take_sent();
    let (written, read) = capacity(&sent);
    assert_eq!(house.fans_order().await.state, OrderState::Pending);
    println!("a one-ticket order: {written} write units, {read} read units");
    assert!(written <= 4.0, "{written}: {sent:?}");
    assert!(read <= 2.0, "{read}: {sent:?}");
}

#[tokio::test]
async fn a_refusal_costs_a_write_unit_a_read_unit_and_a_script() {
    let house = warm().await;
    let before = house.sale.redis.scripts_run();
    let too_many = json!({"lines": [{"ticket_type": "stalls", "seats": ["A-1-0"]}]});
    assert_eq!(house.order(FAN, KEY, &too_many).await.status, 409);
    assert_eq!(house.sale.redis.scripts_run() - before, 1);
    assert_eq!(house.intents_sent().len(), 0);
    let (written, read) = capacity(&house.sale.wire.take_sent());
    assert!(written <= 1.0 && read <= 1.0, "{written} {read}");
}

async fn stored_bytes(house: &House, table: &str) -> usize {
    house.items(table).await.iter().map(billed_bytes).sum()
}

#[tokio::test]
async fn an_order_and_a_refusal_take_512_bytes_each_at_most() {
    let house = House::of(PLACES, 1).await;
    let tables = house.sale.dynamo.tables.clone();
    house.order(FAN, KEY, &one_ticket()).await;
    house.deliver().await;
    let receipt = stored_bytes(&house, &tables.orders).await;
    let unit = stored_bytes(&house, &tables.units).await;
    let too_many = json!({"lines": [{"ticket_type": "floor", "quantity": 40}]});
    for key in ["first", "second", "third", "fourth"] {
        assert_eq!(house.order("rival", key, &too_many).await.status, 202);
    }
    let before = stored_bytes(&house, &tables.orders).await;
    assert_eq!(house.order("late", KEY, &too_many).await.status, 409);
    let refusal = stored_bytes(&house, &tables.orders).await - before;
    let a_day = |each: usize| each * 100_000 / 1_000_000;
    println!(
        "an order takes {receipt} bytes and {unit} for its unit, a refusal {refusal}; \
         100,000 a day grow by {} MB, 100,000 refusals by {} MB",
        a_day(receipt + unit),
        a_day(refusal)
    );
    assert!(receipt <= 512 && refusal <= 512, "{receipt} {refusal}");
}

/// No counter, no shared item: what one order writes, no other does.
#[tokio::test]
async fn no_item_is_written_by_more_than_one_order() {
    let house = warm().await;
    for number in 0..40 {
        let fan = format!("fan-{number}");
        assert_eq!(house.order(&fan, KEY, &one_ticket()).await.status, 202);
    }
    let _ = house.sale.wire.take_sent();
    assert_eq!(house.deliver().await, Vec::<String>::new());
    let mut writers: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let sent = house.sale.wire.take_sent();
    let transactions = sent.iter().filter(|sent| sent.action == "TransactWriteItems");
    for (order, transaction) in transactions.enumerate() {
        let items = transaction.request["TransactItems"].as_array().unwrap();
        assert_eq!(items.len(), 2, "the order and its unit");
        for item in items {
            let put = &item["Put"];
            let key = format!("{} {} {}", put["TableName"], put["Item"]["pk"], put["Item"]["sk"]);
            writers.entry(key).or_default().insert(order);
        }
    }
    assert_eq!(writers.len(), 80);
    assert!(writers.values().all(|orders| orders.len() == 1), "{writers:?}");
}
