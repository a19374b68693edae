//! Watching: the map follows the store, own orders are told, and nothing that a
//! client sends or does harms anybody.

use std::time::Duration;

use contracts::live::Frame;
use contracts::orders::OrderStateBody;
use contracts::queue::QueueStatusBody;
use contracts::seats::SeatChangesBody;
use domain::{OrderState, SectionId, UnitState};
use e2e::error::ClientError;
use e2e::identity::new_word;
use e2e::live::LiveConnection;
use e2e::plan::Plan;
use e2e::sale::{Sale, Shopper};
use e2e::stores::Stores;
use e2e::until::{SOON, Seen, eventually};
use e2e::watcher::{Told, Watcher};
use e2e::world::World;
use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

type Journey = Result<(), ClientError>;

/// How long a map may lag behind the store.
const LAG: Duration = Duration::from_secs(15);

fn seats(labels: &[String]) -> Value {
    json!([{"ticket_type": "stalls", "seats": labels}])
}

fn seat(label: &str) -> Value {
    seats(&[label.to_owned()])
}

/// Follows until the map is as expected.
async fn until_map(
    watcher: &mut Watcher,
    what: &str,
    is_right: impl Fn(&Watcher) -> bool,
) -> Journey {
    let follow = async {
        while !is_right(watcher) {
            watcher.follow().await?;
        }
        Ok(())
    };
    match tokio::time::timeout(LAG, follow).await {
        Ok(followed) => followed,
        Err(_) => Err(ClientError::TimedOut {
            what: what.to_owned(),
            within: LAG,
            last: format!("{:?}", watcher.view()),
        }),
    }
}

/// Follows until the map is what the store has, by a snapshot that is no older than the map:
/// snapshots are kept for a moment, and the map may have heard of more by then.
async fn until_equal(watcher: &mut Watcher, sale: &Sale) -> Journey {
    let heard = watcher.view().position().map(|heard| (heard.epoch, heard.sequence));
    let truth = eventually("a snapshot as new as the map", SOON, async || {
        let truth = sale.seats().await?;
        Ok(Seen::when(Some((truth.epoch, truth.sequence)) >= heard, truth))
    })
    .await?;
    let states: Vec<Option<Vec<UnitState>>> =
        truth.sections.iter().map(|section| section.unpack()).collect();
    until_map(watcher, "the map equals the store", |watcher| {
        let view = watcher.view().seats();
        truth
            .sections
            .iter()
            .zip(&states)
            .all(|(section, states)| view.get(&section.section) == states.as_ref())
    })
    .await
}

fn state(watcher: &Watcher, section: &str, at: usize) -> Option<UnitState> {
    let section = SectionId::parse(section).ok()?;
    watcher.view().seats().get(&section)?.get(at).copied()
}

async fn settled_seat(sale: &Sale, buyer: &Shopper, label: &str) -> Journey {
    let order = sale.bought(buyer, seat(label)).await?;
    sale.settled(&buyer.fan, order.id).await?;
    Ok(())
}

#[tokio::test]
async fn everyone_who_watches_sees_the_seats_turn() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new().section("stalls", "A", 2, 10).section("stalls", "B", 1, 10);
    let sale = plan.set_up(&world).await?;
    let mut whole = sale.viewer().await?;
    let only_b = [SectionId::parse("B").unwrap()];
    let connection = world.connect_live(&sale.viewer_token().await?).await?;
    let mut part = sale.watch(connection, &only_b).await?;
    until_map(&mut whole, "a first snapshot", |watcher| watcher.view().seats().len() == 2).await?;
    until_map(&mut part, "a first snapshot", |watcher| watcher.view().seats().len() == 1).await?;
    let buyer = sale.shopper().await?;
    settled_seat(&sale, &buyer, "A-1-3").await?;
    settled_seat(&sale, &buyer, "B-1-10").await?;
    let sold = Some(UnitState::Sold);
    until_map(&mut whole, "both seats are sold", |watcher| {
        state(watcher, "A", 2) == sold && state(watcher, "B", 9) == sold
    })
    .await?;
    until_map(&mut part, "B's seat is sold", |watcher| state(watcher, "B", 9) == sold).await?;
    assert_eq!(part.view().seats().len(), 1, "nothing of A was asked for");
    until_equal(&mut whole, &sale).await
}

#[tokio::test]
async fn a_section_that_is_added_while_on_sale_comes_onto_every_map() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 4).set_up(&world).await?;
    let mut watcher = sale.viewer().await?;
    until_map(&mut watcher, "a first snapshot", |watcher| watcher.view().seats().len() == 1)
        .await?;
    let start = sale.seats().await?;
    let section = json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": 3}]});
    sale.create("/seat-map/sections/B", &section).await?;
    let position = format!("epoch={}&after={}", start.epoch, start.sequence);
    let changes = sale.path(&format!("/seats/changes?{position}"));
    let changes: SeatChangesBody = world.api.get(&changes).read().await?;
    let sections: Vec<&str> = changes.sections.iter().map(|told| told.section.as_str()).collect();
    assert_eq!(sections, ["B"]);
    // Nobody buys anything meanwhile.
    until_map(&mut watcher, "the new section", |watcher| {
        state(watcher, "B", 2) == Some(UnitState::Free)
    })
    .await?;
    let buyer = sale.shopper().await?;
    settled_seat(&sale, &buyer, "B-1-2").await?;
    until_map(&mut watcher, "its seat is sold", |watcher| {
        state(watcher, "B", 1) == Some(UnitState::Sold)
    })
    .await?;
    until_equal(&mut watcher, &sale).await
}

