//! What can go wrong at the table, whether repeating helps, and whether
//! something may have been written.

use std::error::Error as StdError;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

type Source = Box<dyn StdError + Send + Sync>;

/// A failure at the table. Expected answers are values of each operation.
///
/// No SDK type stands in it, so it can stand in the signatures of a store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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
    /// The table is missing, or this function may not: nothing was written, and
    /// the request is not at fault. Helps only when somebody repairs it.
    #[error("DynamoDB denies the request")]
    Denied(#[source] Source),
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

impl Error {
    /// Whether the same call can succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Throttled(_) | Self::Contended(_) | Self::Denied(_) => {
                true
            }
            Self::Invalid(_) | Self::Corrupt { .. } => false,
        }
    }

    /// Whether the same call can succeed in a moment. Who is throttled only makes
    /// it worse by calling again in place.
    pub(crate) fn may_clear_up_at_once(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Contended(_) => true,
            Self::Throttled(_) | Self::Denied(_) | Self::Invalid(_) | Self::Corrupt { .. } => false,
        }
    }

    /// Whether a write may have happened although it failed.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Throttled(_)
            | Self::Contended(_)
            | Self::Denied(_)
            | Self::Invalid(_)
            | Self::Corrupt { .. } => false,
        }
    }
}

/// Codes that say: too much at once, try later. Nothing was written.
const THROTTLING: &[&str] = &[
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "Throttling",
];
/// Codes that say: another write was at it. Nothing was written.
const CONTENTION: &[&str] = &["TransactionConflictException", "ReplicatedWriteConflictException"];
/// Codes that say: this request can never be carried out.
const INVALID: &[&str] =
    &["ValidationException", "SerializationException", "ItemCollectionSizeLimitExceededException"];
/// Codes that say: not this table, not by you. Nothing was written, and the
/// request itself is not at fault.
const DENIED: &[&str] = &[
    "AccessDeniedException",
    "ExpiredTokenException",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "ResourceNotFoundException",
    "UnrecognizedClientException",
];

impl Error {
    /// An item, or an attribute of it, that can't be read.
    pub fn corrupt(item: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Corrupt { item: item.into(), source: source.into() }
    }

    /// What the SDK gave. A code that this does not know is read as "outcome
    /// unknown": the caller looks before it acts, which is right whatever the code
    /// meant.
    #[must_use]
    pub fn from_sdk<E, R>(error: SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        let code = match &error {
            SdkError::ConstructionFailure(_) => return Self::Invalid(error.into()),
            SdkError::ServiceError(service) => service.err().code().unwrap_or_default(),
            SdkError::TimeoutError(_)
            | SdkError::DispatchFailure(_)
            | SdkError::ResponseError(_)
            | _ => return Self::Unavailable(error.into()),
        };
        let of = |codes: &[&str]| codes.contains(&code);
        if of(THROTTLING) {
            Self::Throttled(error.into())
        } else if of(CONTENTION) {
            Self::Contended(error.into())
        } else if of(INVALID) {
            Self::Invalid(error.into())
        } else if of(DENIED) {
            Self::Denied(error.into())
        } else {
            Self::Unavailable(error.into())
        }
    }
}
