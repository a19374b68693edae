//! A claim, and what it can come to.

use aws_sdk_dynamodb::types::TransactWriteItem;

use crate::{Error, Fingerprint, Item};

/// A request that must happen once: the receipt to be put where there is none,
/// and the work to be done in the same instant.
#[derive(Debug, Clone)]
pub struct Claim {
    pub(crate) key: Item,
    fingerprint: Fingerprint,
    older: Vec<Fingerprint>,
    result: Item,
    pub(crate) work: Vec<TransactWriteItem>,
}

impl Claim {
    /// A claim of the receipt at this key (one attribute or two, as the table has
    /// it), for a request of this content.
    #[must_use]
    pub fn new(key: Item, fingerprint: Fingerprint) -> Self {
        Self { key, fingerprint, older: Vec::new(), result: Item::new(), work: Vec::new() }
    }

    /// With what the same content hashes to by an older rule, so that receipts of
    /// that time are still known as the same.
    #[must_use]
    pub fn or_older(mut self, fingerprint: Fingerprint) -> Self {
        self.older.push(fingerprint);
        self
    }

    /// With attributes that are stored in the receipt: the answer that every
    /// repeat gets.
    #[must_use]
    pub fn storing(mut self, result: Item) -> Self {
        self.result.extend(result);
        self
    }

    /// With one more write that is done with the receipt or not at all. DynamoDB
    /// takes 100 items in a transaction, the receipt is one of them.
    #[must_use]
    pub fn work(mut self, item: TransactWriteItem) -> Self {
        self.work.push(item);
        self
    }

    /// The receipt as it is written.
    pub(crate) fn receipt(&self) -> Item {
        let mut item = self.result.clone();
        self.fingerprint.write(&mut item);
        item.extend(self.key.clone());
        item
    }

    /// One of the key's attributes; every item of the table has it.
    pub(crate) fn key_attribute(&self) -> Result<&str, Error> {
        let first = self.key.keys().min().map(String::as_str);
        first.ok_or_else(|| Error::Invalid("the receipt's key has no attribute".into()))
    }

    /// What a receipt that was there says of this claim.
    pub(crate) fn compare(&self, receipt: Item) -> Result<Outcome, Error> {
        let stored = Fingerprint::read(&receipt)?;
        let mut known = std::iter::once(&self.fingerprint).chain(&self.older);
        match known.find(|known| known.version() == stored.version()) {
            Some(same_rule) if *same_rule == stored => Ok(Outcome::Replayed(receipt)),
            Some(_) => Ok(Outcome::Mismatch(receipt)),
            None => {
                Err(Error::corrupt("receipt", "its fingerprint is of a version nobody here knows"))
            }
        }
    }
}

/// What a claim came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The receipt was put and the work done, now.
    New,
    /// The same request was claimed before; its receipt, as it is now.
    Replayed(Item),
    /// The key was claimed before for other content; that receipt. For the
    /// client: 422. What it says is nobody's business but its owner's.
    Mismatch(Item),
    /// Conditions of the caller's own work failed and nothing else was in the
    /// way. Nothing was written, no receipt either: **this is no decision yet**.
    WorkRefused(Vec<RefusedWork>),
}

/// A write of the caller's whose condition failed.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedWork {
    /// Which: its position among the claim's work.
    pub at: usize,
    /// The item that was there, if one was.
    pub present: Option<Item>,
}
