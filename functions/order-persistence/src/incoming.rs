//! What a message of the queue says.

use aws_lambda_events::sqs::SqsMessage;
use contracts::messages::OrderIntent;
use domain::{Epoch, OrderId};

/// A message, readable or not.
#[derive(Debug)]
pub struct Incoming {
    /// What came: a message that is given up is passed on as it is.
    pub text: String,
    /// The intent in it.
    pub intent: Result<OrderIntent, serde_json::Error>,
}

/// What copies of one message have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Sameness {
    /// Within an epoch an order holds once, so these are copies of one intent.
    Hold(OrderId, Epoch),
    /// What can't be read is compared by its text.
    Text(String),
}

impl Incoming {
    /// Reads a message.
    #[must_use]
    pub fn read(record: &SqsMessage) -> Self {
        let text = record.body.clone().unwrap_or_default();
        Self { intent: serde_json::from_str(&text), text }
    }

    /// What its copies share with it.
    #[must_use]
    pub fn sameness(&self) -> Sameness {
        match &self.intent {
            Ok(intent) => Sameness::Hold(intent.order, intent.epoch),
            Err(_) => Sameness::Text(self.text.clone()),
        }
    }

    /// The order, where it says which.
    #[must_use]
    pub fn order(&self) -> Option<OrderId> {
        self.intent.as_ref().ok().map(|intent| intent.order)
    }
}
