//! The CDN between the crowd and the stack: public answers are kept for as long
//! as their `Cache-Control` says, and a crowd that asks at once asks once. On AWS
//! this is CloudFront; without it, polling would be most of what a sale costs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::error::ClientError;
use crate::http::{Answer, HttpApi};

/// A shared cache of public answers.
#[derive(Debug)]
pub struct Edge {
    api: HttpApi,
    places: Mutex<HashMap<String, Arc<Place>>>,
}

/// One path: whoever finds it stale fetches it, the others wait for that.
type Place = tokio::sync::Mutex<Option<Kept>>;

#[derive(Debug)]
struct Kept {
    answer: Answer,
    fresh_until: Instant,
}

impl Edge {
    /// In front of an API.
    #[must_use]
    pub fn new(api: HttpApi) -> Self {
        Self { api, places: Mutex::default() }
    }

    /// A public answer, from the cache where it is fresh enough.
    ///
    /// # Errors
    /// When it can't be fetched, or is no success.
    pub async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let place = self.place(path);
        let mut kept = place.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| Instant::now() < kept.fresh_until) {
            return kept.answer.json();
        }
        let answer = self.api.get(path).send_politely().await?.success()?;
        let read = answer.json();
        let lifetime = answer.header("cache-control").map_or(Duration::ZERO, shared_lifetime);
        *kept = Some(Kept { answer, fresh_until: Instant::now() + lifetime });
        read
    }

    fn place(&self, path: &str) -> Arc<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(places.entry(path.to_owned()).or_default())
    }
}

/// For how long a shared cache may keep an answer.
fn shared_lifetime(cache_control: &str) -> Duration {
    let directives = || cache_control.split(',').map(str::trim);
    if directives().any(|directive| directive == "no-store" || directive == "private") {
        return Duration::ZERO;
    }
    let seconds = |name: &str| {
        directives().find_map(|directive| directive.strip_prefix(name)?.parse::<u64>().ok())
    };
    Duration::from_secs(seconds("s-maxage=").or_else(|| seconds("max-age=")).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_as_long_as_they_say() {
        let seconds = |header| shared_lifetime(header).as_secs();
        assert_eq!(seconds("public, max-age=1"), 1);
        assert_eq!(seconds("max-age=60, s-maxage=2"), 2);
        assert_eq!(seconds("no-store"), 0);
        assert_eq!(seconds("private, max-age=60"), 0);
        assert_eq!(seconds("public"), 0);
    }
}
