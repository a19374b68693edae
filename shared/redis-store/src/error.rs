//! What can go wrong on the way to Redis.

/// A fault; an expected outcome is a value, never one of these.
#[derive(Debug, thiserror::Error)]
pub enum RedisStoreError {
    /// Redis did not answer, or answered with an error of its own. The scripts
    /// are safe to run again with the same arguments.
    #[error("Redis is unavailable")]
    Unavailable(#[source] redis::RedisError),
    /// A script replied with something this code does not know.
    #[error("unexpected reply of {script}")]
    UnexpectedReply {
        /// The script.
        script: &'static str,
    },
    /// A number is larger than Redis keeps it.
    #[error("{what} is too large")]
    TooLarge {
        /// Which one.
        what: &'static str,
    },
}

impl RedisStoreError {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::UnexpectedReply { .. } | Self::TooLarge { .. } => false,
        }
    }
}
