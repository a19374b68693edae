//! Hashing of several fields as one, so that no two different lists of fields
//! hash alike.

use sha2::{Digest, Sha256};

/// SHA-256 over fields, each prefixed with its length: without the lengths,
/// ("ab", "c") and ("a", "bc") would be one and the same key.
pub(crate) fn sha256_of_fields(fields: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    hasher.finalize().into()
}

/// The first `N` bytes of a digest.
pub(crate) fn truncated<const N: usize>(digest: [u8; 32]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&digest[..N]);
    out
}
