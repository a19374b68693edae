//! A running stack, as people meet it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::error::ClientError;
use crate::http::{HttpApi, PAUSES};
use crate::identity::Identity;
use crate::live::LiveConnection;
use crate::stack::Stack;
use crate::until::{SOON, Seen, eventually};

/// Of the functions behind the other queues of orders, in seconds.
const OTHER_TIMEOUTS: u32 = 30;

/// A running stack and the clients for it.
#[derive(Debug, Clone)]
pub struct World {
    /// Where everything is.
    pub stack: Stack,
    /// The HTTP API.
    pub api: HttpApi,
    /// Who people are.
    pub identity: Identity,
}

/// How many messages of a queue are where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Messages {
    /// Nobody has them.
    pub waiting: u32,
    /// A function has them, or had them when it died.
    pub taken: u32,
}

/// More requests at once than any journey sends at one instant on purpose.
const AT_ONCE: usize = 64;

/// The longest hold, in seconds, that a journey waits for.
const LONGEST_WAIT: u32 = 60;

impl World {
    /// The running stack.
    ///
    /// # Errors
    /// When there is none.
    pub fn connect() -> Result<Self, ClientError> {
        Self::with_requests_at_once(AT_ONCE)
    }

    /// The running stack, with a bound on requests at once.
    ///
    /// # Errors
    /// When there is none.
    pub fn with_requests_at_once(at_once: usize) -> Result<Self, ClientError> {
        let stack = Stack::read()?;
        let api = HttpApi::new(&stack.http_url, at_once)?;
        let identity = Identity::new(&stack)?;
        Ok(Self { stack, api, identity })
    }

    /// How long this stack's holds live, for journeys that wait for one to lapse.
    ///
    /// # Errors
    /// When it is longer than anybody wants to wait.
    pub fn short_hold(&self) -> Result<Duration, ClientError> {
        match self.stack.hold_seconds {
            seconds @ 0..=LONGEST_WAIT => Ok(Duration::from_secs(seconds.into())),
            seconds => Err(ClientError::HoldsTooLong { seconds }),
        }
    }

    /// Asks the queue service, for journeys that meddle with messages.
    ///
    /// # Errors
    /// When it refuses.
    pub async fn sqs(&self, action: &str, body: &Value) -> Result<Value, ClientError> {
        let service = HttpApi::new(&self.stack.endpoint, 1)?;
        let post = service.post("/").header("x-amz-target", &format!("AmazonSQS.{action}"));
        post.body("application/x-amz-json-1.0", body.to_string()).read().await
    }

    /// Waits until no intent is on its way, of any event.
    ///
    /// # Errors
    /// When some stay, or the queue service refuses.
    pub async fn until_intents_are_worked_off(&self) -> Result<(), ClientError> {
        let timeout = self.stack.persistence_timeout_seconds;
        self.until_worked_off(&self.stack.order_intents_queue_url, timeout).await
    }

    /// Waits until nothing that concerns an order is on its way: no intent, no dead
    /// letter of one, no order that Redis has to be made to agree with.
    ///
    /// # Errors
    /// When something is left.
    pub async fn until_orders_are_at_rest(&self) -> Result<(), ClientError> {
        self.until_intents_are_worked_off().await?;
        for queue in
            [&self.stack.order_intents_dead_letters_url, &self.stack.settle_retries_queue_url]
        {
            self.until_worked_off(queue, OTHER_TIMEOUTS).await?;
        }
        Ok(())
    }

    async fn until_worked_off(&self, queue: &str, timeout: u32) -> Result<(), ClientError> {
        // A message whose function died comes back after six times its timeout.
        let within = SOON + 6 * Duration::from_secs(timeout.into());
        self.until_queue(queue, Messages::default(), within).await
    }

    /// Waits until so many intents wait, and so many are with functions.
    ///
    /// # Errors
    /// When there stay others, or the queue service refuses.
    pub async fn until_intents(&self, wanted: Messages) -> Result<(), ClientError> {
        self.until_queue(&self.stack.order_intents_queue_url, wanted, SOON).await
    }

    async fn until_queue(
        &self,
        queue: &str,
        wanted: Messages,
        within: Duration,
    ) -> Result<(), ClientError> {
        eventually("a queue holds what it should", within, async || {
            let messages = self.messages(queue).await?;
            Ok(Seen::when(messages == wanted, messages))
        })
        .await?;
        Ok(())
    }

    /// How many intents are where.
    ///
    /// # Errors
    /// When the queue service refuses.
    pub async fn intents(&self) -> Result<Messages, ClientError> {
        self.messages(&self.stack.order_intents_queue_url).await
    }

    async fn messages(&self, queue: &str) -> Result<Messages, ClientError> {
        let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
        let ask = json!({"QueueUrl": queue, "AttributeNames": names});
        let answer = self.sqs("GetQueueAttributes", &ask).await?;
        let count = |name: &str| answer["Attributes"][name].as_str()?.parse::<u32>().ok();
        match names.map(count) {
            [Some(waiting), Some(taken)] => Ok(Messages { waiting, taken }),
            [..] => Err(ClientError::Uncounted { queue: queue.to_owned() }),
        }
    }

    /// Opens a WebSocket with any token.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn connect_live(&self, token: &str) -> Result<LiveConnection, ClientError> {
        LiveConnection::open(&self.stack.ws_url, token).await
    }

    /// Opens a WebSocket, again and again where it is refused: a gateway does not
    /// say whether that is for good.
    ///
    /// # Errors
    /// When it is refused each time.
    pub async fn connect_live_politely(&self, token: &str) -> Result<LiveConnection, ClientError> {
        for pause in PAUSES {
            if let Ok(connection) = self.connect_live(token).await {
                return Ok(connection);
            }
            tokio::time::sleep(pause).await;
        }
        self.connect_live(token).await
    }
}
