//! No message is lost in silence, and none is worked on by two at once.

use crate::template::{Resource, Template, referenced};

/// How much longer than a function's timeout its queue hides a message: what
/// AWS recommends, so that throttled batches are not handed out twice.
const VISIBILITY_TO_TIMEOUT: u64 = 6;

/// Queues whose messages come back while a function may still be at work on
/// them.
#[must_use]
pub fn visibility(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for (trigger, queue) in queue_triggers(template) {
        let Some(function) = template
            .functions()
            .find(|f| Some(f.id()) == referenced(&trigger.properties["FunctionName"]))
        else {
            faults.push(format!("{} calls no function of the template", trigger.id));
            continue;
        };
        let visibility = &queue.properties["VisibilityTimeout"];
        let choices = template.choices(&[function.timeout(), visibility]);
        if choices.is_empty() {
            faults.push(format!("{} depends on a parameter that may be anything", queue.id));
        }
        for choice in choices {
            let hidden = template.number(visibility, &choice);
            let timeout = template.number(function.timeout(), &choice);
            let (Some(hidden), Some(timeout)) = (hidden, timeout) else {
                faults.push(format!("{}: no number can be worked out for {choice:?}", queue.id));
                continue;
            };
            if hidden < VISIBILITY_TO_TIMEOUT * timeout {
                faults.push(format!(
                    "{} hides a message for {hidden} s, {} may work for {timeout} s",
                    queue.id,
                    function.id()
                ));
            }
        }
    }
    faults
}

/// Triggers by which a batch of which one message failed is deleted as a whole.
#[must_use]
pub fn partial_batches(template: &Template) -> Vec<String> {
    let reports = |trigger: &Resource<'_>| {
        let types = trigger.properties["FunctionResponseTypes"].as_sequence();
        types.into_iter().flatten().any(|kind| kind.as_str() == Some("ReportBatchItemFailures"))
    };
    template
        .triggers()
        .filter(|trigger| !reports(trigger))
        .map(|trigger| format!("{} lacks ReportBatchItemFailures", trigger.id))
        .collect()
}

/// Sources whose messages, once given up, are nowhere.
#[must_use]
pub fn dead_letters(template: &Template) -> Vec<String> {
    let is_queue = |id: Option<&str>| template.queues().any(|queue| Some(queue.id) == id);
    let mut faults = Vec::new();
    for trigger in template.triggers() {
        let destination = match queue_of(template, &trigger) {
            Some(queue) => &queue.properties["RedrivePolicy"]["deadLetterTargetArn"],
            None => &trigger.properties["DestinationConfig"]["OnFailure"]["Destination"],
        };
        if !is_queue(referenced(destination)) {
            faults.push(format!("what {} gives up goes nowhere", trigger.id));
        }
    }
    faults
}

/// A day: how long a stream keeps its records.
const STREAM_KEEPS: u64 = 86_400;

/// Streams of which a record would be skipped while the stream still has it.
#[must_use]
pub fn streams(template: &Template) -> Vec<String> {
    let gives_up = |trigger: &Resource<'_>| {
        let tries = trigger.properties["MaximumRetryAttempts"].as_i64();
        let age = trigger.properties["MaximumRecordAgeInSeconds"].as_u64();
        tries != Some(-1) || age.is_none_or(|age| age < STREAM_KEEPS)
    };
    template
        .triggers()
        .filter(|trigger| queue_of(template, trigger).is_none() && gives_up(trigger))
        .map(|trigger| format!("{} gives up records that the stream still has", trigger.id))
        .collect()
}

/// Whether the count would end an intent before its hold lapses; the deadline
/// must. `return_seconds` is after how long an intent comes back that failed for
/// the nth time.
#[must_use]
pub fn deadlines(template: &Template, return_seconds: fn(u32) -> u32) -> Vec<String> {
    let queues = || template.queues().filter(|queue| queue.id == "OrderIntentsQueue");
    let receives = queues().find_map(|queue| {
        queue.properties["RedrivePolicy"]["maxReceiveCount"].as_u64()?.try_into().ok()
    });
    let (Some(receives), Some(longest_hold)) = (receives, template.largest("HoldSeconds")) else {
        return vec!["order intents or their holds have no limit".to_owned()];
    };
    let lasts: u64 = (1..receives).map(|count| u64::from(return_seconds(count))).sum();
    let fault = format!("order intents are given up after {lasts} s, holds last {longest_hold} s");
    (lasts < longest_hold).then_some(fault).into_iter().collect()
}

/// Queues whose messages nobody works off and nobody is told of.
#[must_use]
pub fn alarms(template: &Template) -> Vec<String> {
    let is_read =
        |queue: &Resource<'_>| queue_triggers(template).any(|(_, source)| source.id == queue.id);
    let is_watched = |queue: &Resource<'_>| {
        template.resources("AWS::CloudWatch::Alarm").any(|alarm| {
            let dimension = &alarm.properties["Dimensions"][0]["Value"];
            alarm.properties["MetricName"].as_str() == Some("ApproximateNumberOfMessagesVisible")
                && alarm.properties["Threshold"].as_u64() == Some(0)
                && referenced(dimension) == Some(queue.id)
        })
    };
    template
        .queues()
        .filter(|queue| !is_read(queue) && !is_watched(queue))
        .map(|queue| format!("nobody is told of messages in {}", queue.id))
        .collect()
}

/// What the attributes of a dead letter take at most: six of them, each with a name
/// and a text of up to 300 signs of four bytes.
const LABELS: u64 = 8_192;

/// Dead-letter queues that would not take the largest message of their source with
/// why it was given up; such a message could never be given up.
#[must_use]
pub fn room_for_letters(template: &Template) -> Vec<String> {
    let size = |queue: &Resource<'_>| queue.properties["MaximumMessageSize"].as_u64();
    let intents = template.queues().find(|queue| queue.id == "OrderIntentsQueue");
    let largest = intents.and_then(|queue| size(&queue)).unwrap_or(u64::MAX);
    template
        .queues()
        .filter(|queue| matches!(queue.id, "OrderIntentsDeadLetters" | "OrderIntentsParked"))
        .filter(|queue| size(queue).is_none_or(|size| size < largest.saturating_add(LABELS)))
        .map(|queue| format!("{} can't take the largest intent and why", queue.id))
        .collect()
}

/// Queues that take a message of any size.
#[must_use]
pub fn size_limits(template: &Template) -> Vec<String> {
    template
        .queues()
        .filter(|queue| queue.properties["MaximumMessageSize"].as_u64().is_none())
        .map(|queue| format!("{} has no size limit", queue.id))
        .collect()
}

fn queue_triggers(template: &Template) -> impl Iterator<Item = (Resource<'_>, Resource<'_>)> {
    template.triggers().filter_map(|trigger| Some((trigger, queue_of(template, &trigger)?)))
}

/// The queue that a trigger reads; none if it reads a stream.
pub(super) fn queue_of<'a>(template: &'a Template, trigger: &Resource<'_>) -> Option<Resource<'a>> {
    let source = referenced(&trigger.properties["EventSourceArn"])?;
    template.queues().find(|queue| queue.id == source)
}
