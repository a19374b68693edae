//! Works off live-updates, one decoded message at a time.

use std::sync::Arc;
use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use connections::Connections;
use contracts::live::{Frame, OrderFrame};
use contracts::messages::LiveUpdate;
use domain::CustomerId;
use dynamo_store::{ConnectionStore, StoreError};
use jiff::Timestamp;
use lambda_kit::Causes;
use lambda_kit::batch::{Deadline, Message, Retry, each_distinct};
use queues::{LiveQueue, SendError, Visibility};
use seat_log::{SeatLog, SeatLogError};

/// Messages of a batch that are worked off at once.
const CONCURRENCY: usize = 10;
/// What is left of the time must at least be this for a message to be begun.
pub const LONGEST: Duration = Duration::from_secs(5);

/// Reads the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The function's handles to the outside.
pub struct LiveBroadcast {
    /// Who is connected and watches what, and how the chains stand.
    pub connections: ConnectionStore,
    /// What happens on seat maps.
    pub log: SeatLog,
    /// Where the next ticks go.
    pub updates: LiveQueue,
    /// When messages that failed come back.
    pub visibility: Visibility,
    /// The open connections.
    pub gateway: Connections,
    /// The time.
    pub clock: Clock,
}

/// Why a message could not be worked off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("the connections table failed")]
    Store(#[from] StoreError),
    #[error("the next tick can't be sent")]
    Send(#[from] SendError),
    #[error("the seat log failed")]
    Log(#[from] SeatLogError),
    #[error("{0} frames were not taken")]
    Posts(usize),
}

impl LiveBroadcast {
    /// Works off a batch. `invocation` is a name that no other invocation has.
    /// Messages that say the same are one: a rush of nudges is one look.
    pub async fn handle_batch(
        &self,
        event: SqsEvent,
        invocation: &str,
        deadline: Deadline,
    ) -> SqsBatchResponse {
        each_distinct(event, LiveUpdate::clone, CONCURRENCY, deadline, |message| async move {
            let holder = format!("{invocation}/{}", message.id);
            self.handle(message, &holder).await
        })
        .await
    }

    async fn handle(&self, message: Message<LiveUpdate>, holder: &str) -> Result<(), Retry> {
        let Err(error) = self.handle_update(&message.body, holder).await else { return Ok(()) };
        tracing::error!(error = %Causes(&error), "a live update can't be worked off");
        let seconds = message.receive_count.min(5);
        if let Err(error) = self.visibility.postpone(&message.receipt_handle, seconds).await {
            tracing::warn!(error = %Causes(&error), "it will come back later than it could");
        }
        Err(Retry)
    }

    async fn handle_update(&self, update: &LiveUpdate, holder: &str) -> Result<(), Failed> {
        match update {
            LiveUpdate::Tick { event, ticker } => self.tick(event, ticker.as_ref(), holder).await,
            LiveUpdate::Order { event, customer, order, state, reason, version } => {
                let frame = Frame::Order(OrderFrame {
                    event: event.clone(),
                    order: *order,
                    state: *state,
                    reason: reason.clone(),
                    version: *version,
                });
                self.tell_owner(customer, &frame).await
            }
        }
    }

    async fn tell_owner(&self, customer: &CustomerId, frame: &Frame) -> Result<(), Failed> {
        let connections = self.connections.customer_connections_list(customer).await?;
        let text: Arc<str> = frame.to_text().into();
        let posts = connections.into_iter().map(|id| (id, Arc::clone(&text))).collect();
        let audience = self.post_all(posts, None).await;
        if audience.failed > 0 { Err(Failed::Posts(audience.failed)) } else { Ok(()) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }
}
