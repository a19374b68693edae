//! Between records and items.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::aws_sdk_dynamodb_1;

use crate::StoreError;

pub(crate) use receipts::Item;

/// Where an item lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pk: String,
    sk: String,
}

impl Key {
    pub(crate) fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    pub(crate) fn to_item(&self) -> Item {
        Item::from([
            ("pk".to_owned(), AttributeValue::S(self.pk.clone())),
            ("sk".to_owned(), AttributeValue::S(self.sk.clone())),
        ])
    }

    /// The item of this key with these attributes.
    pub(crate) fn with(&self, attributes: Item) -> Item {
        let mut item = self.to_item();
        item.extend(attributes);
        item
    }
}

/// Reads an item as a record; `what` names it for whoever must repair it.
pub(crate) fn decode<T: DeserializeOwned>(what: &str, item: Item) -> Result<T, StoreError> {
    aws_sdk_dynamodb_1::from_item(item).map_err(|source| StoreError::corrupt(what, source))
}

/// Writes a record as an item's attributes.
pub(crate) fn encode<T: Serialize>(record: &T) -> Result<Item, StoreError> {
    aws_sdk_dynamodb_1::to_item(record).map_err(|source| StoreError::Invalid(source.into()))
}

/// For a condition that only a present item fails, and no item with the failure.
pub(crate) fn no_item() -> StoreError {
    StoreError::Unavailable("a condition failed without the item it failed on".into())
}
