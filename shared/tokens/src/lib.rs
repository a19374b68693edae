//! The tokens we issue: admissions, receipts of places in line, and viewers'
//! passes. ES256, signed by the one function that reads the signing secret and
//! verified by everybody with the public keys.
//!
//! A token is held to its purpose (`aud`), its issuer, its key (`kid`) and its
//! expiry, to the second and without leeway: a session that has ended must not
//! buy because a clock is generous. Time is passed in.

mod claims;
mod keys;
mod refreshed;
mod ring;
mod signer;

pub use claims::{Admission, Purpose, Receipt, Viewer};
pub use keys::{InvalidKey, Keys, PublicKey, TokenError};
pub use refreshed::{FetchError, Refreshed};
pub use ring::{KeyRing, VerifyError};
pub use signer::{Signer, SigningError, UnusableSecret};

/// The issuer of all tokens here.
pub const ISSUER: &str = "onsale";
