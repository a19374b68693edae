//! What the tests begin with.

use std::sync::Arc;
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem, Update};
use receipts::{Claim, Error, Fingerprint, Item, Outcome, Patience, Receipts};
use test_support::dynamo::Dynamo;
use test_support::wire::{Sent, Wire};

pub(crate) const TRANSACT: &str = "TransactWriteItems";
pub(crate) const PUT: &str = "PutItem";
pub(crate) const GET: &str = "GetItem";

pub(crate) const PATIENT: Patience = Patience { tries: 3, time_left: Duration::from_secs(30) };

/// An engine, and receipts over a wire to it.
pub(crate) struct World {
    dynamo: Arc<Dynamo>,
    pub(crate) wire: Wire,
    pub(crate) client: Client,
    pub(crate) receipts: Receipts,
}

impl World {
    /// A client that repeats nothing by itself.
    pub(crate) async fn start() -> Self {
        Self::over(Arc::new(Dynamo::start().await), RetryConfig::disabled())
    }

    /// A client as the SDK makes it.
    pub(crate) async fn repeating() -> Self {
        Self::over(Arc::new(Dynamo::start().await), RetryConfig::standard())
    }

    /// The same engine, over a wire of its own.
    pub(crate) fn other_wire(&self) -> Self {
        Self::over(Arc::clone(&self.dynamo), RetryConfig::disabled())
    }

    fn over(dynamo: Arc<Dynamo>, retries: RetryConfig) -> Self {
        let wire = Wire::new();
        let config = wire.over(&dynamo.sdk_config()).into_builder().retry_config(retries).build();
        let client = Client::new(&config);
        let receipts = Receipts::new(client.clone(), &dynamo.tables.orders);
        Self { dynamo, wire, client, receipts }
    }

    pub(crate) async fn claim(&self, claim: &Claim) -> Outcome {
        self.try_claim(claim).await.unwrap()
    }

    pub(crate) async fn try_claim(&self, claim: &Claim) -> Result<Outcome, Error> {
        self.receipts.claim(claim, PATIENT).await
    }

    /// Two points more for the account.
    pub(crate) fn points(&self) -> TransactWriteItem {
        let update = Update::builder()
            .table_name(&self.dynamo.tables.units)
            .set_key(Some(key("account")))
            .update_expression("ADD points :two")
            .expression_attribute_values(":two", number(2));
        TransactWriteItem::builder().update(update.build().unwrap()).build()
    }

    /// A seat for its first owner.
    pub(crate) fn seat(&self, seat: &str, owner: &str) -> TransactWriteItem {
        let put = Put::builder()
            .table_name(&self.dynamo.tables.units)
            .set_item(Some(with(key(seat), "owner", text(owner))))
            .condition_expression("attribute_not_exists(pk)");
        TransactWriteItem::builder().put(put.build().unwrap()).build()
    }

    /// The account's points.
    pub(crate) async fn balance(&self) -> u32 {
        let account = self.work_item("account").await;
        account.map_or(0, |item| item["points"].as_n().unwrap().parse().unwrap())
    }

    pub(crate) async fn work_item(&self, name: &str) -> Option<Item> {
        let table = self.work_table();
        let get = self.client.get_item().table_name(table).set_key(Some(key(name)));
        get.consistent_read(true).send().await.unwrap().item
    }

    pub(crate) fn work_table(&self) -> &str {
        &self.dynamo.tables.units
    }

    pub(crate) fn receipts_table(&self) -> &str {
        &self.dynamo.tables.orders
    }

    /// The actions that were sent since this was last asked.
    pub(crate) fn sent(&self) -> Vec<String> {
        self.wire.take_sent().into_iter().map(|Sent { action, .. }| action).collect()
    }
}

pub(crate) fn key(name: &str) -> Item {
    with(Item::from([("pk".to_owned(), text(name))]), "sk", text("-"))
}

pub(crate) fn with(mut item: Item, name: &str, value: AttributeValue) -> Item {
    item.insert(name.to_owned(), value);
    item
}

pub(crate) fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub(crate) fn number(number: u32) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

pub(crate) fn content(content: u8) -> Fingerprint {
    Fingerprint::new(1, [content; 16])
}

/// A claim of this key, whose answer is "yes".
pub(crate) fn request(name: &str) -> Claim {
    Claim::new(key(name), content(7)).storing(with(Item::new(), "answer", text("yes")))
}

/// The receipt that [`request`] leaves.
pub(crate) fn receipt(name: &str) -> Item {
    let answered = with(key(name), "answer", text("yes"));
    let hashed = with(answered, "fingerprint", AttributeValue::B(vec![7; 16].into()));
    with(hashed, "fv", number(1))
}
