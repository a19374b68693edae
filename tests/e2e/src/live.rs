//! The WebSocket API as a client sees it.

use std::time::Duration;

use contracts::live::Frame;
use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::error::ClientError;

/// An open connection.
#[derive(Debug)]
pub struct LiveConnection {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl LiveConnection {
    /// Opens a connection with a fan's, an admission or a viewer token.
    ///
    /// # Errors
    /// When the other side refuses.
    pub async fn open(url: &str, token: &str) -> Result<Self, ClientError> {
        let (stream, _) = connect_async(format!("{url}?token={token}")).await.map_err(broken)?;
        Ok(Self { stream })
    }

    /// Sends a message that is JSON.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn send(&mut self, message: &Value) -> Result<(), ClientError> {
        self.send_raw(Message::text(message.to_string())).await
    }

    /// Sends anything.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn send_raw(&mut self, message: Message) -> Result<(), ClientError> {
        self.stream.send(message).await.map_err(broken)
    }

    /// The next frame of a kind that clients know.
    ///
    /// # Errors
    /// When the connection ends.
    pub async fn next(&mut self) -> Result<Frame, ClientError> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => {
                    if let Some(frame) = Frame::parse(&text) {
                        return Ok(frame);
                    }
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Binary(_) | Message::Close(_))) | None => {
                    return Err(ClientError::Closed);
                }
                Some(Err(error)) => return Err(broken(error)),
            }
        }
    }

    /// The first thing that is found in the frames to come.
    ///
    /// # Errors
    /// When it does not come in time, or the connection ends.
    pub async fn find<T>(
        &mut self,
        what: &str,
        within: Duration,
        mut find: impl FnMut(Frame) -> Option<T>,
    ) -> Result<T, ClientError> {
        let mut last = "no frame".to_owned();
        let search = async {
            loop {
                let frame = self.next().await?;
                last = frame.to_text();
                if let Some(found) = find(frame) {
                    return Ok(found);
                }
            }
        };
        match tokio::time::timeout(within, search).await {
            Ok(found) => found,
            Err(_) => Err(ClientError::TimedOut { what: what.to_owned(), within, last }),
        }
    }

    /// Closes the connection the way a browser does.
    ///
    /// # Errors
    /// When it has ended already.
    pub async fn close(mut self) -> Result<(), ClientError> {
        self.stream.close(None).await.map_err(broken)
    }
}

fn broken(error: Error) -> ClientError {
    Box::new(error).into()
}
