//! The signing key, derived from a secret that Secrets Manager generated.

use std::fmt;

use hkdf::Hkdf;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use p256::SecretKey;
use p256::pkcs8::EncodePrivateKey;
use sha2::Sha256;

use crate::claims::{Admission, Kind, Receipt, Viewer};
use crate::keys::PublicKey;

/// What the key is derived for. Another purpose would be another text, and get
/// a key of its own from the same secret.
const PURPOSE: &[u8] = b"onsale.tokens.es256.v1";

/// Shorter secrets could be guessed.
const SHORTEST_SECRET: usize = 32;

/// The secret gives no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signing secret must have at least {SHORTEST_SECRET} characters")]
pub struct UnusableSecret;

/// Signing failed.
#[derive(Debug, thiserror::Error)]
#[error("a token could not be signed")]
pub struct SigningError(#[source] jsonwebtoken::errors::Error);

/// Signs tokens.
pub struct Signer {
    key: EncodingKey,
    public: PublicKey,
}

impl Signer {
    /// Derives the key from the secret: the same secret always gives the same
    /// key, so every instance signs alike without sharing anything else.
    ///
    /// # Errors
    /// When the secret is too short to be one.
    pub fn derive(secret: &str) -> Result<Self, UnusableSecret> {
        if secret.len() < SHORTEST_SECRET {
            return Err(UnusableSecret);
        }
        let secret_key = derive_key(secret.as_bytes()).ok_or(UnusableSecret)?;
        let public = PublicKey::of(&secret_key.public_key()).ok_or(UnusableSecret)?;
        let document = secret_key.to_pkcs8_der().map_err(|_| UnusableSecret)?;
        Ok(Self { key: EncodingKey::from_ec_der(document.as_bytes()), public })
    }

    /// The key that verifies what this one signs.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// An admission token.
    ///
    /// # Errors
    /// When signing fails, which it does not with a derived key.
    pub fn admission(&self, admission: &Admission) -> Result<String, SigningError> {
        self.sign(admission)
    }

    /// A place's receipt.
    ///
    /// # Errors
    /// When signing fails, which it does not with a derived key.
    pub fn receipt(&self, receipt: &Receipt) -> Result<String, SigningError> {
        self.sign(receipt)
    }

    /// A viewer's pass.
    ///
    /// # Errors
    /// When signing fails, which it does not with a derived key.
    pub fn viewer(&self, viewer: &Viewer) -> Result<String, SigningError> {
        self.sign(viewer)
    }

    fn sign<K: Kind>(&self, token: &K) -> Result<String, SigningError> {
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some(self.public.kid.clone());
        jsonwebtoken::encode(&header, &token.to_wire(), &self.key).map_err(SigningError)
    }
}

/// HKDF-SHA256. A derived number that is no scalar of the curve (one in 2^32)
/// is passed over for the next.
fn derive_key(secret: &[u8]) -> Option<SecretKey> {
    let hkdf = Hkdf::<Sha256>::new(None, secret);
    (0..=u8::MAX).find_map(|counter| {
        let mut bytes = [0; 32];
        hkdf.expand_multi_info(&[PURPOSE, &[counter]], &mut bytes).ok()?;
        SecretKey::from_slice(&bytes).ok()
    })
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("kid", &self.public.kid).finish_non_exhaustive()
    }
}
