//! Values that come over the network but must not hold up initialisation: a
//! signing secret, the keys of an issuer.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::causes::Causes;

/// What went wrong while loading.
pub type LoadError = Arc<dyn Error + Send + Sync>;

type Load<T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send>>;
type Loaded<T> = Option<Result<T, LoadError>>;

/// Why a value was not there in time.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotLoaded {
    /// Still on its way.
    #[error("not loaded in time")]
    Late,
    /// Loading failed; the next one who asks begins anew.
    #[error("loading failed")]
    Failed(#[source] LoadError),
}

/// A value that begins to load when it is made, and is waited for by the first
/// who needs it, with a bound. A failed load is begun anew by the next who asks.
pub struct Loading<T> {
    load: Box<dyn Fn() -> Load<T> + Send + Sync>,
    current: Mutex<watch::Receiver<Loaded<T>>>,
}

impl<T: Clone + Send + Sync + 'static> Loading<T> {
    /// Begins to load in the background. Must be called within a runtime.
    pub fn begin<F, Fut>(load: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        let load = Box::new(move || -> Load<T> { Box::pin(load()) });
        let current = Mutex::new(spawn(load()));
        Self { load, current }
    }

    /// The value, waited for at most this long.
    ///
    /// # Errors
    /// When it is not there by then, or loading failed.
    pub async fn get(&self, patience: Duration) -> Result<T, NotLoaded> {
        let mut receiver = self.attempt();
        let waited = tokio::time::timeout(patience, receiver.wait_for(Option::is_some)).await;
        match waited {
            Err(_) | Ok(Err(_)) => Err(NotLoaded::Late),
            Ok(Ok(loaded)) => match &*loaded {
                Some(Ok(value)) => Ok(value.clone()),
                Some(Err(error)) => Err(NotLoaded::Failed(Arc::clone(error))),
                None => Err(NotLoaded::Late),
            },
        }
    }

    /// The attempt under way or done; a new one where the last one failed.
    fn attempt(&self) -> watch::Receiver<Loaded<T>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = matches!(&*current.borrow(), Some(Err(_)));
        let died = current.has_changed().is_err() && current.borrow().is_none();
        if failed || died {
            *current = spawn((self.load)());
        }
        current.clone()
    }
}

fn spawn<T: Send + Sync + 'static>(load: Load<T>) -> watch::Receiver<Loaded<T>> {
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        let loaded = load.await.map_err(LoadError::from);
        if let Err(error) = &loaded {
            tracing::warn!(error = %Causes(error), "loading failed");
        }
        sender.send_replace(Some(loaded));
    });
    receiver
}

impl<T> fmt::Debug for Loading<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loading(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_value_is_loaded_once_for_all_who_ask() {
        let loads = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&loads);
        let loading = Loading::begin(move || {
            let counter = Arc::clone(&counter);
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(counter.fetch_add(1, Ordering::SeqCst) + 1)
            }
        });
        assert_eq!(loading.get(LONG).await.unwrap(), 1);
        assert_eq!(loading.get(LONG).await.unwrap(), 1);
        assert_eq!(loads.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_waits_no_longer_than_they_said() {
        let loading: Loading<u32> = Loading::begin(std::future::pending);
        let error = loading.get(Duration::from_millis(5)).await.unwrap_err();
        assert!(matches!(error, NotLoaded::Late));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_load_is_begun_anew_by_the_next_who_asks() {
        let loads = Arc::new(AtomicU32::new(0));
        let loading = Loading::begin(move || {
            let attempt = loads.fetch_add(1, Ordering::SeqCst);
            async move { if attempt == 0 { Err("down".into()) } else { Ok(attempt) } }
        });
        let first = loading.get(LONG).await;
        assert!(matches!(first, Err(NotLoaded::Failed(_))), "{first:?}");
        assert_eq!(loading.get(LONG).await.unwrap(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_that_panics_is_no_end() {
        let loads = Arc::new(AtomicU32::new(0));
        let loading = Loading::begin(move || {
            let attempt = loads.fetch_add(1, Ordering::SeqCst);
            async move {
                assert!(attempt > 0, "the first attempt panics");
                Ok(attempt)
            }
        });
        assert!(matches!(loading.get(LONG).await, Err(NotLoaded::Late)));
        assert_eq!(loading.get(LONG).await.unwrap(), 1);
    }
}
