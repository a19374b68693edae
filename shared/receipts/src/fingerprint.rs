//! What was asked for, as a hash: told apart from other content under one key.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::{Error, Item};

/// The attribute of a receipt that holds the hash.
const HASH: &str = "fingerprint";
/// The attribute that holds the version of the rule which made it.
const VERSION: &str = "fv";

/// A hash of what a request asks for, with the version of the rule that made it.
///
/// Hash what the request *means* (defaults filled in, lists sorted), not its
/// bytes, and leave out what the client does not say, like prices. When the rule
/// changes it gets a new version: what is stored is compared by the rule that
/// made it, for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    version: u8,
    hash: Vec<u8>,
}

impl Fingerprint {
    /// A hash that the rule of this version made. 16 bytes of SHA-256 are enough.
    #[must_use]
    pub fn new(version: u8, hash: impl Into<Vec<u8>>) -> Self {
        Self { version, hash: hash.into() }
    }

    /// The version of the rule.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.version
    }

    pub(crate) fn write(&self, item: &mut Item) {
        let hash = AttributeValue::B(Blob::new(self.hash.clone()));
        item.insert(HASH.to_owned(), hash);
        item.insert(VERSION.to_owned(), AttributeValue::N(self.version.to_string()));
    }

    pub(crate) fn read(item: &Item) -> Result<Self, Error> {
        let version = item.get(VERSION).and_then(|value| value.as_n().ok());
        let version = version.and_then(|digits| digits.parse().ok());
        let hash = item.get(HASH).and_then(|value| value.as_b().ok());
        match (version, hash) {
            (Some(version), Some(hash)) => Ok(Self::new(version, hash.as_ref())),
            _ => Err(Error::corrupt("receipt", "it has no fingerprint")),
        }
    }
}
