//! A handle to Redis: connects in the background, runs scripts, tries once more
//! where the first answer says nothing.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::{Client, FromRedisValue, RedisError, ScriptInvocation, ServerErrorKind, Value};
use tokio::sync::Mutex;

use crate::error::RedisStoreError;

/// Longer than any script runs and any failover's first answer takes; shorter
/// than a fan waits.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(1);
/// Between the first try and the second.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether one node answers or a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedisMode {
    /// One node.
    Single,
    /// A cluster.
    Cluster,
}

/// A handle to Redis; clones share one connection.
#[derive(Clone)]
pub struct Redis {
    inner: Arc<Inner>,
}

struct Inner {
    url: String,
    mode: RedisMode,
    /// What opening it came to the last time.
    connection: Mutex<Option<Result<Connection, RedisError>>>,
    /// How often it was tried.
    openings: AtomicU64,
}

#[derive(Clone)]
enum Connection {
    Single(ConnectionManager),
    Cluster(ClusterConnection),
}

/// The URL may hold a password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("mode", &self.inner.mode).finish_non_exhaustive()
    }
}

impl Redis {
    /// A handle to the Redis at this URL. Inside an async runtime it begins to
    /// connect at once, in the background; a Redis that is away delays nothing
    /// but the call that needs it.
    #[must_use]
    pub fn connect(url: &str, mode: RedisMode) -> Self {
        let inner = Inner {
            url: url.to_owned(),
            mode,
            connection: Mutex::default(),
            openings: AtomicU64::default(),
        };
        let handle = Self { inner: Arc::new(inner) };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let warming = handle.clone();
            runtime.spawn(async move {
                if let Err(error) = warming.connection().await {
                    tracing::warn!(%error, "Redis is not reachable yet");
                }
            });
        }
        handle
    }

    /// Runs a script. It is run once more where it is unknown whether it ran, or
    /// where the node can't run it now: every script is safe to run twice.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        name: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, RedisStoreError> {
        let value = match self.run_once(script).await {
            Err(error) if is_worth_another_try(&error) => {
                tracing::warn!(%error, script = name, "Redis did not answer; trying once more");
                self.forget_connection(&error).await;
                tokio::time::sleep(PAUSE).await;
                self.run_once(script).await
            }
            first => first,
        }
        .map_err(RedisStoreError::Unavailable)?;
        T::from_redis_value(value).map_err(|_| RedisStoreError::UnexpectedReply { script: name })
    }

    async fn run_once(&self, script: &ScriptInvocation<'_>) -> Result<Value, RedisError> {
        match self.connection().await? {
            Connection::Single(mut connection) => script.invoke_async(&mut connection).await,
            Connection::Cluster(mut connection) => script.invoke_async(&mut connection).await,
        }
    }

    async fn connection(&self) -> Result<Connection, RedisError> {
        let openings = self.inner.openings.load(Ordering::SeqCst);
        let mut slot = self.inner.connection.lock().await;
        // Who waited while another failed does not wait for as long once more.
        let is_fresh = self.inner.openings.load(Ordering::SeqCst) != openings;
        match slot.as_ref() {
            Some(Ok(connection)) => return Ok(connection.clone()),
            Some(Err(failure)) if is_fresh => return Err(failure.clone()),
            Some(Err(_)) | None => {}
        }
        let opened = self.inner.open().await;
        self.inner.openings.fetch_add(1, Ordering::SeqCst);
        *slot = Some(opened.clone());
        opened
    }

    /// After a failover the name leads to another node, but the old connection
    /// still stands: a node that turned read-only is left for good.
    async fn forget_connection(&self, error: &RedisError) {
        if is_read_only(error) {
            *self.inner.connection.lock().await = None;
        }
    }
}

impl Inner {
    async fn open(&self) -> Result<Connection, RedisError> {
        match self.mode {
            RedisMode::Single => {
                let config = ConnectionManagerConfig::new()
                    .set_connection_timeout(Some(CONNECTION_TIMEOUT))
                    .set_response_timeout(Some(RESPONSE_TIMEOUT))
                    .set_number_of_retries(1);
                let client = Client::open(self.url.as_str())?;
                Ok(Connection::Single(ConnectionManager::new_with_config(client, config).await?))
            }
            RedisMode::Cluster => {
                let client = ClusterClient::builder([self.url.as_str()])
                    .connection_timeout(CONNECTION_TIMEOUT)
                    .response_timeout(RESPONSE_TIMEOUT)
                    .retries(2)
                    .build()?;
                Ok(Connection::Cluster(client.get_async_connection().await?))
            }
        }
    }
}

fn is_read_only(error: &RedisError) -> bool {
    error.kind() == redis::ErrorKind::Server(ServerErrorKind::ReadOnly)
}

fn is_worth_another_try(error: &RedisError) -> bool {
    let busy =
        [ServerErrorKind::BusyLoading, ServerErrorKind::TryAgain, ServerErrorKind::MasterDown];
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || is_read_only(error)
        || busy.iter().any(|kind| error.kind() == redis::ErrorKind::Server(*kind))
}
