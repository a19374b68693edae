//! From the poisoned intent to its end: what order-persistence buries is what comes
//! here.

use domain::{HoldTime, OrderState};
use jiff::SignedDuration;
use lambda_kit::batch::Deadline;
use lambda_kit::testing::sqs_event;
use order_persistence::handler::{ONE_INTENT, Persistence};
use queues::{DeadLetters, Visibility};
use test_sale::{now, places, seats};
use test_support::queue::FakeQueue;

use crate::desk::{DeadLetter, Desk};

fn persistence(desk: &Desk, queue: &FakeQueue) -> Persistence {
    let client = queues::client(&queue.sdk_config());
    Persistence {
        catalog: desk.sale.catalog.clone(),
        orders: desk.sale.orders.clone(),
        inventory: desk.sale.inventory.clone(),
        units: dynamo_store::UnitCache::new(desk.sale.catalog.clone()),
        visibility: Visibility::new(client.clone(), queue.queue_url("order-intents")),
        dead_letters: DeadLetters::new(client, queue.queue_url("dead-letters")),
        time: HoldTime::default(),
    }
}

#[tokio::test]
async fn m2_of_ten_with_one_poisoned_nine_persist_and_one_ends_with_its_reason_and_no_hold() {
    let desk = Desk::of(10, 9).await;
    let queue = FakeQueue::start().await;
    let persistence = persistence(&desk, &queue);
    let mut intents = Vec::new();
    for number in 0..9 {
        intents.push(desk.sale.hold(&format!("fan-{number}"), "k", vec![seats([number])]).await);
    }
    let mut poison = desk.sale.hold("poison", "k", vec![places(2)]).await;
    poison.lines[0].ticket_type = test_sale::kind("nosuch");
    intents.insert(4, poison.clone());
    // The second time is a redrive of all of them.
    for _ in 0..2 {
        let deadline = Deadline::at(now() + SignedDuration::from_secs(30), ONE_INTENT);
        let response = persistence.batch(sqs_event(&intents), deadline).await;
        assert!(response.batch_item_failures.is_empty());
        let letters: Vec<DeadLetter> =
            queue.take_sent().into_iter().map(DeadLetter::from).collect();
        assert_eq!(letters.len(), 1);
        assert!(desk.batch(&letters).await.is_empty());
        for intent in intents.iter().filter(|intent| **intent != poison) {
            assert_eq!(desk.order(intent).await.state, OrderState::Pending);
        }
        desk.assert_ended(&poison).await;
        assert_eq!(desk.counts("stalls").await, (0, 9, 0));
        assert_eq!(desk.counts("floor").await, (0, 0, 10));
        let kept = desk.parked.take_sent();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].attributes["reason"], "unwritable");
        assert_eq!(kept[0].attributes["order"], poison.order.to_string());
    }
}
