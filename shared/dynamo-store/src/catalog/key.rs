//! Public keys of tokens: pk `keys`, sk `<kid>`.

use super::CatalogStore;
use crate::StoreError;

/// A public key as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// Its id: the thumbprint of what follows, so one id never means two keys.
    pub kid: String,
    /// The key as a JSON Web Key.
    pub jwk: String,
}

impl CatalogStore {
    /// Stores a public key; again is fine.
    ///
    /// # Errors
    /// When DynamoDB fails; repeating is safe.
    pub async fn key_put(&self, key: &StoredKey) -> Result<(), StoreError> {
        todo!()
    }

    /// All public keys; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn keys_list(&self) -> Result<Vec<StoredKey>, StoreError> {
        todo!()
    }
}
