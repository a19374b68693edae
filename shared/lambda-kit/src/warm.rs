//! Connections that are open before the first request needs them. The first call
//! of a cold function costs most: the name, TCP, TLS and the first signature.

use std::error::Error;
use std::future::Future;

use crate::causes::Causes;

/// Makes a call in the background whose answer nobody needs: what it opens on its
/// way, the first request finds open. Nothing waits for it, and one that fails is
/// logged and no more: whoever needs a connection then opens it. Must be called
/// within a runtime.
pub fn open<E>(what: &'static str, call: impl Future<Output = Result<(), E>> + Send + 'static)
where
    E: Error + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(error) = call.await {
            tracing::warn!(what, error = %Causes(&error), "could not be reached ahead");
        }
    });
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::future::{pending, ready};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_call_is_made_though_nobody_waits_for_it() {
        let (made, seen) = oneshot::channel();
        open("a store", async move { made.send(()).map_err(|()| fmt::Error) });
        assert_eq!(seen.await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_hangs_or_fails_delays_nothing() {
        let begun = tokio::time::Instant::now();
        open("one that hangs", pending::<Result<(), fmt::Error>>());
        open("one that fails", ready(Err(fmt::Error)));
        tokio::task::yield_now().await;
        assert!(begun.elapsed().is_zero());
    }
}
