//! What each operation really sends, beside what its entry allows it to.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ConnectionId, Epoch, OrderState, QueueSettings, Section, TicketKind, WithdrawalId};
use dynamo_store::{
    Connection, Consistency, OPERATIONS, StoredKey, Subscription, Table, UnitOwner, Withdrawal,
    WithdrawalState,
};
use serde_json::{Value, json};
use test_support::dynamo::{Dynamo, Tables};
use test_support::wire::{Fault, Sent, Wire};

use crate::given::{self, PATIENT, Stores, line, partitions, serials};

type Rights = BTreeSet<(Table, String)>;

struct Recorder<'a> {
    wire: &'a Wire,
    tables: &'a Tables,
    seen: BTreeMap<&'static str, Rights>,
}

impl Recorder<'_> {
    /// Runs an operation and notes what it sent.
    async fn record<T>(&mut self, name: &'static str, call: impl Future<Output = T>) -> T {
        let _ = self.wire.take_sent();
        let result = call.await;
        let sent = self.wire.take_sent();
        assert!(!sent.is_empty(), "{name} sent nothing");
        let rights = sent.iter().flat_map(|sent| self.rights_of(sent));
        let rights: Rights = rights.collect();
        self.seen.entry(name).or_default().extend(rights);
        result
    }

    fn rights_of(&self, sent: &Sent) -> Vec<(Table, String)> {
        match sent.action.as_str() {
            "TransactGetItems" | "TransactWriteItems" => {
                let steps = sent.request["TransactItems"].as_array().unwrap();
                let step = |step: &Value| {
                    let (action, body) = step.as_object().unwrap().iter().next().unwrap();
                    (self.table(body), format!("{action}Item"))
                };
                steps.iter().map(step).collect()
            }
            "BatchGetItem" => {
                let tables = sent.request["RequestItems"].as_object().unwrap().keys();
                let table = |name: &String| self.table(&json!({ "TableName": name }));
                tables.map(|name| (table(name), sent.action.clone())).collect()
            }
            _ => vec![(self.table(&sent.request), sent.action.clone())],
        }
    }

    fn table(&self, request: &Value) -> Table {
        let name = request["TableName"].as_str().unwrap();
        let tables = self.tables;
        [
            (&tables.catalog, Table::Catalog),
            (&tables.orders, Table::Orders),
            (&tables.units, Table::Units),
            (&tables.connections, Table::Connections),
        ]
        .into_iter()
        .find_map(|(known, table)| (known == name).then_some(table))
        .map(|table| if table == Table::Catalog { catalog_part(request) } else { table })
        .unwrap()
    }
}

/// The part of the catalogue's table that a request is about, by its partition.
fn catalog_part(request: &Value) -> Table {
    let partitions = [&request["Key"]["pk"], &request["Item"]["pk"]];
    let partitions = partitions.into_iter().chain(entries(&request["ExpressionAttributeValues"]));
    let named: Vec<&str> = partitions.filter_map(|value| value["S"].as_str()).collect();
    match named.iter().any(|partition| partition.starts_with("event#")) {
        true => Table::Catalog,
        false if named.contains(&"keys") => Table::Keys,
        false => panic!("of no partition: {request}"),
    }
}

fn entries(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_object().into_iter().flat_map(|entries| entries.values())
}

#[tokio::test]
async fn every_operation_sends_what_its_entry_says_and_nothing_else() {
    let (dynamo, wire) = (Dynamo::start().await, Wire::new());
    let stores = Stores::new(&wire.over(&dynamo.sdk_config()), &dynamo.tables);
    let mut recorder = Recorder { wire: &wire, tables: &dynamo.tables, seen: BTreeMap::new() };
    catalog(&mut recorder, &stores).await;
    orders(&mut recorder, &stores).await;
    connections(&mut recorder, &stores).await;

    let mut declared: BTreeMap<&str, Rights> = BTreeMap::new();
    for operation in OPERATIONS {
        let actions = operation.actions.iter().map(|action| (operation.table, action.to_string()));
        declared.entry(operation.name).or_default().extend(actions);
    }
    let elsewhere = |name: &&str| {
        name.starts_with("ticker_") || name.ends_with("_cached") || name.ends_with("_renewed")
    };
    declared.retain(|name, _| !elsewhere(name));
    assert_eq!(recorder.seen, declared);
}

