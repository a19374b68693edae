//! A value that is fetched when it is needed, and again when it turns out to be
//! too old, but never more often than it may be.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

/// Forged tokens with made-up key names must not become a flood of reads.
const BETWEEN_FETCHES: SignedDuration = SignedDuration::from_secs(10);
/// After a failed fetch the next one is tried sooner.
const AFTER_FAILURE: SignedDuration = SignedDuration::from_secs(1);

/// What was withdrawn where it came from is trusted no longer than this.
const LIFE: SignedDuration = SignedDuration::from_hours(1);

/// Fetching failed, and why.
pub type FetchError = Arc<dyn Error + Send + Sync>;
type BoxError = Box<dyn Error + Send + Sync>;
type Fetch<T> = dyn Fn() -> Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>> + Send + Sync;

/// The value, what it was last, and when it was fetched.
pub struct Refreshed<T> {
    fetch: Box<Fetch<T>>,
    value: RwLock<Fetched<T>>,
    last: Mutex<LastFetch>,
}

struct Fetched<T> {
    value: Arc<T>,
    /// None: the default one.
    at: Option<Timestamp>,
}

#[derive(Default)]
struct LastFetch {
    at: Option<Timestamp>,
    failure: Option<FetchError>,
}

impl<T: Default> Refreshed<T> {
    /// A value from there; the default one until it is first refreshed.
    pub fn new<F, Fut, E>(fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let fetch = move || -> Pin<Box<dyn Future<Output = _> + Send>> {
            let value = fetch();
            Box::pin(async move { value.await.map_err(Into::into) })
        };
        let value = RwLock::new(Fetched { value: Arc::default(), at: None });
        Self { fetch: Box::new(fetch), value, last: Mutex::default() }
    }

    /// The value as it was fetched last, fetched again where that is long ago.
    /// Where it can't be, the old one still serves.
    pub async fn current(&self, now: Timestamp) -> Arc<T> {
        let (value, at) = {
            let fetched = self.value.read().unwrap_or_else(PoisonError::into_inner);
            (Arc::clone(&fetched.value), fetched.at)
        };
        let is_old = at.is_some_and(|at| now.duration_since(at) >= LIFE);
        if is_old && self.refresh(now).await.is_ok() { self.known() } else { value }
    }

    /// The value as it was fetched last.
    pub fn known(&self) -> Arc<T> {
        Arc::clone(&self.value.read().unwrap_or_else(PoisonError::into_inner).value)
    }

    /// Fetches the value, unless that was done just now. One fetch at a time;
    /// whoever waited for it finds it done.
    ///
    /// # Errors
    /// When the last fetch failed; the value stays as it was.
    pub async fn refresh(&self, now: Timestamp) -> Result<(), FetchError> {
        let mut last = self.last.lock().await;
        let pause = if last.failure.is_some() { AFTER_FAILURE } else { BETWEEN_FETCHES };
        let is_recent = last.at.is_some_and(|at| now.duration_since(at) < pause);
        if !is_recent {
            let fetched = (self.fetch)().await;
            // Only now: a fetch that was given up half-way must not keep the
            // next caller from trying.
            last.at = Some(now);
            last.failure = self.keep(fetched, now).err();
        }
        last.failure.clone().map_or(Ok(()), Err)
    }

    fn keep(&self, fetched: Result<T, BoxError>, now: Timestamp) -> Result<(), FetchError> {
        let fetched = Fetched { value: Arc::new(fetched?), at: Some(now) };
        *self.value.write().unwrap_or_else(PoisonError::into_inner) = fetched;
        Ok(())
    }
}

impl<T> fmt::Debug for Refreshed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refreshed(…)")
    }
}
