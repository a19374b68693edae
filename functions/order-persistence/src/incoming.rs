//! What a message of the queue says.

use aws_lambda_events::sqs::SqsMessage;
use contracts::messages::OrderIntent;
use domain::OrderId;

/// A message, readable or not.
#[derive(Debug)]
pub struct Incoming {
    /// What came: a message that is given up is passed on as it is.
    pub text: String,
    /// The intent in it.
    pub intent: Result<OrderIntent, serde_json::Error>,
}

impl Incoming {
    /// Reads a message.
    #[must_use]
    pub fn read(record: &SqsMessage) -> Self {
        let text = record.body.clone().unwrap_or_default();
        Self { intent: serde_json::from_str(&text), text }
    }

    /// The order, where it says which.
    #[must_use]
    pub fn order(&self) -> Option<OrderId> {
        self.intent.as_ref().ok().map(|intent| intent.order)
    }
}
