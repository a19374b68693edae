//! What can go wrong at the table, and whether repeating helps.

use std::error::Error;

type Source = Box<dyn Error + Send + Sync>;

/// A failure at the table. Expected answers are values of each operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No answer, or one that says nothing: time-outs, lost connections, 5xx.
    /// **The outcome of a write is unknown**: read before anything else.
    #[error("DynamoDB gave no usable answer")]
    Unavailable(#[source] Source),
    /// The table or account is too busy; nothing was written.
    #[error("DynamoDB is throttling")]
    Throttled(#[source] Source),
    /// A transaction was at the same item in the same moment; nothing was written.
    #[error("another write was at the item in the same moment")]
    Contended(#[source] Source),
    /// DynamoDB refuses the request as it is; repeating never helps.
    #[error("DynamoDB refuses the request")]
    Invalid(#[source] Source),
    /// An item can't be read as what it should be.
    #[error("item {item} can't be read")]
    Corrupt {
        /// Which item, or which attribute of it.
        item: String,
        /// Why.
        #[source]
        source: Source,
    },
}

impl StoreError {
    /// Whether the same call can succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Throttled(_) | Self::Contended(_) => true,
            Self::Invalid(_) | Self::Corrupt { .. } => false,
        }
    }

    /// Whether a write may have happened although it failed.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Throttled(_) | Self::Contended(_) | Self::Invalid(_) | Self::Corrupt { .. } => {
                false
            }
        }
    }
}
