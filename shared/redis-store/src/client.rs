//! A handle to Redis that connects in the background.

/// Whether one node answers or a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedisMode {
    /// One node.
    Single,
    /// A cluster.
    Cluster,
}

/// A handle to Redis.
#[derive(Debug, Clone)]
pub struct Redis {
    url: String,
    mode: RedisMode,
}

impl Redis {
    /// A handle that connects when it is first used, or before, in the background.
    #[must_use]
    pub fn connect(url: &str, mode: RedisMode) -> Self {
        Self { url: url.to_owned(), mode }
    }
}
