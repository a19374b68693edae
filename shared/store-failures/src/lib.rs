//! What an error of a store is told as over HTTP: here for all functions, as the kit
//! knows no store and no store knows HTTP.
//!
//! Of what was to be written the outcome may be unknown. Where repeating the request
//! would not find out, that is told instead ([`Failure::outcome_unknown`]).

use dynamo_store::StoreError;
use lambda_kit::http::Failure;
use redis_store::RedisStoreError;

/// What failed on the way to a store, as what the client is told.
pub trait OrFail<T> {
    /// The value, or the failure: 503 where repeating helps, else 500.
    ///
    /// # Errors
    /// When it failed.
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T> OrFail<T> for Result<T, StoreError> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| {
            let is_retryable = error.is_retryable();
            Failure::at_store(error, is_retryable)
        })
    }
}

impl<T> OrFail<T> for Result<T, RedisStoreError> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| {
            let is_retryable = error.is_retryable();
            Failure::at_store(error, is_retryable)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_worth_repeating() {
        let told = |failure: Failure| failure.problem().reason.status();
        for (error, status) in [
            (StoreError::Throttled("busy".into()), 503),
            (StoreError::Invalid("no such condition".into()), 500),
            (StoreError::Corrupt { item: "order".to_owned(), source: "no state".into() }, 500),
        ] {
            assert_eq!(told(Err::<(), _>(error).or_fail().unwrap_err()), status);
        }
        let reply = RedisStoreError::UnexpectedReply { script: "join" };
        assert_eq!(told(Err::<(), _>(reply).or_fail().unwrap_err()), 500);
    }
}