#[tokio::test]
async fn a_map_equals_the_store_after_many_buy_at_once() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 6, 20).set_up(&world).await?;
    let mut watchers = try_join_all((0..5).map(|_| sale.viewer())).await?;
    let fans = world.identity.fans(10).await?;
    let buyers = try_join_all(fans.into_iter().map(|fan| sale.admit(fan))).await?;
    let buys = buyers.iter().enumerate().flat_map(|(at, buyer)| {
        let sale = &sale;
        (0..5).map(move |row| async move {
            // Neighbours want the same seats: some are refused.
            let labels: Vec<String> =
                (0..3).map(|seat| format!("A-{}-{}", row + 1, at * 2 % 18 + seat + 1)).collect();
            sale.buy(buyer, &new_word(), seats(&labels)).await
        })
    });
    let answers = try_join_all(buys).await?;
    let sold = answers.iter().filter(|answer| answer.status == 202).count();
    assert!(sold > 0 && answers.iter().all(|answer| [202, 409].contains(&answer.status)));
    for (answer, buyer) in answers.iter().zip(buyers.iter().flat_map(|buyer| [buyer; 5])) {
        if answer.status == 202 {
            let order: contracts::orders::OrderBody = answer.json()?;
            sale.settled(&buyer.fan, order.id).await?;
        }
    }
    for watcher in &mut watchers {
        until_equal(watcher, &sale).await?;
    }
    Ok(())
}

#[tokio::test]
async fn l1_a_viewer_of_one_event_who_drops_while_holding_on_another_loses_nothing() -> Journey {
    let world = World::connect()?;
    let watched = Plan::new().section("stalls", "A", 1, 4).set_up(&world).await?;
    let sale = Plan::new().section("stalls", "A", 1, 4).set_up_by(&world, watched.operator.clone());
    let sale = sale.await?;
    let mut onlooker = sale.viewer().await?;
    let buyer = sale.shopper().await?;
    let connection = world.connect_live(&buyer.fan.token).await?;
    let mut watcher = watched.watch(connection, &[]).await?;
    until_map(&mut watcher, "a first snapshot", |watcher| !watcher.view().seats().is_empty())
        .await?;
    let order = sale.bought(&buyer, seat("A-1-2")).await?;
    // Without a word, as when a train enters a tunnel.
    drop(watcher);
    let stored = sale.settled(&buyer.fan, order.id).await?;
    assert_eq!(stored.state, OrderStateBody::Stored(OrderState::Pending));
    until_map(&mut onlooker, "the seat is sold", |watcher| {
        state(watcher, "A", 1) == Some(UnitState::Sold)
    })
    .await?;
    assert_eq!(sale.remaining("stalls").await?, 3);
    Ok(())
}

#[tokio::test]
async fn l2_who_comes_back_after_missing_changes_has_the_stores_map() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 10, 20).set_up(&world).await?;
    let mut watcher = sale.viewer().await?;
    until_map(&mut watcher, "a first snapshot", |watcher| !watcher.view().seats().is_empty())
        .await?;
    let buyer = sale.shopper().await?;
    for missed in [1u32, 100] {
        for batch in 0..missed.div_ceil(20) {
            let row = if missed == 1 { 10 } else { batch + 1 };
            let labels: Vec<String> =
                (1..=missed.min(20)).map(|seat| format!("A-{row}-{seat}")).collect();
            let order = sale.bought(&buyer, seats(&labels)).await?;
            sale.settled(&buyer.fan, order.id).await?;
        }
        watcher.resume(world.connect_live(&sale.viewer_token().await?).await?).await?;
        until_equal(&mut watcher, &sale).await?;
    }
    Ok(())
}

#[tokio::test]
async fn l3_a_post_to_a_connection_that_is_gone_removes_it_and_the_others_get_theirs() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 6).set_up(&world).await?;
    let mut watchers = try_join_all((0..3).map(|_| sale.viewer())).await?;
    let stores = Stores::of(&world.stack);
    let ghost = stores.ghost_watching(&sale.event).await?;
    let last = watchers.pop();
    drop(last);
    let buyer = sale.shopper().await?;
    settled_seat(&sale, &buyer, "A-1-2").await?;
    for watcher in &mut watchers {
        until_map(watcher, "the seat is sold", |watcher| {
            state(watcher, "A", 1) == Some(UnitState::Sold)
        })
        .await?;
    }
    stores.until_gone(&sale.event, &ghost).await
}

