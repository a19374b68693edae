//! Transactions: all items or none, with each item's failure by its position.
//!
//! The client request token is left to the SDK, which gives each send its own.
//! What must not happen twice is kept by conditions, never by the token: it is
//! forgotten after ten minutes.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Builder, Config};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem,
};

use crate::{Error, Item};

/// Why an item of a cancelled transaction was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It would have been.
    None,
    /// Its condition was false.
    ConditionFailed,
    /// Another write was at it in the same moment.
    Conflict,
    /// The table or partition was too busy.
    Throttled,
    /// The item can't be written as it is.
    Invalid,
    /// A reason this code does not know.
    Unknown,
}

/// What an item came to in a cancelled transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Why it was not written.
    pub reason: Reason,
    /// What was there, where its condition failed.
    pub present: Option<Item>,
}

/// What a transaction came to.
#[derive(Debug)]
pub enum Transacted {
    /// All was written.
    Done,
    /// Nothing was.
    Cancelled {
        /// One for each item, in their order.
        failures: Vec<Failure>,
        /// The same as an error, for those who can make nothing of it.
        error: Error,
    },
}

/// Writes the items, all or none. Every item is made to return what was there
/// where its condition fails.
///
/// # Errors
/// When DynamoDB answers anything but "done" or "cancelled".
pub async fn transact(client: &Client, items: Vec<TransactWriteItem>) -> Result<Transacted, Error> {
    write(client, items, Config::builder()).await
}

/// The same with settings of its own.
pub(crate) async fn write(
    client: &Client,
    items: Vec<TransactWriteItem>,
    settings: Builder,
) -> Result<Transacted, Error> {
    let items: Vec<_> = items.into_iter().map(returning_what_was_there).collect();
    let count = items.len();
    let request = client.transact_write_items().set_transact_items(Some(items));
    match request.customize().config_override(settings).send().await {
        Ok(_) => Ok(Transacted::Done),
        Err(error) => match cancellation(&error) {
            Some(reasons) => {
                let failures = by_position(reasons, count);
                let error = cancelled_error(&failures, error);
                Ok(Transacted::Cancelled { failures, error })
            }
            None => Err(Error::from_sdk(error)),
        },
    }
}

fn returning_what_was_there(mut item: TransactWriteItem) -> TransactWriteItem {
    let all_old = Some(OnFailure::AllOld);
    if let Some(put) = &mut item.put {
        put.return_values_on_condition_check_failure = all_old;
    } else if let Some(update) = &mut item.update {
        update.return_values_on_condition_check_failure = all_old;
    } else if let Some(delete) = &mut item.delete {
        delete.return_values_on_condition_check_failure = all_old;
    } else if let Some(check) = &mut item.condition_check {
        check.return_values_on_condition_check_failure = all_old;
    }
    item
}

fn cancellation<R>(error: &SdkError<TransactWriteItemsError, R>) -> Option<&[CancellationReason]> {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            Some(cancelled.cancellation_reasons())
        }
        _ => None,
    }
}

/// Reasons that don't stand one by one beside the items say nothing about any.
fn by_position(reasons: &[CancellationReason], count: usize) -> Vec<Failure> {
    if reasons.len() != count {
        return vec![Failure { reason: Reason::Unknown, present: None }; count];
    }
    reasons
        .iter()
        .map(|reason| Failure {
            reason: reason_of(reason.code()),
            present: reason.item().filter(|item| !item.is_empty()).cloned(),
        })
        .collect()
}

fn reason_of(code: Option<&str>) -> Reason {
    match code {
        None | Some("None") => Reason::None,
        Some("ConditionalCheckFailed") => Reason::ConditionFailed,
        Some("TransactionConflict") => Reason::Conflict,
        Some("ProvisionedThroughputExceeded" | "ThrottlingError") => Reason::Throttled,
        Some("ValidationError" | "ItemCollectionSizeLimitExceeded") => Reason::Invalid,
        Some(_) => Reason::Unknown,
    }
}

/// A cancelled transaction wrote nothing, so none of these is `Unavailable`
/// but that of which the reasons say nothing.
fn cancelled_error(
    failures: &[Failure],
    source: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    let any = |reason| failures.iter().any(|failure| failure.reason == reason);
    let source = Box::new(source);
    if any(Reason::Invalid) {
        Error::Invalid(source)
    } else if any(Reason::Unknown) {
        Error::Unavailable(source)
    } else if any(Reason::Throttled) {
        Error::Throttled(source)
    } else {
        Error::Contended(source)
    }
}
