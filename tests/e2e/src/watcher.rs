//! Somebody who watches a seat map: follows the WebSocket, and fetches the seats
//! whenever it is told to or something is missing.

use std::sync::Arc;
use std::time::Duration;

use contracts::live::{Followed, Frame, OrderFrame, SeatView};
use contracts::seats::SeatsBody;
use domain::{EventId, SectionId};
use serde_json::json;

use crate::edge::Edge;
use crate::error::ClientError;
use crate::http::HttpApi;
use crate::live::LiveConnection;

/// Where a watcher fetches the seats.
#[derive(Debug, Clone)]
pub enum Source {
    /// The API itself.
    Api(HttpApi),
    /// A shared cache in front of it, which may be a moment behind.
    Edge(Arc<Edge>),
}

/// A watcher of one event.
#[derive(Debug)]
pub struct Watcher {
    event: EventId,
    sections: Vec<SectionId>,
    source: Source,
    connection: LiveConnection,
    view: SeatView,
}

/// What a watcher was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The map is newer now.
    Seats,
    /// An own order has a new state.
    Order(OrderFrame),
    /// Nothing that matters.
    Nothing,
}

/// For how long the seats may be cached.
const CACHED_FOR: Duration = Duration::from_secs(1);
const MOST_FETCHES: u32 = 3;

impl Watcher {
    /// Begins to watch these sections of an event (none: all of it).
    ///
    /// # Errors
    /// When the connection or the subscription fails.
    pub async fn begin(
        source: Source,
        mut connection: LiveConnection,
        event: &EventId,
        sections: &[SectionId],
    ) -> Result<Self, ClientError> {
        let view = SeatView::new(event.clone(), sections.iter().cloned());
        subscribe(&mut connection, event, sections, &view).await?;
        Ok(Self { event: event.clone(), sections: sections.to_vec(), source, connection, view })
    }

    /// Goes on over a new connection, from where the map is.
    ///
    /// # Errors
    /// When the connection or the subscription fails.
    pub async fn resume(&mut self, mut connection: LiveConnection) -> Result<(), ClientError> {
        subscribe(&mut connection, &self.event, &self.sections, &self.view).await?;
        self.connection = connection;
        Ok(())
    }

    /// The map as the watcher knows it.
    #[must_use]
    pub fn view(&self) -> &SeatView {
        &self.view
    }

    /// Waits for the next frame and does what it asks for.
    ///
    /// # Errors
    /// When the connection ends or the seats can't be fetched.
    pub async fn follow(&mut self) -> Result<Told, ClientError> {
        let frame = self.connection.next().await?;
        if let Frame::Order(order) = frame {
            return Ok(Told::Order(order));
        }
        match self.view.follow(&frame) {
            Followed::Applied => Ok(Told::Seats),
            Followed::Ignored => Ok(Told::Nothing),
            Followed::NeedsSnapshot => self.fetch().await,
        }
    }

    async fn fetch(&mut self) -> Result<Told, ClientError> {
        let path = format!("/events/{}/seats", self.event);
        for _ in 0..MOST_FETCHES {
            let seats: SeatsBody = match &self.source {
                Source::Api(api) => api.get(&path).read().await?,
                Source::Edge(edge) => edge.read(&path).await?,
            };
            match self.view.load(&seats) {
                Followed::Applied => return Ok(Told::Seats),
                Followed::Ignored => return Ok(Told::Nothing),
                // A cache gave an older one than is needed.
                Followed::NeedsSnapshot => tokio::time::sleep(CACHED_FOR).await,
            }
        }
        // The next frame will ask again.
        Ok(Told::Nothing)
    }

    /// Stops watching.
    ///
    /// # Errors
    /// When the connection has ended already.
    pub async fn end(self) -> Result<(), ClientError> {
        self.connection.close().await
    }
}

async fn subscribe(
    connection: &mut LiveConnection,
    event: &EventId,
    sections: &[SectionId],
    view: &SeatView,
) -> Result<(), ClientError> {
    let mut message = json!({"action": "subscribe", "event": event, "sections": sections});
    if let Some(position) = view.position() {
        message["epoch"] = position.epoch.into();
        message["after"] = position.sequence.into();
    }
    connection.send(&message).await
}
