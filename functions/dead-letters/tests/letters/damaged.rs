//! Letters of which not everything can be read.

use contracts::messages::LiveUpdate;
use domain::{Epoch, OrderState, Rejection};
use serde_json::{Value, json};
use test_sale::{LONG, currency, now, places, seats, show};

use crate::desk::{Desk, text};

/// What may stand in place of what a till writes beside whose order it is.
fn damages() -> Vec<(&'static str, Value)> {
    vec![
        ("currency", json!("twd")),
        ("currency", json!(null)),
        ("epoch", json!(-1)),
        ("epoch", json!("1")),
        ("epoch", json!(18_446_744_073_709_551_616.0)),
        ("epoch", json!(Epoch::LAST.0 + 1)),
        ("held_at", json!("yesterday")),
        ("held_at", json!("9999-12-30T22:00:00.999999999Z")),
        ("fingerprint", json!("00")),
        ("fingerprint", json!([7])),
        ("lines", json!([])),
        ("lines", json!("floor")),
        ("expires_at", json!(7)),
    ]
}

#[tokio::test]
async fn whatever_else_is_broken_the_order_ends_and_its_fan_is_told() {
    let whole: Vec<Vec<(&str, Value)>> = vec![damages()];
    let each = damages().into_iter().map(|damage| vec![damage]);
    for damages in each.chain(whole) {
        // It says something else there, or nothing.
        for is_missing in [false, true] {
            let desk = Desk::of(10, 4).await;
            let intent = desk.sale.hold("ann", "k", vec![places(2), seats([1])]).await;
            let mut letter = serde_json::to_value(&intent).unwrap();
            for (field, damage) in &damages {
                letter[*field] = damage.clone();
                if is_missing {
                    letter.as_object_mut().unwrap().remove(*field);
                }
            }
            let before = now();
            for _ in 0..2 {
                assert!(desk.batch(&[text(&letter.to_string())]).await.is_empty(), "{letter}");
                let order = desk.order(&intent).await;
                assert_eq!(order.rejection, Some(Rejection::Unprocessable), "{letter}");
                assert!(order.fingerprint.is_same_content(&intent.fingerprint), "{letter}");
                assert_eq!((order.epoch, order.total.currency), (intent.epoch, currency()));
                let is_hold_known = order.created_at == intent.held_at;
                assert!(is_hold_known || order.created_at >= before, "{letter}");
                assert_eq!(desk.counts("floor").await, (0, 0, 10), "{letter}");
                assert_eq!(desk.counts("stalls").await, (0, 0, 4), "{letter}");
                assert_eq!(desk.told(), [LiveUpdate::order(&order), LiveUpdate::tick(&show())]);
                let kept = desk.parked.take_sent();
                assert_eq!(kept[0].attributes["order"], intent.order.to_string());
                assert_eq!(kept[0].attributes["order_state"], "rejected");
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_value_hides_no_name() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for nothing in ["1e400", r#""\ud800""#, &deep] {
        let desk = Desk::of(10, 4).await;
        let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
        let mut letter = serde_json::to_value(&intent).unwrap();
        letter["epoch"] = json!("here");
        let letter = letter.to_string().replace(r#""here""#, nothing);
        assert!(desk.batch(&[text(&letter)]).await.is_empty(), "{letter}");
        assert_eq!(desk.order(&intent).await.rejection, Some(Rejection::Unprocessable), "{letter}");
        assert_eq!(desk.counts("floor").await, (0, 0, 10), "{letter}");
    }
}

#[tokio::test]
async fn when_it_was_held_is_kept_where_it_can_be_read() {
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    let mut letter = serde_json::to_value(&intent).unwrap();
    letter["fingerprint"] = json!("00");
    letter["currency"] = json!("twd");
    assert!(desk.batch(&[text(&letter.to_string())]).await.is_empty());
    desk.assert_ended(&intent).await;
}

#[tokio::test]
async fn what_nobody_knows_any_more_is_left_to_the_fans_repeat() {
    // The letter does not say what was asked for, and Redis has forgotten the hold.
    let desk = Desk::of(10, 0).await;
    let intent = desk.sale.hold("ann", "k", vec![places(2)]).await;
    desk.sale.open_epoch(Epoch(2), 10, 0).await;
    let mut letter = serde_json::to_value(&intent).unwrap();
    letter["fingerprint"] = json!("00");
    let letter = text(&letter.to_string());
    assert!(desk.batch(std::slice::from_ref(&letter)).await.is_empty());
    assert_eq!(desk.sale.stored("ann", &intent.order).await, None);
    assert_eq!(desk.told(), []);
    assert!(!desk.parked.take_sent()[0].attributes.contains_key("order_state"));

    // What is stored needs no letter to say it.
    let stored = desk.sale.persist_unsettled(&intent, LONG).await;
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(&letter)).await.is_empty());
        assert_eq!(desk.order(&intent).await, stored);
        assert_eq!(stored.state, OrderState::Pending);
        assert_eq!(desk.counts("floor").await, (0, 2, 8));
        assert_eq!(desk.told()[0], LiveUpdate::order(&stored));
    }
}
