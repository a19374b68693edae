//! What operators do: plan an event, sell it, take units out of sale, change it.

use contracts::catalog::{EventBody, SeatMapBody, TicketTypeBody};
use domain::{SaleState, UnitState};
use e2e::error::ClientError;
use e2e::identity::new_word;
use e2e::plan::{PRICE, Plan};
use e2e::sale::Sale;
use e2e::until::{SOON, Seen, eventually};
use e2e::world::World;
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

fn places(ticket_type: &str, quantity: u32) -> Value {
    json!([{"ticket_type": ticket_type, "quantity": quantity}])
}

fn floor(capacity: u32) -> Value {
    json!({"kind": "general_admission", "name": "floor", "capacity": capacity,
           "price": {"amount": PRICE, "currency": "TWD"}})
}

#[tokio::test]
async fn an_event_is_created_once_and_edited_by_its_version() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new();
    let mut body = plan.event_body();
    let sale = plan.unopened().set_up(&world).await?;
    let again = world.api.put(&sale.path("")).by(&sale.operator).header("if-none-match", "*");
    assert_eq!(again.json(&body).send().await?.expect(412)?.problem()?.reason, "version_mismatch");
    let blind = world.api.put(&sale.path("")).by(&sale.operator).json(&body).send().await?;
    assert_eq!(blind.expect(428)?.problem()?.reason, "precondition_required");
    let event: EventBody = world.api.get(&sale.path("")).read().await?;
    body["title"] = json!("五月天 Mayday");
    let edited: EventBody = sale.edit("", event.version, &body).await?.expect(200)?.json()?;
    assert_eq!((edited.title.as_str(), edited.version), ("五月天 Mayday", event.version + 1));
    let repeated = sale.edit("", event.version, &body).await?.expect(200)?;
    assert_eq!(repeated.json::<EventBody>()?.version, edited.version, "the same edit again");
    body["title"] = json!("Another night");
    let late = sale.edit("", event.version, &body).await?.expect(412)?;
    assert_eq!(late.problem()?.reason, "version_mismatch");
    let read: EventBody = world.api.get(&sale.path("")).read().await?;
    assert_eq!(read.title, "五月天 Mayday");
    assert_eq!(read.state, SaleState::Scheduled);
    Ok(())
}

#[tokio::test]
async fn a_wrong_event_names_every_wrong_field() -> Journey {
    let world = World::connect()?;
    let operator = world.identity.operator().await?;
    let mut body = Plan::new().event_body();
    body["title"] = json!(" ");
    body["time_zone"] = json!("Asia/Atlantis");
    body["sale"]["closes_at"] = body["sale"]["opens_at"].clone();
    let path = format!("/events/e-{}", new_word());
    let put = world.api.put(&path).by(&operator).header("if-none-match", "*").json(&body);
    let problem = put.send().await?.expect(400)?.problem()?;
    let pointers: Vec<&str> = problem.errors.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(pointers, ["/title", "/time_zone", "/sale/closes_at"]);
    world.api.get(&path).send().await?.expect(404)?;
    Ok(())
}

#[tokio::test]
async fn a_sale_is_opened_paused_resumed_and_closed_and_old_commands_do_nothing() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 9).unopened().set_up(&world).await?;
    let command = async |key: &str, state: &str| {
        let put = world.api.put(&sale.path("/sale")).by(&sale.operator);
        put.header("idempotency-key", key).json(&json!({"state": state})).send().await
    };
    let state = async || {
        Ok::<_, ClientError>(world.api.get(&sale.path("")).read::<EventBody>().await?.state)
    };
    assert_eq!(state().await?, SaleState::Scheduled);
    let first = new_word();
    command(&first, "open").await?.expect(200)?;
    assert_eq!(state().await?, SaleState::Open);
    command(&new_word(), "paused").await?.expect(200)?;
    command(&first, "open").await?.expect(200)?;
    assert_eq!(state().await?, SaleState::Paused, "a late repeat opens nothing");
    let reused = command(&first, "closed").await?.expect(422)?;
    assert_eq!(reused.problem()?.reason, "key_reused");
    command(&new_word(), "open").await?.expect(200)?;
    let buyer = sale.shopper().await?;
    sale.bought(&buyer, places("floor", 1)).await?;
    command(&new_word(), "closed").await?.expect(200)?;
    assert_eq!(state().await?, SaleState::Closed);
    for body in [json!({"state": "scheduled"}), json!({}), json!({"state": "open", "at": 1})] {
        let put = world.api.put(&sale.path("/sale")).by(&sale.operator);
        put.header("idempotency-key", &new_word()).json(&body).send().await?.expect(400)?;
    }
    let keyless = world.api.put(&sale.path("/sale")).by(&sale.operator);
    keyless.json(&json!({"state": "open"})).send().await?.expect(400)?;
    Ok(())
}