async fn catalog(recorder: &mut Recorder<'_>, Stores { catalog, .. }: &Stores) {
    let (event, id) = (given::event(), given::event_id());
    let edit = domain::Event { version: 2, ..event.clone() };
    let consistency = Consistency::Strong;
    recorder.record("catalog_reach", catalog.catalog_reach()).await.unwrap();
    recorder.record("event_create", catalog.event_create(&event)).await.unwrap();
    recorder.record("event_fetch", catalog.event_fetch(&id, consistency)).await.unwrap();
    recorder.record("event_update", catalog.event_update(&edit)).await.unwrap();
    let (command, opened) = (given::command("k"), given::opened(3));
    // Its longest way: the outcome is unknown, and the command is read.
    recorder.wire.next("TransactWriteItems", Fault::ReplyLost);
    let put = catalog.sale_command_put(&opened, &command);
    recorder.record("sale_command_put", put).await.unwrap();
    let fetch = catalog.sale_command_fetch(&id, &command);
    recorder.record("sale_command_fetch", fetch).await.unwrap();
    let mut stalls = given::ticket_type("stalls", 1, TicketKind::ReservedSeating, 0);
    let create = catalog.ticket_type_create(&id, &stalls);
    recorder.record("ticket_type_create", create).await.unwrap();
    stalls.version = 2;
    let resize = catalog.ticket_type_resize(&id, &stalls);
    recorder.record("ticket_type_resize", resize).await.unwrap();
    recorder.record("epoch_raise", catalog.epoch_raise(&edit)).await.unwrap();
    recorder.record("event_activate", catalog.event_activate(&id, Epoch(1))).await.unwrap();

    let fetch = catalog.ticket_type_fetch(&id, &stalls.id);
    recorder.record("ticket_type_fetch", fetch).await.unwrap();
    let settled = catalog.ticket_types_settled(&id, std::slice::from_ref(&stalls.id));
    recorder.record("ticket_types_settled", settled).await.unwrap();
    let list = catalog.ticket_types_list(&id, consistency);
    recorder.record("ticket_types_list", list).await.unwrap();
    stalls.version = 3;
    let update = catalog.ticket_type_update(&id, &stalls);
    recorder.record("ticket_type_update", update).await.unwrap();
    let rows = vec![domain::Row { row: "1".to_owned(), seats: vec!["1".to_owned()] }];
    let a = domain::SectionId::parse("A").unwrap();
    let section = Section::new(a.clone(), stalls.id.clone(), 0, rows).unwrap();
    let grown = domain::TicketType { ceiling: 1, capacity: 1, version: 4, ..stalls };
    let put = catalog.section_put(&id, &section, &grown);
    recorder.record("section_put", put).await.unwrap();
    recorder.record("section_fetch", catalog.section_fetch(&id, &a)).await.unwrap();
    recorder.record("sections_list", catalog.sections_list(&id, consistency)).await.unwrap();

    let floor = given::type_id("floor");
    recorder.record("mark_raise", catalog.mark_raise(&id, &floor, 30)).await.unwrap();
    recorder.record("mark_fetch", catalog.mark_fetch(&id, &floor)).await.unwrap();
    let mut withdrawal = Withdrawal {
        id: WithdrawalId::parse("w").unwrap(),
        lines: Vec::new(),
        orders: Vec::new(),
        kept: None,
        state: WithdrawalState::Taking,
        version: 1,
    };
    let create = catalog.withdrawal_create(&id, &withdrawal);
    recorder.record("withdrawal_create", create).await.unwrap();
    withdrawal.version = 2;
    let update = catalog.withdrawal_update(&id, &withdrawal);
    recorder.record("withdrawal_update", update).await.unwrap();
    withdrawal.version = 3;
    let cut = domain::TicketType { version: 5, ..grown };
    let write = catalog.capacity_write(&id, &cut, std::slice::from_ref(&withdrawal));
    recorder.record("capacity_write", write).await.unwrap();
    let fetch = catalog.withdrawal_fetch(&id, &withdrawal.id);
    recorder.record("withdrawal_fetch", fetch).await.unwrap();
    recorder.record("withdrawals_list", catalog.withdrawals_list(&id)).await.unwrap();
    let settings = QueueSettings::default();
    recorder.record("queue_put", catalog.queue_put(&id, &settings, 1)).await.unwrap();
    recorder.record("queue_fetch", catalog.queue_fetch(&id)).await.unwrap();
    let raise = catalog.queue_generation_raise(&id, 1);
    recorder.record("queue_generation_raise", raise).await.unwrap();
    let key = StoredKey { kid: "k".to_owned(), jwk: "{}".to_owned() };
    recorder.record("key_put", catalog.key_put(&key)).await.unwrap();
    recorder.record("keys_list", catalog.keys_list()).await.unwrap();
}

