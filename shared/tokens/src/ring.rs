//! Our public keys, fetched before they are needed, or when they are.

use std::error::Error;
use std::future::Future;

use jiff::Timestamp;

use crate::claims::{Admission, Kind, Viewer};
use crate::keys::{Keys, PublicKey, TokenError};
use crate::refreshed::{FetchError, Refreshed};

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
#[derive(Debug)]
pub struct KeyRing(Refreshed<Keys>);

impl KeyRing {
    /// Keys from there. Without [`Self::load_ahead`], nothing is fetched before the
    /// first token comes.
    pub fn new<F, Fut, E>(fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<PublicKey>, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + Send,
    {
        Self(Refreshed::new(move || {
            let keys = fetch();
            async move { keys.await.map(Keys::new) }
        }))
    }

    /// Begins to fetch the keys in the background, so that the first token finds
    /// them. Must be called within a runtime. A fetch that fails or hangs costs the
    /// first token a second at most.
    #[must_use]
    pub fn load_ahead(self, now: Timestamp) -> Self {
        Self(self.0.load_ahead(now))
    }

    /// Verifies an admission token.
    ///
    /// # Errors
    /// When it is not to be accepted, or the keys can't be read.
    pub async fn admission(&self, token: &str, now: Timestamp) -> Result<Admission, VerifyError> {
        self.verify(now, |keys| keys.admission(token, now)).await
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
        match check(&*self.0.current(now).await) {
            Err(TokenError::UnknownKey) => {}
            decided => return decided.map_err(VerifyError::Token),
        }
        self.0.refresh(now).await.map_err(VerifyError::Keys)?;
        check(&self.0.known()).map_err(VerifyError::Token)
    }
}
