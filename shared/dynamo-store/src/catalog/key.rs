//! Public keys of tokens: pk `keys`, sk `<kid>`.

use serde::{Deserialize, Serialize};

use super::CatalogStore;
use crate::StoreError;
use crate::table::{decode, encode};

const PARTITION: &str = "keys";

#[derive(Serialize, Deserialize)]
struct Record {
    pk: String,
    sk: String,
    jwk: String,
}

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
        let record = Record { pk: PARTITION.to_owned(), sk: key.kid.clone(), jwk: key.jwk.clone() };
        self.table.put(encode(&record)?).await
    }

    /// All public keys; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn keys_list(&self) -> Result<Vec<StoredKey>, StoreError> {
        let items = self.table.query(PARTITION, "", true).await?;
        let key_of = |record: Record| StoredKey { kid: record.sk, jwk: record.jwk };
        items.into_iter().map(|item| decode("key", item).map(key_of)).collect()
    }
}
