//! What a dead letter says.

use aws_lambda_events::sqs::SqsMessage;
use contracts::messages::{GivenUp, IntentTraces, OrderIntent};

/// A letter, readable or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// What came: it is kept as it is.
    pub text: String,
    /// Why it was given up.
    pub reason: GivenUp,
    /// What exactly; empty where nobody said.
    pub detail: String,
    /// Whose order it is, and what else can be read; none: it doesn't even say that.
    pub traces: Option<IntentTraces>,
}

impl Letter {
    /// Reads a letter. One that says nothing of why it is here was given up by the
    /// queue.
    #[must_use]
    pub fn read(record: &SqsMessage) -> Self {
        let text = record.body.clone().unwrap_or_default();
        let told = attribute(record, "reason").and_then(GivenUp::parse);
        let reason = told.unwrap_or_else(|| match serde_json::from_str::<OrderIntent>(&text) {
            Ok(_) => GivenUp::TooManyReceives,
            Err(_) => GivenUp::Unreadable,
        });
        Self {
            reason,
            detail: attribute(record, "detail").unwrap_or_default().to_owned(),
            traces: IntentTraces::read(&text),
            text,
        }
    }
}

fn attribute<'a>(record: &'a SqsMessage, name: &str) -> Option<&'a str> {
    record.message_attributes.get(name)?.string_value.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lambda_events::sqs::SqsEvent;

    /// The fixture: one that was buried, one that the queue gave up, one that is no
    /// intent.
    fn letters() -> Vec<Letter> {
        let event: SqsEvent =
            serde_json::from_str(include_str!("../events/dead-letters.json")).unwrap();
        event.records.iter().map(Letter::read).collect()
    }

    #[test]
    fn a_letter_says_why_it_is_here_or_the_queue_gave_it_up() {
        let reasons: Vec<GivenUp> = letters().iter().map(|letter| letter.reason).collect();
        let unreadable = GivenUp::Unreadable;
        assert_eq!(
            reasons,
            [GivenUp::Unwritable, GivenUp::TooManyReceives, unreadable, unreadable]
        );
        assert_eq!(letters()[0].detail, "the order can't be written as it is");
        assert_eq!(letters()[1].detail, "");
    }

    #[test]
    fn a_letter_whose_lines_are_broken_still_says_whose_order_it_is() {
        let named = letters().into_iter().map(|letter| letter.traces.is_some());
        assert_eq!(named.collect::<Vec<_>>(), [true, true, true, false]);
    }
}