async fn orders(recorder: &mut Recorder<'_>, Stores { orders, .. }: &Stores) {
    let partitions = partitions();
    let (event, floor) = (given::event_id(), given::type_id("floor"));
    let mut order = given::order("fan-1", vec![line("floor", serials([0]))]);
    // Their longest way: the outcome is unknown, and the order is read.
    recorder.wire.next("TransactWriteItems", Fault::ReplyLost);
    let persist = orders.order_persist(&order, &partitions, PATIENT);
    recorder.record("order_persist", persist).await.unwrap();
    let refusal = given::refusal(given::intent("fan-2", "k"));
    recorder.wire.next("PutItem", Fault::ReplyLost);
    recorder.record("order_refuse", orders.order_refuse(&refusal)).await.unwrap();
    let fetch = orders.order_fetch(&order.customer, &order.id);
    recorder.record("order_fetch", fetch).await.unwrap();
    let customer = order.customer.key();
    let fetch = orders.order_fetch_by_key(&customer, &order.id);
    recorder.record("order_fetch_by_key", fetch).await.unwrap();
    let owner = UnitOwner { order: order.id, customer: order.customer.clone() };
    recorder.record("orders_fetch", orders.orders_fetch(&[owner])).await.unwrap();
    recorder.record("orders_list", orders.orders_list(&order.customer, 10, None)).await.unwrap();
    let unit = domain::UnitId::Serial(0);
    let fetch = orders.unit_owner(&event, &floor, &unit, &partitions);
    recorder.record("unit_owner", fetch).await.unwrap();
    recorder.record("units_list", orders.units_list(&event, &floor, &partitions)).await.unwrap();
    // A unit that is not its own: the longest way there is.
    order.lines[0].units.push(domain::UnitId::Serial(1));
    let end = orders.order_end(&order, OrderState::Expired, given::at(700), &partitions);
    recorder.record("order_end", end).await.unwrap();
}

async fn connections(recorder: &mut Recorder<'_>, Stores { connections, .. }: &Stores) {
    let (event, id) = (given::event_id(), ConnectionId::parse("c").unwrap());
    let customer = given::customer("fan-1");
    let connection = Connection {
        id: id.clone(),
        customer: Some(customer.clone()),
        connected_at: given::at(0),
        events: BTreeSet::new(),
    };
    let subscription =
        Subscription { event: event.clone(), connection: id.clone(), sections: Vec::new() };
    recorder.record("connections_reach", connections.connections_reach()).await.unwrap();
    let put = connections.connection_put(&connection);
    recorder.record("connection_put", put).await.unwrap();
    recorder.record("connection_fetch", connections.connection_fetch(&id)).await.unwrap();
    let own = connections.customer_connections_list(&customer);
    recorder.record("customer_connections_list", own).await.unwrap();
    let put = connections.subscription_put(&subscription);
    recorder.record("subscription_put", put).await.unwrap();
    let list = connections.subscribers_list(&event);
    recorder.record("subscribers_list", list).await.unwrap();
    let delete = connections.subscription_delete(&event, &id);
    recorder.record("subscription_delete", delete).await.unwrap();
    connections.subscription_put(&subscription).await.unwrap();
    recorder.record("connection_delete", connections.connection_delete(&id)).await.unwrap();
}

#[tokio::test]
async fn whatever_decides_is_read_consistently() {
    let (dynamo, wire) = (Dynamo::start().await, Wire::new());
    let stores = Stores::new(&wire.over(&dynamo.sdk_config()), &dynamo.tables);
    let (event, floor) = (given::event_id(), given::type_id("floor"));
    let order = given::order("fan-1", vec![]);
    let owner = UnitOwner { order: order.id, customer: order.customer.clone() };
    let partitions = partitions();
    let (orders, catalog) = (&stores.orders, &stores.catalog);
    // Whose unit it is that the order names and does not own.
    let mut with_foreign = given::order("fan-2", vec![line("floor", serials([0]))]);
    orders.order_persist(&with_foreign, &partitions, PATIENT).await.unwrap();
    with_foreign.lines[0].units.push(domain::UnitId::Serial(1));
    let end = orders.order_end(&with_foreign, OrderState::Expired, given::at(700), &partitions);
    end.await.unwrap();
    orders.order_fetch(&order.customer, &order.id).await.unwrap();
    orders.order_fetch_by_key(&order.customer.key(), &order.id).await.unwrap();
    orders.orders_fetch(&[owner]).await.unwrap();
    let unit = domain::UnitId::Serial(0);
    orders.unit_owner(&event, &floor, &unit, &partitions).await.unwrap();
    orders.units_list(&event, &floor, &partitions).await.unwrap();
    catalog.event_fetch(&event, Consistency::Strong).await.unwrap();
    catalog.sale_command_fetch(&event, &given::command("k")).await.unwrap();
    catalog.ticket_types_list(&event, Consistency::Strong).await.unwrap();
    catalog.ticket_type_fetch(&event, &floor).await.unwrap();
    catalog.mark_fetch(&event, &floor).await.unwrap();
    catalog.withdrawals_list(&event).await.unwrap();
    catalog.queue_fetch(&event).await.unwrap();
    catalog.keys_list().await.unwrap();
    let mut sent = wire.take_sent();
    sent.retain(|sent| sent.action != "TransactWriteItems");
    assert_eq!(sent.len(), 13 + 3, "a type's three partitions are read each");
    for sent in sent {
        let request = match sent.action.as_str() {
            "BatchGetItem" => &sent.request["RequestItems"][&dynamo.tables.orders],
            _ => &sent.request,
        };
        assert_eq!(request["ConsistentRead"], Value::Bool(true), "{}", sent.request);
    }
}
