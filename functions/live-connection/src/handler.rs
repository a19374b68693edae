//! Decides what an event of a connection means.

use connections::{Connections, Posted};
use contracts::live::{ClientMessage, Frame};
use contracts::problem::{FieldError, Problem, Reason, Text};
use domain::{ConnectionId, EventId};
use dynamo_store::{Connection, ConnectionStore, EventCache, StoreError};
use jiff::Timestamp;
use lambda_kit::Causes;
use queues::LiveQueue;
use seat_log::SeatLog;

use crate::socket::{EventType, RequestContext, SocketAnswer, SocketEvent};

/// The function's handles to the outside.
#[derive(Debug)]
pub struct LiveConnection {
    /// The events there are.
    pub events: EventCache,
    /// Who is connected and watches what.
    pub connections: ConnectionStore,
    /// What happens on seat maps.
    pub log: SeatLog,
    /// Where ticks are begun.
    pub updates: LiveQueue,
    /// The open connections.
    pub gateway: Connections,
}

impl LiveConnection {
    /// Handles one event of one connection.
    pub async fn handle(&self, event: SocketEvent, now: Timestamp) -> SocketAnswer {
        let context = &event.request_context;
        match context.event_type {
            EventType::Connect => self.connect(context, now).await,
            EventType::Disconnect => self.disconnect(&context.connection_id).await,
            EventType::Message => self.message(&event, now).await,
        }
    }

    async fn connect(&self, context: &RequestContext, now: Timestamp) -> SocketAnswer {
        if context.pass().is_none() {
            tracing::error!("the authorizer named a customer or an event that is none");
            return SocketAnswer::FORBIDDEN;
        }
        match self.remember(context, now).await {
            Ok(()) => SocketAnswer::OK,
            Err(error) => {
                tracing::error!(error = %Causes(&error), "a connection can't be stored");
                SocketAnswer::UNAVAILABLE
            }
        }
    }

    pub(crate) async fn remember(
        &self,
        context: &RequestContext,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let connection = Connection {
            id: context.connection_id.clone(),
            customer: context.pass().and_then(|pass| pass.principal.customer()),
            connected_at: now,
            events: Default::default(),
        };
        self.connections.connection_put(&connection).await
    }

    async fn disconnect(&self, connection: &ConnectionId) -> SocketAnswer {
        if let Err(error) = self.connections.connection_delete(connection).await {
            // The next post to it answers 410, which removes it then.
            tracing::warn!(error = %Causes(&error), "a closed connection can't be removed");
        }
        SocketAnswer::OK
    }

    async fn message(&self, event: &SocketEvent, now: Timestamp) -> SocketAnswer {
        let frame = match self.answer(event, now).await {
            Ok(frame) => frame,
            Err(problem) => Some(Frame::error(&problem, event.request_context.language())),
        };
        if let Some(frame) = frame {
            self.post(&event.request_context.connection_id, &frame).await;
        }
        SocketAnswer::OK
    }

    /// What to say to a message; none: nothing.
    async fn answer(&self, event: &SocketEvent, now: Timestamp) -> Result<Option<Frame>, Problem> {
        let context = &event.request_context;
        match read(event)? {
            ClientMessage::Ping => Ok(Some(Frame::Pong)),
            ClientMessage::Unsubscribe { event } => {
                self.unsubscribe(&event, &context.connection_id).await?;
                Ok(None)
            }
            ClientMessage::Subscribe { event, sections, have } => {
                self.subscribe(context, &event, sections, have, now).await.map(Some)
            }
        }
    }

    async fn unsubscribe(&self, event: &EventId, connection: &ConnectionId) -> Result<(), Problem> {
        let deleted = self.connections.subscription_delete(event, connection).await;
        deleted.map_err(|error| unavailable(&error, "a subscription can't be removed"))
    }

    async fn post(&self, connection: &ConnectionId, frame: &Frame) {
        match self.gateway.post(connection, &frame.to_text()).await {
            Ok(Posted::Sent) => {}
            Ok(Posted::Gone) => {
                self.disconnect(connection).await;
            }
            // The client hears nothing, and asks again.
            Err(error) => tracing::warn!(error = %Causes(&error), "an answer can't be posted"),
        }
    }
}

fn read(event: &SocketEvent) -> Result<ClientMessage, Problem> {
    if event.is_base64_encoded {
        return Err(FieldError::new("", Text::String).into());
    }
    ClientMessage::parse(event.body.as_deref().unwrap_or_default())
}

/// A store failed: the client may ask again.
pub(crate) fn unavailable(error: &dyn std::error::Error, what: &'static str) -> Problem {
    tracing::error!(error = %Causes(error), what);
    Problem::new(Reason::Unavailable)
}
