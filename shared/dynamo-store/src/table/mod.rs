//! One table of the single-table kind (pk, sk): reading and writing items under
//! conditions, with the SDK's types kept in here.

mod expression;
mod item;
pub(crate) mod step;

pub(crate) use expression::{Change, Guard};
pub(crate) use item::{Item, Key, decode, encode, no_item};

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_get_items::TransactGetItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    KeysAndAttributes, ReturnValue, ReturnValuesOnConditionCheckFailure,
};

use receipts::Patience;

use crate::StoreError;

/// Every item here has a partition key, so this says: the item is not there.
pub(crate) const ABSENT: &str = "attribute_not_exists(pk)";

/// Transactions take some tens of milliseconds.
const WHILE_SOMEBODY_WRITES: Patience = Patience { tries: 5, time_left: Duration::from_secs(4) };

/// What a conditional write came to.
#[derive(Debug)]
pub(crate) enum Written {
    /// Written; for updates with the item as it is now.
    Done(Item),
    /// The condition was false; with the item that was there, if any.
    Refused(Option<Item>),
}

/// A table.
#[derive(Debug, Clone)]
pub(crate) struct TableClient {
    client: Client,
    name: String,
}

impl TableClient {
    pub(crate) fn new(client: Client, name: impl Into<String>) -> Self {
        Self { client, name: name.into() }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) async fn get(&self, key: &Key, strong: bool) -> Result<Option<Item>, StoreError> {
        let request = self.client.get_item().table_name(&self.name).set_key(Some(key.to_item()));
        let output = request.consistent_read(strong).send().await.map_err(StoreError::from_sdk)?;
        Ok(output.item)
    }

    /// The items of these keys (at most 100, none twice) that exist; consistent.
    pub(crate) async fn get_batch(&self, keys: &[Key]) -> Result<Vec<Item>, StoreError> {
        let mut wanted: Vec<Item> = keys.iter().map(Key::to_item).collect();
        let mut items = Vec::with_capacity(wanted.len());
        while !wanted.is_empty() {
            let asked = wanted.len();
            let keys = KeysAndAttributes::builder()
                .set_keys(Some(std::mem::take(&mut wanted)))
                .consistent_read(true)
                .build()
                .map_err(|source| StoreError::Invalid(source.into()))?;
            let request = self.client.batch_get_item().request_items(&self.name, keys);
            let output = request.send().await.map_err(StoreError::from_sdk)?;
            let found = output.responses.and_then(|mut tables| tables.remove(&self.name));
            items.extend(found.unwrap_or_default());
            let left = output.unprocessed_keys.and_then(|mut tables| tables.remove(&self.name));
            wanted = left.map(|left| left.keys).unwrap_or_default();
            if wanted.len() == asked {
                return Err(StoreError::Throttled("no key of a batch was processed".into()));
            }
        }
        Ok(items)
    }

    /// The items of these keys (at most 100) that exist. None of them is read in the middle of
    /// a transaction that changes other items as well: who saw one of its changes sees all.
    /// While somebody is at it, it is tried again.
    pub(crate) async fn get_settled(&self, keys: &[Key]) -> Result<Vec<Item>, StoreError> {
        let mut tries = WHILE_SOMEBODY_WRITES.begin();
        loop {
            match self.get_together(keys).await {
                Err(StoreError::Contended(_)) if tries.another().await => {}
                read => return read,
            }
        }
    }

    async fn get_together(&self, keys: &[Key]) -> Result<Vec<Item>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let gets = keys.iter().map(|key| step::get(self, key)).collect::<Result<_, _>>()?;
        let request = self.client.transact_get_items().set_transact_items(Some(gets));
        let output = request.send().await.map_err(not_read)?;
        let found = output.responses.unwrap_or_default().into_iter();
        Ok(found.filter_map(|response| response.item).collect())
    }

    /// All items of a partition whose sort key begins so, in its order.
    pub(crate) async fn query(
        &self,
        partition: &str,
        sort_prefix: &str,
        strong: bool,
    ) -> Result<Vec<Item>, StoreError> {
        let condition = match sort_prefix {
            "" => Guard::new("pk = :pk"),
            prefix => Guard::new("pk = :pk AND begins_with(sk, :sk)").value(":sk", prefix),
        }
        .value(":pk", partition);
        let mut items = Vec::new();
        let mut start = None;
        loop {
            let request = self.client.query().table_name(&self.name).consistent_read(strong);
            let page = request
                .key_condition_expression(condition.text())
                .set_expression_attribute_values(condition.values())
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(StoreError::from_sdk)?;
            items.extend(page.items.unwrap_or_default());
            match page.last_evaluated_key {
                Some(last) if !last.is_empty() => start = Some(last),
                _ => return Ok(items),
            }
        }
    }

    /// Puts an item, whatever was there.
    pub(crate) async fn put(&self, item: Item) -> Result<(), StoreError> {
        let request = self.client.put_item().table_name(&self.name).set_item(Some(item));
        request.send().await.map_err(StoreError::from_sdk)?;
        Ok(())
    }

    /// Puts an item where the guard holds.
    pub(crate) async fn put_if(&self, item: Item, guard: &Guard) -> Result<Written, StoreError> {
        let request = self.client.put_item().table_name(&self.name).set_item(Some(item));
        let result = request
            .condition_expression(guard.text())
            .set_expression_attribute_names(guard.names())
            .set_expression_attribute_values(guard.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match result {
            Ok(_) => Ok(Written::Done(Item::new())),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                    Ok(Written::Refused(failed.item.clone()))
                }
                _ => Err(StoreError::from_sdk(error)),
            },
        }
    }

    /// Changes an item where the guard holds.
    pub(crate) async fn update_if(
        &self,
        key: &Key,
        change: &Change,
        guard: &Guard,
    ) -> Result<Written, StoreError> {
        let request = self.client.update_item().table_name(&self.name);
        let result = request
            .set_key(Some(key.to_item()))
            .update_expression(change.text())
            .condition_expression(guard.text())
            .set_expression_attribute_names(change.names_with(guard))
            .set_expression_attribute_values(change.values_with(guard))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match result {
            Ok(output) => Ok(Written::Done(output.attributes.unwrap_or_default())),
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                    Ok(Written::Refused(failed.item.clone()))
                }
                _ => Err(StoreError::from_sdk(error)),
            },
        }
    }

    /// Removes an item; what was there, if anything.
    pub(crate) async fn delete(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        let request = self.client.delete_item().table_name(&self.name);
        let output = request
            .set_key(Some(key.to_item()))
            .return_values(ReturnValue::AllOld)
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
        Ok(output.attributes)
    }
}

/// Why items were not read together: a cancellation's reasons stand beside the items.
fn not_read<R>(error: SdkError<TransactGetItemsError, R>) -> StoreError
where
    R: std::fmt::Debug + Send + Sync + 'static,
{
    let reasons = match error.as_service_error() {
        Some(TransactGetItemsError::TransactionCanceledException(cancelled)) => {
            cancelled.cancellation_reasons()
        }
        _ => return StoreError::from_sdk(error),
    };
    let any = |code| reasons.iter().any(|reason| reason.code() == Some(code));
    if any("ValidationError") {
        StoreError::Invalid(error.into())
    } else if any("ProvisionedThroughputExceeded") || any("ThrottlingError") {
        StoreError::Throttled(error.into())
    } else if any("TransactionConflict") {
        StoreError::Contended(error.into())
    } else {
        StoreError::Unavailable(error.into())
    }
}
