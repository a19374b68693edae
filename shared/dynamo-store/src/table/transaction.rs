//! Transactions: all steps or none, with each step's failure by its position.
//!
//! The client request token is left to the SDK, which gives each send its own
//! (its own retries of one send share it). What a redelivery must not do twice
//! is kept by conditions, never by the token.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, Delete, Put, ReturnValuesOnConditionCheckFailure as OnFailure,
    TransactWriteItem, Update,
};
use domain::ItemFailure;

use super::{Change, Guard, Item, Key, TableClient};
use crate::StoreError;

/// One write of a transaction.
#[derive(Debug)]
pub(crate) struct Step(TransactWriteItem);

impl Step {
    pub(crate) fn put(table: &TableClient, item: Item, guard: &Guard) -> Result<Self, StoreError> {
        let put = Put::builder()
            .table_name(table.name())
            .set_item(Some(item))
            .condition_expression(guard.text())
            .set_expression_attribute_names(guard.names())
            .set_expression_attribute_values(guard.values())
            .return_values_on_condition_check_failure(OnFailure::AllOld)
            .build()
            .map_err(|source| StoreError::Invalid(source.into()))?;
        Ok(Self(TransactWriteItem::builder().put(put).build()))
    }

    pub(crate) fn update(
        table: &TableClient,
        key: &Key,
        change: &Change,
        guard: &Guard,
    ) -> Result<Self, StoreError> {
        let update = Update::builder()
            .table_name(table.name())
            .set_key(Some(key.to_item()))
            .update_expression(change.text())
            .condition_expression(guard.text())
            .set_expression_attribute_names(change.names_with(guard))
            .set_expression_attribute_values(change.values_with(guard))
            .return_values_on_condition_check_failure(OnFailure::AllOld)
            .build()
            .map_err(|source| StoreError::Invalid(source.into()))?;
        Ok(Self(TransactWriteItem::builder().update(update).build()))
    }

    pub(crate) fn delete(
        table: &TableClient,
        key: &Key,
        guard: &Guard,
    ) -> Result<Self, StoreError> {
        let delete = Delete::builder()
            .table_name(table.name())
            .set_key(Some(key.to_item()))
            .condition_expression(guard.text())
            .set_expression_attribute_names(guard.names())
            .set_expression_attribute_values(guard.values())
            .return_values_on_condition_check_failure(OnFailure::AllOld)
            .build()
            .map_err(|source| StoreError::Invalid(source.into()))?;
        Ok(Self(TransactWriteItem::builder().delete(delete).build()))
    }
}

/// What a step came to in a cancelled transaction.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Why it was not written.
    pub(crate) reason: ItemFailure,
    /// What was there, where its condition failed.
    pub(crate) present: Option<Item>,
}

/// What a transaction came to.
#[derive(Debug)]
pub(crate) enum Transacted {
    /// All was written.
    Done,
    /// Nothing was; one failure per step, in their order.
    Cancelled {
        /// By position.
        failures: Vec<Failure>,
        /// The failure as an error, for those who can make nothing of it.
        error: StoreError,
    },
}

/// Carries out the steps, all or none.
pub(crate) async fn transact(client: &Client, steps: Vec<Step>) -> Result<Transacted, StoreError> {
    let count = steps.len();
    let items = steps.into_iter().map(|step| step.0).collect();
    let request = client.transact_write_items().set_transact_items(Some(items));
    match request.send().await {
        Ok(_) => Ok(Transacted::Done),
        Err(error) => match cancellation(&error) {
            Some(reasons) => {
                let failures = by_position(reasons, count);
                let error = cancelled_error(&failures, error);
                Ok(Transacted::Cancelled { failures, error })
            }
            None => Err(StoreError::from_sdk(error)),
        },
    }
}

fn cancellation<R>(error: &SdkError<TransactWriteItemsError, R>) -> Option<&[CancellationReason]> {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            Some(cancelled.cancellation_reasons())
        }
        _ => None,
    }
}

/// Reasons that don't stand one by one beside the steps say nothing about any.
fn by_position(reasons: &[CancellationReason], count: usize) -> Vec<Failure> {
    if reasons.len() != count {
        let unknown = || Failure { reason: ItemFailure::Unknown, present: None };
        return std::iter::repeat_with(unknown).take(count).collect();
    }
    reasons
        .iter()
        .map(|reason| Failure {
            reason: item_failure(reason.code()),
            present: reason.item().filter(|item| !item.is_empty()).cloned(),
        })
        .collect()
}

fn item_failure(code: Option<&str>) -> ItemFailure {
    match code {
        None | Some("None") => ItemFailure::None,
        Some("ConditionalCheckFailed") => ItemFailure::ConditionFailed,
        Some("TransactionConflict") => ItemFailure::Conflict,
        Some("ProvisionedThroughputExceeded" | "ThrottlingError") => ItemFailure::Throttled,
        Some("ValidationError" | "ItemCollectionSizeLimitExceeded") => ItemFailure::Invalid,
        Some(_) => ItemFailure::Unknown,
    }
}

/// A cancelled transaction wrote nothing, so none of these is `Unavailable`
/// but that of which the reasons say nothing.
fn cancelled_error(
    failures: &[Failure],
    source: impl std::error::Error + Send + Sync + 'static,
) -> StoreError {
    let any = |reason| failures.iter().any(|failure| failure.reason == reason);
    let source = Box::new(source);
    if any(ItemFailure::Invalid) {
        StoreError::Invalid(source)
    } else if any(ItemFailure::Unknown) {
        StoreError::Unavailable(source)
    } else if any(ItemFailure::Throttled) {
        StoreError::Throttled(source)
    } else {
        StoreError::Contended(source)
    }
}
