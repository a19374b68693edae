//! Faults on the way to the signer.

use lambda_kit::http::Failure;
use lambda_kit::loading::NotLoaded;
use tokens::SigningError;

pub(crate) fn at_signing(error: SigningError) -> Failure {
    Failure::internal(error)
}

pub(crate) fn at_loading(error: NotLoaded) -> Failure {
    Failure::unavailable(error)
}
