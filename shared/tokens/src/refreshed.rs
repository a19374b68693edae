//! A value that is fetched before it is needed, or when it is, and again when it
//! turns out to be too old, but never more often than it may be.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use domain::is_fresh;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Forged tokens with made-up key names must not become a flood of reads.
const BETWEEN_FETCHES: SignedDuration = SignedDuration::from_secs(10);
/// After a failed fetch the next one is tried sooner.
const AFTER_FAILURE: SignedDuration = SignedDuration::from_secs(1);

/// So long the first who needs the value waits for a fetch that began before: a
/// good one takes less, and one that was frozen half-way never ends.
const HEAD_START: Duration = Duration::from_secs(1);

/// What was withdrawn where it came from is trusted no longer than this.
const LIFE: SignedDuration = SignedDuration::from_hours(1);

/// Fetching failed, and why.
pub type FetchError = Arc<dyn Error + Send + Sync>;
type BoxError = Box<dyn Error + Send + Sync>;
type Fetch<T> = dyn Fn() -> Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>> + Send + Sync;

/// The value, what it was last, and when it was fetched.
pub struct Refreshed<T> {
    source: Arc<Source<T>>,
    last: Mutex<LastFetch>,
    /// The fetch that nobody asked for, until somebody needs the value.
    ahead: Mutex<Option<JoinHandle<()>>>,
}

struct Source<T> {
    fetch: Box<Fetch<T>>,
    value: RwLock<Fetched<T>>,
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
        let source = Arc::new(Source { fetch: Box::new(fetch), value });
        Self { source, last: Mutex::default(), ahead: Mutex::default() }
    }

    /// Begins to fetch the value in the background, before anybody needs it. Must
    /// be called within a runtime; `now` is when the function starts. What comes of
    /// it is a gain or nothing: if it fails or hangs, the first who needs the value
    /// fetches it as if this had never been.
    #[must_use]
    pub fn load_ahead(mut self, now: Timestamp) -> Self
    where
        T: Send + Sync + 'static,
    {
        let source = Arc::clone(&self.source);
        *self.ahead.get_mut() = Some(tokio::spawn(async move {
            if let Err(error) = source.fetch(now).await {
                tracing::warn!(%error, "nothing could be fetched ahead");
            }
        }));
        self
    }

    /// The value as it was fetched last, fetched again where that is long ago.
    /// Where it can't be, the old one still serves.
    pub async fn current(&self, now: Timestamp) -> Arc<T> {
        self.end_ahead().await;
        let (value, at) = self.source.known();
        let is_old = at.is_some_and(|at| !is_fresh(at, now, LIFE));
        if is_old && self.refresh(now).await.is_ok() { self.known() } else { value }
    }

    /// The value as it was fetched last.
    pub fn known(&self) -> Arc<T> {
        self.source.known().0
    }

    /// Waits for the fetch ahead, if there is one, and gives it up in time.
    async fn end_ahead(&self) {
        let mut ahead = self.ahead.lock().await;
        if let Some(load) = ahead.as_mut() {
            if tokio::time::timeout(HEAD_START, &mut *load).await.is_err() {
                load.abort();
            }
            *ahead = None;
        }
    }

    /// Fetches the value, unless that was done just now. One fetch at a time;
    /// whoever waited for it finds it done.
    ///
    /// # Errors
    /// When the last fetch failed; the value stays as it was.
    pub async fn refresh(&self, now: Timestamp) -> Result<(), FetchError> {
        let mut last = self.last.lock().await;
        let pause = if last.failure.is_some() { AFTER_FAILURE } else { BETWEEN_FETCHES };
        let was_just_tried = last.at.is_some_and(|at| is_fresh(at, now, pause));
        if !was_just_tried {
            let fetched = self.source.fetch(now).await;
            // Only now: a fetch that was given up half-way must not keep the
            // next caller from trying.
            last.at = Some(now);
            last.failure = fetched.err();
        }
        last.failure.clone().map_or(Ok(()), Err)
    }
}

impl<T> Source<T> {
    async fn fetch(&self, now: Timestamp) -> Result<(), FetchError> {
        let value = Arc::new((self.fetch)().await?);
        let fetched = Fetched { value, at: Some(now) };
        *self.value.write().unwrap_or_else(PoisonError::into_inner) = fetched;
        Ok(())
    }

    fn known(&self) -> (Arc<T>, Option<Timestamp>) {
        let fetched = self.value.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&fetched.value), fetched.at)
    }
}

impl<T> fmt::Debug for Refreshed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refreshed(…)")
    }
}
