//! The line: places, calls, entering, leaving.

use std::collections::BTreeSet;

use contracts::queue::{AdmissionBody, PlaceBody, PlaceStateBody};
use domain::QueueSettings;
use e2e::error::ClientError;
use e2e::http::Answer;
use e2e::identity::{Person, new_word};
use e2e::plan::Plan;
use e2e::sale::{Sale, Shopper};
use e2e::until::{SOON, Seen, eventually};
use e2e::world::World;
use futures::future::try_join_all;
use serde_json::json;

type Journey = Result<(), ClientError>;

fn line(cap: u32, grace_seconds: u32) -> QueueSettings {
    QueueSettings { cap, grace_seconds, ..QueueSettings::default() }
}

async fn join_in_order(sale: &Sale, count: usize) -> Result<Vec<Person>, ClientError> {
    let fans = sale.world.identity.fans(count).await?;
    for fan in &fans {
        sale.join(fan).await?.expect(201)?;
    }
    Ok(fans)
}

async fn enters(sale: &Sale, fan: &Person) -> Result<(), ClientError> {
    sale.enter(fan).await?.expect(200)?;
    Ok(())
}

/// Never more than the cap are in or called.
async fn assert_cap_is_kept(sale: &Sale) -> Result<u32, ClientError> {
    let status = sale.queue().await?;
    assert!(status.active + status.called <= status.cap, "{status:?}");
    Ok(status.active)
}

#[tokio::test]
async fn w5_active_is_never_above_the_cap_when_silent_ones_return() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 50).queue(line(10, 2)).set_up(&world).await?;
    let fans = join_in_order(&sale, 20).await?;
    for fan in &fans[..5] {
        enters(&sale, fan).await?;
    }
    eventually("serving goes on when 6 to 10 stay silent", SOON, async || {
        assert_cap_is_kept(&sale).await?;
        let status = sale.queue().await?;
        Ok(Seen::when(status.serving >= 15, status))
    })
    .await?;
    for fan in &fans[10..15] {
        enters(&sale, fan).await?;
    }
    assert_eq!(assert_cap_is_kept(&sale).await?, 10);
    for fan in &fans[5..10] {
        let answer = sale.enter(fan).await?.expect(409)?;
        assert_eq!(answer.problem()?.reason, "call_missed");
        assert_eq!(assert_cap_is_kept(&sale).await?, 10);
    }
    for fan in &fans[..5] {
        sale.leave(fan).await?;
    }
    let mut outside: Vec<&Person> = fans[5..10].iter().collect();
    eventually("6 to 10 all get in", SOON, async || {
        for fan in std::mem::take(&mut outside) {
            if sale.enter(fan).await?.status != 200 {
                outside.push(fan);
            }
            assert_cap_is_kept(&sale).await?;
        }
        Ok(Seen::when(outside.is_empty(), outside.len()))
    })
    .await?;
    assert_eq!(assert_cap_is_kept(&sale).await?, 10);
    Ok(())
}

#[tokio::test]
async fn w7_a_fan_who_joins_in_two_tabs_or_again_has_one_place_and_the_same_number() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 5).queue(line(1, 60)).set_up(&world).await?;
    let fan = world.identity.fan().await?;
    let tabs = try_join_all((0..8).map(|_| sale.join(&fan))).await?;
    let created = tabs.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 1, "{:?}", tabs.iter().map(|answer| answer.status).collect::<Vec<_>>());
    let again = sale.join(&fan).await?.expect(200)?;
    let places: Vec<PlaceBody> =
        tabs.iter().chain([&again]).map(Answer::json).collect::<Result<_, _>>()?;
    assert!(places.iter().all(|place| place.number == 1), "{places:?}");
    assert_eq!(sale.place(&fan).await?.number, 1);
    assert_eq!(sale.queue().await?.issued, 1);
    let next: PlaceBody = sale.join(&world.identity.fan().await?).await?.expect(201)?.json()?;
    assert_eq!(next.number, 2);
    Ok(())
}

