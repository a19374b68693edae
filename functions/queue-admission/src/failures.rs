//! Faults on the way to the stores. Every operation here can be repeated, so
//! a fault that may pass is simply "try again".

use dynamo_store::StoreError;
use lambda_kit::http::Failure;
use lambda_kit::loading::NotLoaded;
use redis_store::RedisStoreError;
use tokens::SigningError;

pub(crate) fn at_redis(error: RedisStoreError) -> Failure {
    let is_retryable = error.is_retryable();
    Failure::at_store(error, is_retryable)
}

pub(crate) fn at_dynamo(error: StoreError) -> Failure {
    let is_retryable = error.is_retryable();
    Failure::at_store(error, is_retryable)
}

pub(crate) fn at_signing(error: SigningError) -> Failure {
    Failure::internal(error)
}

pub(crate) fn at_loading(error: NotLoaded) -> Failure {
    Failure::unavailable(error)
}
