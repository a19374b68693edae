//! Waiting for a state, never for a time.

use std::time::{Duration, Instant};

use crate::error::ClientError;

/// What a look at the state found.
pub enum Seen<T> {
    /// It has come true.
    Yes(T),
    /// Not yet; this is what there was instead.
    NotYet(String),
}

impl<T> Seen<T> {
    /// Yes, if the condition holds; else what is there, for the message.
    pub fn when(condition: bool, value: T) -> Self
    where
        T: std::fmt::Debug,
    {
        if condition { Self::Yes(value) } else { Self::NotYet(format!("{value:?}")) }
    }
}

/// How long a journey waits for what should take moments. Generous: a busy
/// machine is slow, not broken.
pub const SOON: Duration = Duration::from_secs(30);

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Looks again and again, with growing pauses, until it has come true.
///
/// # Errors
/// When it has not come true within that time, or a look failed.
pub async fn eventually<T>(
    what: &str,
    within: Duration,
    mut look: impl AsyncFnMut() -> Result<Seen<T>, ClientError>,
) -> Result<T, ClientError> {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match look().await? {
            Seen::Yes(value) => return Ok(value),
            Seen::NotYet(last) if begun.elapsed() >= within => {
                return Err(ClientError::TimedOut { what: what.to_owned(), within, last });
            }
            Seen::NotYet(_) => tokio::time::sleep(pause).await,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