async fn ping(connection: &mut LiveConnection) -> Journey {
    connection.send(&json!({"action": "ping"})).await?;
    let is_pong = |frame| matches!(frame, Frame::Pong).then_some(());
    connection.find("a pong", SOON, is_pong).await
}

#[tokio::test]
async fn l4_a_message_that_makes_no_sense_gets_an_error_and_the_connection_stays_usable() -> Journey
{
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 2).set_up(&world).await?;
    // A person's own token: an admission or a viewer's pass is told `forbidden` of other events.
    let mut connection = world.connect_live(&sale.operator.token).await?;
    let huge = json!({"action": "ping", "padding": "x".repeat(200_000)}).to_string();
    let unknown_event = json!({"action": "subscribe", "event": format!("e-{}", new_word())});
    let unknown_section = json!({"action": "subscribe", "event": sale.event, "sections": ["Z"]});
    let nonsense = [
        (Message::text(huge), "too_large"),
        (Message::binary(vec![0u8, 159, 146, 150]), "invalid_request"),
        (Message::text(r#"{"action": "dance"}"#), "invalid_request"),
        (Message::text("hello"), "invalid_request"),
        (Message::text(""), "invalid_request"),
        (Message::text(r#"{"action": "subscribe"}"#), "invalid_request"),
        (Message::text(unknown_event.to_string()), "not_found"),
        (Message::text(unknown_section.to_string()), "not_found"),
    ];
    for (message, reason) in nonsense {
        let shown: String = message.to_string().chars().take(60).collect();
        connection.send_raw(message).await?;
        let problem = connection
            .find(&format!("an error for {shown}"), SOON, |frame| match frame {
                Frame::Error(problem) => Some(problem),
                Frame::Snapshot(_) | Frame::Changes(_) | Frame::Order(_) | Frame::Pong => None,
            })
            .await?;
        assert_eq!(problem.reason, reason, "{shown}");
        ping(&mut connection).await?;
    }
    let mut watcher = sale.watch(connection, &[]).await?;
    until_equal(&mut watcher, &sale).await
}

#[tokio::test]
async fn owners_are_told_how_their_order_ended_and_nobody_else_is() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 4).set_up(&world).await?;
    let (buyer, other) = (sale.shopper().await?, sale.shopper().await?);
    let mut mine = world.connect_live(&buyer.fan.token).await?;
    let with_admission = world.connect_live(&other.admission).await?;
    let mut theirs = sale.watch(with_admission, &[]).await?;
    ping(&mut mine).await?;
    let order = sale.bought(&buyer, seat("A-1-1")).await?;
    let told = mine
        .find("the order's new state", SOON, |frame| match frame {
            Frame::Order(told) => Some(told),
            Frame::Snapshot(_) | Frame::Changes(_) | Frame::Error(_) | Frame::Pong => None,
        })
        .await?;
    assert_eq!((told.order, told.state), (order.id, OrderState::Pending));
    let watch = async {
        while state(&theirs, "A", 0) != Some(UnitState::Sold) {
            assert!(!matches!(theirs.follow().await?, Told::Order(_)), "not their order");
        }
        Ok::<_, ClientError>(())
    };
    let watched = tokio::time::timeout(LAG, watch).await;
    assert!(watched.is_ok(), "others see the seat turn");
    watched.unwrap_or(Ok(()))
}

#[tokio::test]
async fn an_admission_or_a_viewers_pass_opens_no_other_events_map() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 2).set_up(&world).await?;
    let elsewhere = Plan::new().section("stalls", "A", 1, 2);
    let elsewhere = elsewhere.set_up_by(&world, sale.operator.clone()).await?;
    let shopper = sale.shopper().await?;
    for token in [&shopper.admission, &sale.viewer_token().await?] {
        let mut connection = world.connect_live(token).await?;
        connection.send(&json!({"action": "subscribe", "event": elsewhere.event})).await?;
        let refused = |frame| match frame {
            Frame::Error(problem) => Some(problem),
            Frame::Snapshot(_) | Frame::Changes(_) | Frame::Order(_) | Frame::Pong => None,
        };
        let problem = connection.find("a refusal", SOON, refused).await?;
        assert_eq!((problem.reason.as_str(), problem.status), ("forbidden", 403));
        let mut watcher = sale.watch(connection, &[]).await?;
        until_equal(&mut watcher, &sale).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_connection_needs_a_valid_token() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 2).set_up(&world).await?;
    let shopper = sale.shopper().await?;
    let receipt = sale.place(&shopper.fan).await?.receipt;
    let (head, signature) = shopper.admission.rsplit_once('.').unwrap_or_default();
    let tampered = format!("{head}.{}", signature.chars().rev().collect::<String>());
    for token in ["", "nonsense", &tampered, &receipt] {
        let refused = world.connect_live(token).await;
        assert!(refused.is_err(), "{token:?} must not open a connection");
    }
    for token in [&shopper.fan.token, &shopper.admission, &sale.viewer_token().await?] {
        ping(&mut world.connect_live(token).await?).await?;
    }
    let status: QueueStatusBody = sale.queue().await?;
    assert_eq!(status.active, 1, "watching takes nobody's slot");
    Ok(())
}