#[tokio::test]
async fn w8_a_fan_who_enters_twice_has_one_session_and_is_counted_once() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 5).queue(line(5, 60)).set_up(&world).await?;
    let fan = world.identity.fan().await?;
    sale.join(&fan).await?.expect(201)?;
    let answers = try_join_all((0..4).map(|_| sale.enter(&fan))).await?;
    let mut sessions = BTreeSet::new();
    for answer in answers {
        let admission: AdmissionBody = answer.expect(200)?.json()?;
        sessions.insert(admission.session.to_string());
    }
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let status = sale.queue().await?;
    assert_eq!((status.active, status.called), (1, 0), "{status:?}");
    assert_eq!(sale.place(&fan).await?.state, PlaceStateBody::Active);
    Ok(())
}

#[tokio::test]
async fn w9_a_join_for_an_unknown_event_or_with_a_bad_body_uses_up_no_position() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 5).set_up(&world).await?;
    let fan = world.identity.fan().await?;
    let places = sale.path("/queue/places");
    let unknown = format!("/events/e-{}/queue/places", new_word());
    for _ in 0..2 {
        let answer = world.api.post(&unknown).by(&fan).send().await?.expect(404)?;
        assert_eq!(answer.problem()?.reason, "not_found");
    }
    let refused = [
        world.api.post(&places).by(&fan).json(&json!({"number": 1})).send().await?,
        world.api.post(&places).by(&fan).body("application/json", "{").send().await?,
        world.api.post(&places).by(&fan).body("text/plain", vec![0xff, 0xfe]).send().await?,
        world.api.post(&places).send().await?,
        world.api.post(&places).bearer("no.such.token").send().await?,
    ];
    for answer in refused {
        assert!((400..500).contains(&answer.status), "{}: {}", answer.status, answer.text());
    }
    assert_eq!(sale.queue().await?.issued, 0);
    let place: PlaceBody = sale.join(&fan).await?.expect(201)?.json()?;
    assert_eq!(place.number, 1);
    Ok(())
}

#[tokio::test]
async fn w11_an_old_token_buys_nothing_once_its_fan_has_left_and_another_is_in() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 5).queue(line(1, 60)).set_up(&world).await?;
    let [first, second] = [world.identity.fan().await?, world.identity.fan().await?];
    let gone: Shopper = sale.admit(first).await?;
    sale.join(&second).await?.expect(201)?;
    let waiting = sale.enter(&second).await?.expect(409)?;
    assert_eq!(waiting.problem()?.reason, "not_called");
    assert!(waiting.retry_after().is_some(), "says when to ask again");
    sale.leave(&gone.fan).await?;
    let inside = sale.admit(second).await?;
    let lines = json!([{"ticket_type": "floor", "quantity": 1}]);
    let refused = sale.buy(&gone, &new_word(), lines.clone()).await?.expect(403)?;
    assert_eq!(refused.problem()?.reason, "session_ended");
    assert_eq!(sale.remaining("floor").await?, 5);
    assert_eq!(assert_cap_is_kept(&sale).await?, 1);
    sale.bought(&inside, lines).await?;
    let ended = sale.enter(&gone.fan).await?;
    assert_eq!(ended.status, 403, "an ended place never enters again: {}", ended.text());
    let again: PlaceBody = sale.join(&gone.fan).await?.expect(201)?.json()?;
    assert_eq!(again.number, 3, "joining again gets a new number");
    Ok(())
}

#[tokio::test]
async fn the_line_never_freezes_when_called_ones_stay_away() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 50).queue(line(3, 1)).set_up(&world).await?;
    let fans = join_in_order(&sale, 9).await?;
    for fan in &fans[..3] {
        enters(&sale, fan).await?;
    }
    for fan in &fans[..3] {
        sale.leave(fan).await?;
    }
    // 4 to 6 are called and never come.
    eventually("7 to 9 are called", SOON, async || {
        let status = sale.queue().await?;
        Ok(Seen::when(status.serving >= 9, status))
    })
    .await?;
    for fan in &fans[6..] {
        enters(&sale, fan).await?;
    }
    Ok(())
}