#[tokio::test]
async fn sections_come_as_json_or_csv_and_never_change() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 3).unopened().set_up(&world).await?;
    let section = |name: &str| sale.path(&format!("/seat-map/sections/{name}"));
    let put = |path: &str| world.api.put(path).by(&sale.operator);
    let rows = |seats: u32| json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": seats}]});
    put(&section("A")).json(&rows(3)).send().await?.expect(200)?;
    let changed = put(&section("A")).json(&rows(4)).send().await?.expect(409)?;
    assert_eq!(changed.problem()?.reason, "conflict");
    let csv = "row,seat\n1,1\n1,2\n2,1\n";
    let path = format!("{}?ticket_type=stalls", section("B"));
    put(&path).body("text/csv", csv).send().await?.expect(201)?;
    let wrong = put(&format!("{}?ticket_type=stalls", section("C")));
    let wrong = wrong.body("text/csv", "row,seat\n1,1\n1,1\n").send().await?.expect(400)?;
    assert_eq!(wrong.problem()?.errors[0].pointer, "/1/seat");
    let unknown = json!({"ticket_type": "terrace", "rows": [{"row": 1, "seats": 1}]});
    put(&section("D")).json(&unknown).send().await?.expect(404)?;
    let map: SeatMapBody = world.api.get(&sale.path("/seat-map")).read().await?;
    let sections: Vec<(&str, u32)> =
        map.sections.iter().map(|one| (one.section.as_str(), one.count)).collect();
    assert_eq!(sections, [("A", 3), ("B", 3)]);
    let stalls: TicketTypeBody = sale.ticket_type("stalls").await?;
    assert_eq!((stalls.capacity, stalls.remaining), (6, 6));
    Ok(())
}

#[tokio::test]
async fn a_hall_of_15000_seats_comes_in_parts() -> Journey {
    let world = World::connect()?;
    let plan = ["A", "B", "C", "D"]
        .into_iter()
        .fold(Plan::new(), |plan, section| plan.section("stalls", section, 75, 50));
    let sale = plan.set_up(&world).await?;
    assert_eq!(sale.remaining("stalls").await?, 15_000);
    let buyer = sale.shopper().await?;
    let last = json!([{"ticket_type": "stalls", "seats": ["D-75-50"]}]);
    sale.bought(&buyer, last).await?;
    let seats = sale.seats().await?;
    let free = |states: &[UnitState]| states.iter().filter(|s| **s == UnitState::Free).count();
    let counts: Vec<usize> =
        seats.sections.iter().filter_map(|section| Some(free(&section.unpack()?))).collect();
    assert_eq!(counts, [3_750, 3_750, 3_750, 3_749]);
    Ok(())
}

