//! The two kinds of event that this function is called with.

use std::fmt;

use aws_lambda_events::sqs::SqsEvent;
use serde::Deserialize;
use serde_json::Value;

/// An event, by its source.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// Changes of the orders table.
    Stream(Vec<Change>),
    /// Orders that could not be settled before.
    Retries(SqsEvent),
}

/// A change of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its place in the shard.
    pub sequence: String,
    /// The item as it is afterwards; none: it was removed.
    pub image: Option<serde_dynamo::Item>,
}

/// An event of neither kind.
#[derive(Debug, thiserror::Error)]
pub enum UnknownTrigger {
    /// Its records come from elsewhere, or it has none.
    #[error("the records come from neither the stream nor the retry queue")]
    Source,
    /// Its records are not what such records look like.
    #[error("the records can't be read")]
    Records(#[from] serde_json::Error),
}

impl Trigger {
    /// Reads an event.
    ///
    /// # Errors
    /// When it is of neither kind.
    pub fn read(mut event: Value) -> Result<Self, UnknownTrigger> {
        let source = event["Records"][0]["eventSource"].as_str().unwrap_or_default();
        match source {
            "aws:dynamodb" => {
                let records = Vec::<Value>::deserialize(event["Records"].take())?;
                Ok(Self::Stream(records.into_iter().filter_map(change).collect()))
            }
            "aws:sqs" => Ok(Self::Retries(SqsEvent::deserialize(event)?)),
            _ => Err(UnknownTrigger::Source),
        }
    }
}

fn change(record: Value) -> Option<Change> {
    let sequence = record["dynamodb"]["SequenceNumber"].as_str().map(str::to_owned);
    match Record::deserialize(record) {
        Ok(record) => Some(record.dynamodb.into()),
        Err(error) => {
            unreadable(sequence.as_deref().unwrap_or_default(), &error);
            None
        }
    }
}

/// It would be as unreadable at each repetition, and hold up its shard.
pub(crate) fn unreadable(sequence: &str, error: &dyn fmt::Display) {
    tracing::error!(
        sequence,
        metric = "unreadable_order",
        %error,
        "a record of the stream is no order"
    );
}

/// Only what is read here, so that nothing else in a record can make it unreadable.
#[derive(Deserialize)]
struct Record {
    dynamodb: StreamRecord,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StreamRecord {
    sequence_number: String,
    #[serde(default)]
    new_image: Option<serde_dynamo::Item>,
}

impl From<StreamRecord> for Change {
    fn from(record: StreamRecord) -> Self {
        Self { sequence: record.sequence_number, image: record.new_image }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fixture(text: &str) -> Trigger {
        Trigger::read(serde_json::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn an_event_is_told_by_its_source() {
        let Trigger::Stream(changes) = fixture(include_str!("../events/order-stream.json")) else {
            panic!("this is a stream event");
        };
        assert!(changes.iter().any(|change| change.image.is_some()));
        let retries = fixture(include_str!("../events/settle-retries.json"));
        assert!(matches!(retries, Trigger::Retries(event) if !event.records.is_empty()));
    }

    #[test]
    fn an_event_of_neither_kind_is_none() {
        for event in [json!({}), json!(null), json!({"Records": [{"eventSource": "aws:s3"}]})] {
            assert!(matches!(Trigger::read(event), Err(UnknownTrigger::Source)));
        }
        let broken = json!({"Records": [{"eventSource": "aws:sqs", "body": 7}]});
        assert!(matches!(Trigger::read(broken), Err(UnknownTrigger::Records(_))));
    }

    #[test]
    fn a_record_that_is_none_hides_no_other() {
        let record = |dynamodb| json!({"eventSource": "aws:dynamodb", "dynamodb": dynamodb});
        let records = [
            json!(7),
            json!({"SequenceNumber": "1", "NewImage": 7}),
            json!({"SequenceNumber": "2"}),
        ];
        let event = json!({"Records": records.map(record)});
        let Trigger::Stream(changes) = Trigger::read(event).unwrap() else { panic!() };
        assert_eq!(changes, [Change { sequence: "2".to_owned(), image: None }]);
    }
}
