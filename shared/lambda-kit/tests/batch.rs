//! Batches: who is reported as failed, and who is not.

#![cfg(test)]

use std::sync::Mutex;
use std::time::Duration;

use aws_lambda_events::sqs::SqsBatchResponse;
use jiff::{SignedDuration, Timestamp};
use lambda_kit::batch::{Deadline, Message, Retry, each_distinct, each_distinct_of};
use lambda_kit::clock;
use lambda_kit::testing::{sqs_event, sqs_event_of_texts};

const INSTANTLY: Duration = Duration::from_millis(1);

fn in_seconds(seconds: i64) -> Timestamp {
    clock::now() + SignedDuration::from_secs(seconds)
}

fn far() -> Deadline {
    Deadline::at(in_seconds(600), INSTANTLY)
}

fn failed(response: &SqsBatchResponse) -> Vec<&str> {
    let failures = response.batch_item_failures.iter();
    let mut ids: Vec<&str> = failures.map(|failure| failure.item_identifier.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn exactly_those_that_failed_are_reported() {
    let texts = ["1", "no json", "3", "\"four\"", "5", "6"];
    let handled = Mutex::new(Vec::new());
    let response =
        each_distinct(sqs_event_of_texts(texts), u32::clone, 2, far(), |message: Message<u32>| {
            handled.lock().unwrap().push(message.body);
            async move {
                assert!(message.body != 6, "six is a bug");
                if message.body == 5 { Err(Retry) } else { Ok(()) }
            }
        })
        .await;
    assert_eq!(failed(&response), ["1", "3", "4", "5"]);
    let mut handled = handled.into_inner().unwrap();
    handled.sort_unstable();
    assert_eq!(handled, [1, 3, 5, 6]);
}

#[tokio::test]
async fn a_panic_before_the_first_await_fails_that_message_only() {
    let response =
        each_distinct(sqs_event(&[1, 2]), u32::clone, 1, far(), |message: Message<u32>| {
            assert!(message.body != 1, "one is a bug");
            std::future::ready(Ok(()))
        })
        .await;
    assert_eq!(failed(&response), ["0"]);
}

#[tokio::test]
async fn nothing_is_begun_that_can_not_end_in_time() {
    // Of the ten seconds, one is for putting off what is not done with, and for the answer.
    for (longest, failing) in [(9_200, vec!["0", "1"]), (8_000, vec![])] {
        let deadline = Deadline::at(in_seconds(10), Duration::from_millis(longest));
        let begun = Mutex::new(0);
        let handle = |_: Message<u32>| {
            *begun.lock().unwrap() += 1;
            std::future::ready(Ok(()))
        };
        let response = each_distinct(sqs_event(&[1, 2]), u32::clone, 1, deadline, handle).await;
        assert_eq!(failed(&response), failing);
        assert_eq!(begun.into_inner().unwrap(), 2 - failing.len());
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_in_time_is_given_up_and_reported() {
    let deadline = Deadline::at(in_seconds(10), INSTANTLY);
    let response = each_distinct(
        sqs_event(&[1, 2]),
        u32::clone,
        10,
        deadline,
        |message: Message<u32>| async move {
            if message.body == 1 { std::future::pending().await } else { Ok(()) }
        },
    )
    .await;
    assert_eq!(failed(&response), ["0"]);
}

#[tokio::test]
async fn copies_of_one_message_are_handled_once_and_share_the_outcome() {
    let handled = Mutex::new(0);
    let handle = |message: Message<u32>| {
        *handled.lock().unwrap() += 1;
        async move { if message.body == 7 { Err(Retry) } else { Ok(()) } }
    };
    let event = sqs_event(&[7, 8, 7, 8, 7]);
    let response = each_distinct(event, u32::clone, 4, far(), handle).await;
    assert_eq!(failed(&response), ["0", "2", "4"]);
    assert_eq!(*handled.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_message_without_a_name_fails_the_whole_batch_by_its_empty_one() {
    let mut event = sqs_event(&["x"]);
    event.records[0].message_id = None;
    let response =
        each_distinct(event, u32::clone, 1, far(), |_: Message<u32>| std::future::ready(Ok(())))
            .await;
    assert_eq!(failed(&response), [""]);
}

#[tokio::test]
async fn an_empty_batch_is_no_failure() {
    let event = sqs_event::<u32>(&[]);
    let response =
        each_distinct(event, u32::clone, 1, far(), |_: Message<u32>| std::future::ready(Ok(())))
            .await;
    assert_eq!(failed(&response), Vec::<&str>::new());
}

#[tokio::test]
async fn who_reads_by_itself_is_given_every_message_and_nothing_else_is_reported() {
    let texts = ["no json", "2", "no json", "3"];
    let handled = Mutex::new(Vec::new());
    let response = each_distinct_of(
        sqs_event_of_texts(texts),
        |record| record.body.clone().unwrap_or_default(),
        String::clone,
        1,
        far(),
        |message: Message<String>| {
            handled.lock().unwrap().push(message.body.clone());
            std::future::ready(if message.body == "2" { Err(Retry) } else { Ok(()) })
        },
    )
    .await;
    assert_eq!(failed(&response), ["1"]);
    assert_eq!(handled.into_inner().unwrap(), ["no json", "2", "3"]);
}
