//! Claiming: write, and where that leaves a doubt, look before anything else.

use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{Builder, Config};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{
    Put, ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem,
};
use tokio::time::timeout;

use crate::transaction::{Failure, Reason, Transacted, write};
use crate::{Claim, Error, Item, Outcome, Patience, RefusedWork, Verdict};

/// A key attribute is in every item, so this says: no receipt is there.
const IS_ABSENT: &str = "attribute_not_exists(#key)";

/// The receipts of one table.
#[derive(Debug, Clone)]
pub struct Receipts {
    client: Client,
    table: Arc<str>,
}

/// What one try came to.
enum Tried {
    Written,
    Present(Item),
    WorkRefused(Vec<RefusedWork>),
}

impl Receipts {
    /// The receipts of this table. The client should have an attempt timeout, or
    /// one request that hangs takes all the time a claim has.
    #[must_use]
    pub fn new(client: Client, table: &str) -> Self {
        Self { client, table: table.into() }
    }

    /// Claims: puts the receipt where there is none, with its work, or tells what
    /// was there.
    ///
    /// # Errors
    /// When it could not be decided in time. Only where
    /// [`Error::is_outcome_unknown`] may the work have been done, or still be;
    /// repeating the same claim is right in any case and finds out.
    pub async fn claim(&self, claim: &Claim, patience: Patience) -> Result<Outcome, Error> {
        let decided = timeout(patience.time_left, self.decide(claim, patience)).await;
        decided.unwrap_or_else(|cut_off| Err(Error::Unavailable(cut_off.into())))
    }

    /// The receipt at this key, by a strongly consistent read: for whoever asks
    /// later what became of a request.
    ///
    /// # Errors
    /// When DynamoDB fails.
    pub async fn find(&self, key: &Item) -> Result<Option<Item>, Error> {
        let request = self.client.get_item().table_name(&*self.table).set_key(Some(key.clone()));
        let found = request.consistent_read(true).send().await;
        Ok(found.map_err(Error::from_sdk)?.item)
    }

    async fn decide(&self, claim: &Claim, patience: Patience) -> Result<Outcome, Error> {
        let mut tries = patience.begin();
        let mut doubt: Option<Error> = None;
        loop {
            let error = match self.try_once(claim).await {
                Ok(Tried::Written) => return Ok(Outcome::New),
                Ok(Tried::Present(receipt)) => return claim.compare(receipt),
                Ok(Tried::WorkRefused(refused)) => {
                    return doubt.map_or(Ok(Outcome::WorkRefused(refused)), Err);
                }
                Err(error) => error,
            };
            if error.is_outcome_unknown() {
                match self.find(&claim.key).await {
                    Ok(Some(receipt)) => return claim.compare(receipt),
                    Ok(None) => {}
                    Err(_) => return Err(error),
                }
            }
            let may_clear_up = error.may_clear_up_at_once();
            // A request that nobody saw end may still arrive after the look: once in
            // doubt, only a receipt or a write of our own ends the doubt.
            let error = doubt.take().unwrap_or(error);
            if !may_clear_up || !tries.another().await {
                return Err(error);
            }
            doubt = Some(error).filter(Error::is_outcome_unknown);
        }
    }

    async fn try_once(&self, claim: &Claim) -> Result<Tried, Error> {
        if claim.work.is_empty() { self.put(claim).await } else { self.transact(claim).await }
    }

    /// Without work a plain write does, at half the price.
    async fn put(&self, claim: &Claim) -> Result<Tried, Error> {
        let request = self.client.put_item().table_name(&*self.table);
        let result = request
            .set_item(Some(claim.receipt()))
            .condition_expression(IS_ABSENT)
            .expression_attribute_names("#key", claim.key_attribute()?)
            .return_values_on_condition_check_failure(OnFailure::AllOld)
            .customize()
            .config_override(once())
            .send()
            .await;
        match result {
            Ok(_) => Ok(Tried::Written),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                    present(failed.item.clone())
                }
                _ => Err(Error::from_sdk(error)),
            },
        }
    }

    async fn transact(&self, claim: &Claim) -> Result<Tried, Error> {
        let receipt = Put::builder()
            .table_name(&*self.table)
            .set_item(Some(claim.receipt()))
            .condition_expression(IS_ABSENT)
            .expression_attribute_names("#key", claim.key_attribute()?)
            .build()
            .map_err(|source| Error::Invalid(source.into()))?;
        let mut items = vec![TransactWriteItem::builder().put(receipt).build()];
        items.extend(claim.work.iter().cloned());
        match write(&self.client, items, once()).await? {
            Transacted::Done => Ok(Tried::Written),
            Transacted::Cancelled { failures, error } => cancelled(failures, error),
        }
    }
}

/// Sent once: the SDK would send again before anybody has looked.
fn once() -> Builder {
    Config::builder().retry_config(RetryConfig::disabled())
}

/// The receipt was there. Without the item, it has to be read.
fn present(receipt: Option<Item>) -> Result<Tried, Error> {
    let without = || Error::Unavailable("a receipt was there and did not come along".into());
    receipt.map(Tried::Present).ok_or_else(without)
}

/// Reads the failures by position: the receipt's is first, the work's follow.
fn cancelled(failures: Vec<Failure>, error: Error) -> Result<Tried, Error> {
    let reasons: Vec<Reason> = failures.iter().map(|failure| failure.reason).collect();
    let mut failures = failures.into_iter();
    let receipt = failures.next().and_then(|failure| failure.present);
    match Verdict::of(&reasons) {
        Verdict::ReceiptPresent => present(receipt),
        Verdict::WorkRefused => Ok(Tried::WorkRefused(refused(failures))),
        Verdict::Invalid | Verdict::Undecided => Err(error),
    }
}

fn refused(work: impl Iterator<Item = Failure>) -> Vec<RefusedWork> {
    let failed = work.enumerate().filter(|(_, item)| item.reason == Reason::ConditionFailed);
    failed.map(|(at, Failure { present, .. })| RefusedWork { at, present }).collect()
}