#[tokio::test]
async fn withdrawn_seats_and_places_are_out_of_sale_until_they_are_given_back() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new().section("stalls", "A", 1, 4).standing("floor", 10);
    let sale = plan.set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let house = json!({"ticket_type": "stalls", "seats": ["A-1-1", "A-1-2"]});
    let guests = json!({"ticket_type": "floor", "quantity": 8});
    sale.withdraw("house", &house).await?.expect(201)?;
    sale.withdraw("house", &house).await?.expect(200)?;
    sale.withdraw("guests", &guests).await?.expect(201)?;
    assert_eq!((sale.remaining("stalls").await?, sale.remaining("floor").await?), (2, 2));
    eventually("the seats are shown as withdrawn", SOON, async || {
        let states = sale.seats().await?.sections[0].unpack().unwrap_or_default();
        let are = states[..2] == [UnitState::Withdrawn, UnitState::Withdrawn];
        Ok(Seen::when(are, states))
    })
    .await?;
    let seat = json!([{"ticket_type": "stalls", "seats": ["A-1-1"]}]);
    let taken = sale.buy(&buyer, &new_word(), seat.clone()).await?.expect(409)?;
    assert_eq!(taken.problem()?.reason, "seat_taken");
    let short = sale.buy(&buyer, &new_word(), places("floor", 3)).await?.expect(409)?;
    assert_eq!(short.problem()?.reason, "sold_out");
    sale.give_back("house").await?;
    sale.give_back("house").await?;
    sale.give_back("guests").await?;
    assert_eq!((sale.remaining("stalls").await?, sale.remaining("floor").await?), (4, 10));
    sale.bought(&buyer, seat).await?;
    sale.bought(&buyer, places("floor", 10)).await?;
    Ok(())
}

#[tokio::test]
async fn a_sold_seat_can_not_be_withdrawn() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 4).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    sale.bought(&buyer, json!([{"ticket_type": "stalls", "seats": ["A-1-2"]}])).await?;
    let both = json!({"ticket_type": "stalls", "seats": ["A-1-1", "A-1-2"]});
    let refused = sale.withdraw("w", &both).await?.expect(409)?;
    refused.problem()?;
    assert_eq!(sale.remaining("stalls").await?, 3, "none of it was taken");
    for body in [
        json!({"ticket_type": "stalls"}),
        json!({"ticket_type": "stalls", "seats": []}),
        json!({"ticket_type": "stalls", "seats": ["A-1-1"], "quantity": 2}),
    ] {
        sale.withdraw("w2", &body).await?.expect(400)?;
    }
    let invented = json!({"ticket_type": "stalls", "seats": ["A-9-9"]});
    sale.withdraw("w3", &invented).await?.expect(404)?;
    Ok(())
}

/// Sells that many places, 40 at most in an order.
async fn sell(sale: &Sale, count: u32) -> Journey {
    let mut left = count;
    while left > 0 {
        let buyer = sale.shopper().await?;
        let quantity = left.min(40);
        let order = sale.bought(&buyer, places("floor", quantity)).await?;
        sale.settled(&buyer.fan, order.id).await?;
        left -= quantity;
    }
    Ok(())
}

#[tokio::test]
async fn b18_a_capacity_below_what_is_sold_is_refused_and_a_higher_one_sells() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 64).set_up(&world).await?;
    sell(&sale, 44).await?;
    let before = sale.ticket_type("floor").await?;
    let lowered =
        sale.edit("/ticket-types/floor", before.version, &floor(16)).await?.expect(409)?;
    assert_eq!(lowered.problem()?.reason, "conflict");
    let after = sale.ticket_type("floor").await?;
    assert_eq!((after.capacity, after.remaining), (64, 20));
    sell(&sale, 1).await?;
    let raised = sale.edit("/ticket-types/floor", after.version, &floor(70)).await?.expect(200)?;
    assert_eq!(raised.json::<TicketTypeBody>()?.capacity, 70);
    sell(&sale, 25).await?;
    let buyer = sale.shopper().await?;
    let short = sale.buy(&buyer, &new_word(), places("floor", 1)).await?.expect(409)?;
    assert_eq!(short.problem()?.reason, "sold_out");
    Ok(())
}

#[tokio::test]
async fn a_capacity_is_lowered_to_what_is_sold_and_raised_again() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 64).set_up(&world).await?;
    sell(&sale, 10).await?;
    let current = sale.ticket_type("floor").await?;
    sale.edit("/ticket-types/floor", current.version, &floor(10)).await?.expect(200)?;
    let lowered = sale.ticket_type("floor").await?;
    assert_eq!((lowered.capacity, lowered.remaining), (10, 0));
    let buyer = sale.shopper().await?;
    sale.buy(&buyer, &new_word(), places("floor", 1)).await?.expect(409)?;
    sale.edit("/ticket-types/floor", lowered.version, &floor(20)).await?.expect(200)?;
    assert_eq!(sale.remaining("floor").await?, 10);
    sell(&sale, 10).await
}
