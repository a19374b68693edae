#![doc = include_str!("../README.md")]

mod claim;
mod error;
mod fingerprint;
mod patience;
mod receipts;
mod transaction;
mod verdict;

pub use claim::{Claim, Outcome, RefusedWork};
pub use error::Error;
pub use fingerprint::Fingerprint;
pub use patience::{Patience, Tries};
pub use receipts::Receipts;
pub use transaction::{Failure, Reason, Transacted, transact};
pub use verdict::Verdict;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

/// An item, or its key, as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;
