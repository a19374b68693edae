//! Posts frames: one to each connection, many at once, the gone removed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use connections::Posted;
use contracts::live::Frame;
use contracts::seats::SeatChangesBody;
use domain::{ConnectionId, EventId, LogPosition, SectionId};
use dynamo_store::{StoreError, Subscriber, Ticker};
use futures::{StreamExt, stream};
use jiff::SignedDuration;
use lambda_kit::Causes;

use crate::handler::{Failed, LiveBroadcast};

/// Posts that are under way at once.
const POSTS_AT_ONCE: usize = 64;
/// A teller that dies is replaced after this at the latest.
const LEASE: SignedDuration = SignedDuration::from_secs(5);
/// One that lives extends its lease this often.
const LEASE_RENEWAL: Duration = Duration::from_secs(2);

/// What to say to watchers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Words {
    /// This changed.
    Changes(SeatChangesBody),
    /// Fetch the seats; they are at least at this position.
    Snapshot(LogPosition),
}

/// What became of the frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Audience {
    pub(crate) sent: usize,
    pub(crate) gone: usize,
    pub(crate) failed: usize,
}

impl Audience {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl LiveBroadcast {
    pub(crate) async fn take_lease(
        &self,
        event: &EventId,
        holder: &str,
    ) -> Result<Option<Ticker>, StoreError> {
        let now = self.now();
        self.connections.ticker_claim(event, holder, now, now + LEASE).await
    }

    /// Tells every watcher; none: the lease was lost meanwhile.
    pub(crate) async fn tell(
        &self,
        event: &EventId,
        words: &Words,
        holder: &str,
    ) -> Result<Option<Audience>, Failed> {
        let watchers = self.connections.subscribers_list(event).await?;
        let posting = self.post_all(frames(event, words, watchers), Some(event));
        tokio::select! {
            audience = posting => Ok(Some(audience)),
            () = self.keep_lease(event, holder) => Ok(None),
        }
    }

    /// Extends the lease for as long as it can be extended.
    async fn keep_lease(&self, event: &EventId, holder: &str) {
        loop {
            tokio::time::sleep(LEASE_RENEWAL).await;
            match self.take_lease(event, holder).await {
                Ok(Some(_)) => {}
                Ok(None) => return,
                // The lease may hold a while yet; if not, another tells the same.
                Err(error) => tracing::warn!(error = %Causes(&error), "a lease can't be extended"),
            }
        }
    }

    /// Posts each frame. One that can't be posted stops none of the others.
    pub(crate) async fn post_all(
        &self,
        posts: Vec<(ConnectionId, Arc<str>)>,
        event: Option<&EventId>,
    ) -> Audience {
        let mut outcomes = stream::iter(posts)
            .map(|(connection, frame)| self.post(connection, frame, event))
            .buffer_unordered(POSTS_AT_ONCE);
        let mut audience = Audience::default();
        while let Some(outcome) = outcomes.next().await {
            match outcome {
                Some(Posted::Sent) => audience.sent += 1,
                Some(Posted::Gone) => audience.gone += 1,
                None => audience.failed += 1,
            }
        }
        audience
    }

    async fn post(
        &self,
        connection: ConnectionId,
        frame: Arc<str>,
        event: Option<&EventId>,
    ) -> Option<Posted> {
        match self.gateway.post(&connection, &frame).await {
            Ok(Posted::Sent) => Some(Posted::Sent),
            Ok(Posted::Gone) => {
                self.forget(&connection, event).await;
                Some(Posted::Gone)
            }
            Err(error) => {
                tracing::warn!(%connection, error = %Causes(&error), "a frame can't be posted");
                None
            }
        }
    }

    /// Removes a connection that is gone. Its subscription by itself, too: one
    /// that was made while the connection was removed is known to nobody else.
    async fn forget(&self, connection: &ConnectionId, event: Option<&EventId>) {
        let forgotten = async {
            if let Some(event) = event {
                self.connections.subscription_delete(event, connection).await?;
            }
            self.connections.connection_delete(connection).await
        };
        if let Err(error) = forgotten.await {
            // It answers 410 again at the next tick, and is removed then.
            tracing::warn!(error = %Causes(&error), "a connection that is gone can't be removed");
        }
    }
}

/// A frame for each watcher; watchers of the same sections share its text.
fn frames(
    event: &EventId,
    words: &Words,
    watchers: Vec<Subscriber>,
) -> Vec<(ConnectionId, Arc<str>)> {
    let mut texts: HashMap<Vec<SectionId>, Arc<str>> = HashMap::new();
    let text_for = |watcher: Subscriber| {
        let text = texts.entry(watcher.sections).or_insert_with_key(|sections| {
            let frame = match words {
                Words::Changes(changes) => Frame::changes(changes, sections),
                Words::Snapshot(position) => Frame::snapshot(event, *position),
            };
            frame.to_text().into()
        });
        (watcher.connection, Arc::clone(text))
    };
    watchers.into_iter().map(text_for).collect()
}
