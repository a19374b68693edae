//! Keys that are fetched when they are needed.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::claims::{Admission, Kind, Receipt, Viewer};
use crate::keys::{Keys, PublicKey, TokenError};

/// Forged tokens with made-up key names must not become a flood of reads.
const BETWEEN_FETCHES: SignedDuration = SignedDuration::from_secs(10);
/// After a failed fetch the next one is tried sooner.
const AFTER_FAILURE: SignedDuration = SignedDuration::from_secs(1);

/// Where keys come from failed, and why.
pub type FetchError = Arc<dyn Error + Send + Sync>;
type Fetch = dyn Fn() -> Pin<Box<dyn Future<Output = Result<Vec<PublicKey>, BoxError>> + Send>>
    + Send
    + Sync;
type BoxError = Box<dyn Error + Send + Sync>;

/// Why a token was not accepted by a ring.
#[derive(Debug, Clone, thiserror::Error)]
pub enum VerifyError {
    /// The token is at fault.
    #[error(transparent)]
    Token(TokenError),
    /// The keys can't be read now: nothing is known about the token.
    #[error("the keys can't be read")]
    Keys(#[source] FetchError),
}

/// Public keys, kept and fetched again when a token names an unknown one, at
/// most every ten seconds.
pub struct KeyRing {
    fetch: Box<Fetch>,
    keys: RwLock<Arc<Keys>>,
    last: Mutex<LastFetch>,
}

#[derive(Default)]
struct LastFetch {
    at: Option<Timestamp>,
    failure: Option<FetchError>,
}

impl KeyRing {
    /// Keys from there. Nothing is fetched before the first token comes.
    pub fn new<F, Fut, E>(fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<PublicKey>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let fetch = move || -> Pin<Box<dyn Future<Output = _> + Send>> {
            let keys = fetch();
            Box::pin(async move { keys.await.map_err(Into::into) })
        };
        Self { fetch: Box::new(fetch), keys: RwLock::default(), last: Mutex::default() }
    }

    /// Verifies an admission token.
    ///
    /// # Errors
    /// When it is not to be accepted, or the keys can't be read.
    pub async fn admission(&self, token: &str, now: Timestamp) -> Result<Admission, VerifyError> {
        self.verify(now, |keys| keys.admission(token, now)).await
    }

    /// Verifies a place's receipt.
    ///
    /// # Errors
    /// When it is not to be accepted, or the keys can't be read.
    pub async fn receipt(&self, token: &str, now: Timestamp) -> Result<Receipt, VerifyError> {
        self.verify(now, |keys| keys.receipt(token, now)).await
    }

    /// Verifies a viewer's pass.
    ///
    /// # Errors
    /// When it is not to be accepted, or the keys can't be read.
    pub async fn viewer(&self, token: &str, now: Timestamp) -> Result<Viewer, VerifyError> {
        self.verify(now, |keys| keys.viewer(token, now)).await
    }

    async fn verify<K: Kind>(
        &self,
        now: Timestamp,
        check: impl Fn(&Keys) -> Result<K, TokenError>,
    ) -> Result<K, VerifyError> {
        match check(&self.known()) {
            Err(TokenError::UnknownKey) => {}
            decided => return decided.map_err(VerifyError::Token),
        }
        self.refresh(now).await?;
        check(&self.known()).map_err(VerifyError::Token)
    }

    fn known(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// One fetch at a time; whoever waited for it finds it done.
    async fn refresh(&self, now: Timestamp) -> Result<(), VerifyError> {
        let mut last = self.last.lock().await;
        let pause = if last.failure.is_some() { AFTER_FAILURE } else { BETWEEN_FETCHES };
        let is_recent = last.at.is_some_and(|at| now.duration_since(at) < pause);
        if !is_recent {
            let fetched = (self.fetch)().await;
            // Only now: a fetch that was given up half-way must not keep the
            // next caller from trying.
            last.at = Some(now);
            match fetched {
                Ok(keys) => {
                    let keys = Arc::new(Keys::new(keys));
                    *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
                    last.failure = None;
                }
                Err(error) => last.failure = Some(error.into()),
            }
        }
        last.failure.clone().map_or(Ok(()), |failure| Err(VerifyError::Keys(failure)))
    }
}
