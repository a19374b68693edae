//! The promises, checked on what the stores say when all is quiet.

#![expect(clippy::expect_used, reason = "only tests come here")]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{Order, OrderId, Standing, TicketTypeId, UnitId};
use dynamo_store::order_of_image;
use test_sale::{kind, partitions, show};

use crate::House;

/// What a table is billed for an item: names and values, and 100 bytes more.
///
/// # Panics
/// When it holds what no item of ours does.
#[must_use]
pub fn billed_bytes(item: &HashMap<String, AttributeValue>) -> usize {
    let value = |value: &AttributeValue| {
        let text = value.as_s().map(String::len);
        // Two digits a byte, and one byte more.
        let number = || value.as_n().map(|number| number.len().div_ceil(2) + 1);
        let bytes = |_| value.as_b().map(|bytes| bytes.as_ref().len());
        text.or_else(|_| number()).or_else(bytes).expect("items of ours have nothing else")
    };
    100 + item.iter().map(|(name, of)| name.len() + value(of)).sum::<usize>()
}

/// Which order owns a unit.
type Owners = BTreeMap<(TicketTypeId, String), OrderId>;

impl House {
    /// Every order there is.
    ///
    /// # Panics
    /// When the table fails or holds something else.
    pub async fn orders(&self) -> Vec<Order> {
        let items = self.items(&self.sale.dynamo.tables.orders).await.into_iter();
        items.map(|item| order_of_image(item.into()).expect("an order")).collect()
    }

    /// All items of a table.
    ///
    /// # Panics
    /// When the table fails.
    pub async fn items(&self, table: &str) -> Vec<HashMap<String, AttributeValue>> {
        let client = aws_sdk_dynamodb::Client::new(&self.sale.dynamo.sdk_config());
        let pages = client.scan().table_name(table).into_paginator().items().send();
        pages.collect::<Result<Vec<_>, _>>().await.expect("the table")
    }

    /// Everything that was ever sent comes once more, and leaves nothing behind that
    /// somebody would have to see to: no intent, letter or record comes back, and no
    /// order is put off again.
    ///
    /// # Panics
    /// When something is.
    pub async fn rest(&self) {
        assert_eq!(self.deliver().await, Vec::<String>::new(), "an intent is not done with");
        self.see_to_letters().await;
        self.retry().await;
        self.stream().await;
        assert_eq!(self.retries.take_sent(), [], "an order can't be settled");
    }

    /// Nothing is on its way any more, and:
    ///
    /// - P1, P5: each unit in DynamoDB is one of its owner's, each unit of a live
    ///   order is its own there, Redis counts as sold what DynamoDB says is owned,
    ///   nothing is held, and the rest is free;
    /// - P4: whatever was sent is an order now.
    ///
    /// # Panics
    /// When a promise is broken.
    pub async fn audit(&self, places: u32, seats: u32) {
        let orders = self.orders().await;
        let live: Vec<&Order> = orders.iter().filter(|order| is_live(order)).collect();
        let named: Owners = live.iter().flat_map(|order| units_of(order)).collect();
        let units = live.iter().flat_map(|order| order.units()).count();
        assert_eq!(named.len(), units, "P1: no unit is named by two live orders: {live:?}");
        let mut owned = Owners::new();
        for (name, capacity) in [("floor", places), ("stalls", seats)] {
            let records = self.sale.orders.units_list(&show(), &kind(name), &partitions()).await;
            let records = records.expect("the table");
            let counts = self.sale.counts(name).await;
            let sold = u32::try_from(records.len()).expect("few units");
            let (held, remaining) = (counts.held, counts.remaining);
            assert_eq!((held, counts.sold), (0, sold), "{name}: what is sold, and only that");
            assert_eq!(remaining + sold, capacity, "P5, {name}: the rest is free");
            for record in records {
                owned.insert((kind(name), text(&record.unit)), record.owner.order);
            }
        }
        assert_eq!(owned, named, "P1: who owns a unit says so, and nobody else does");
        let known: BTreeSet<OrderId> = orders.iter().map(|order| order.id).collect();
        for intent in self.intents_sent() {
            assert!(known.contains(&intent.order), "P4: {intent:?}");
        }
    }
}

fn is_live(order: &Order) -> bool {
    order.state.standing() == Standing::Live
}

fn units_of(order: &Order) -> impl Iterator<Item = ((TicketTypeId, String), OrderId)> + '_ {
    order.units().map(|owned| ((owned.ticket_type.clone(), text(owned.unit)), order.id))
}

fn text(unit: &UnitId) -> String {
    match unit {
        UnitId::Serial(serial) => serial.to_string(),
        UnitId::Seat(seat) => seat.to_string(),
    }
}
