//! What can go wrong while measuring.

/// A measurement that could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error("input or output: {0}")]
    Io(#[from] std::io::Error),
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    #[error("the store: {0}")]
    Store(#[from] redis_store::RedisStoreError),
    #[error("PostgreSQL: {0}")]
    Postgres(#[from] tokio_postgres::Error),
    /// The server did something else than what was to be measured.
    #[error("{what}: an unexpected reply: {reply:?}")]
    Unexpected { what: String, reply: String },
    #[error("{0} does not run as it should")]
    Tool(&'static str),
    #[error("an identifier of the benchmark is none")]
    Id(#[from] domain::InvalidId),
    #[error("the benchmark's lines are none")]
    Lines(#[from] domain::InvalidLines),
}
