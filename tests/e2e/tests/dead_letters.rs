//! An intent that can never be carried out: its fan is told so, its seat is free
//! again, and its letter is kept.

#![cfg(test)]

use contracts::live::{Frame, OrderFrame};
use contracts::messages::OrderIntent;
use contracts::orders::{OrderBody, OrderStateBody};
use domain::{
    CustomerId, Fingerprint, IdempotencyKey, Line, Operation, OrderId, OrderLines, OrderState,
    SeatLabel, SessionId, TicketTypeId, Wanted,
};
use dynamo_store::Consistency;
use e2e::clock::seconds_from_now;
use e2e::error::ClientError;
use e2e::identity::new_word;
use e2e::plan::Plan;
use e2e::sale::{Sale, Shopper};
use e2e::stores::Stores;
use e2e::until::{SOON, Seen, eventually};
use e2e::world::World;
use redis_store::{Mode, Reservation, Reserve, Session};
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

const SEAT: &str = "A-1-1";

/// Holds the seat for a fan as a reservation does, and sends nothing.
async fn held_seat(sale: &Sale, buyer: &Shopper) -> Result<OrderIntent, ClientError> {
    let stores = Stores::of(&sale.world.stack);
    let event = stores.catalog.event_fetch(&sale.event, Consistency::Strong).await?.unwrap();
    let customer = CustomerId::parse(&buyer.fan.id).unwrap();
    let key = IdempotencyKey::parse(&new_word()).unwrap();
    let ticket_type = TicketTypeId::parse("stalls").unwrap();
    let wanted = Wanted::Seats(vec![SeatLabel::parse(SEAT).unwrap()]);
    let lines = OrderLines::new(vec![Line { ticket_type, wanted }]).unwrap();
    let wish = Reserve {
        event: event.id.clone(),
        epoch: event.epoch,
        order: OrderId::derive(&customer, Operation::PlaceOrder, &event.id, &key),
        customer: customer.key(),
        fingerprint: Fingerprint::v1(&lines),
        lines,
        hold: std::time::Duration::from_secs(600),
        mode: Mode::Buy,
        session: Some(Session {
            id: SessionId::parse("1-1").unwrap(),
            expires_at: seconds_from_now(600),
        }),
    };
    let Reservation::Held(hold) = stores.inventory.reserve(&wish).await? else {
        panic!("the seat can't be held");
    };
    Ok(OrderIntent {
        order: wish.order,
        customer,
        event: event.id,
        epoch: event.epoch,
        fingerprint: wish.fingerprint,
        lines: hold.lines,
        currency: event.currency,
        held_at: seconds_from_now(0),
        expires_at: hold.expires_at,
    })
}

async fn send(world: &World, body: &str) -> Journey {
    let url = &world.stack.order_intents_queue_url;
    world.sqs("SendMessage", &json!({"QueueUrl": url, "MessageBody": body})).await?;
    Ok(())
}

/// Waits until a letter that says this is kept, and takes it out.
async fn kept(world: &World, body: &str) -> Result<Value, ClientError> {
    let url = &world.stack.order_intents_parked_url;
    let ask = json!({
        "QueueUrl": url,
        "MaxNumberOfMessages": 10,
        "MessageAttributeNames": ["All"],
        "VisibilityTimeout": 0,
    });
    let letter = eventually("the letter is kept", SOON, async || {
        let answer = world.sqs("ReceiveMessage", &ask).await?;
        let letters = answer["Messages"].as_array().cloned().unwrap_or_default();
        let found = letters.into_iter().find(|letter| letter["Body"] == body);
        Ok(found.map_or_else(|| Seen::NotYet(answer.to_string()), Seen::Yes))
    })
    .await?;
    let receipt = &letter["ReceiptHandle"];
    world.sqs("DeleteMessage", &json!({"QueueUrl": url, "ReceiptHandle": receipt})).await?;
    Ok(letter)
}

fn attribute<'a>(letter: &'a Value, name: &str) -> &'a str {
    letter["MessageAttributes"][name]["StringValue"].as_str().unwrap_or_default()
}

async fn until_told(
    world: &World,
    buyer: &Shopper,
    poison: &str,
) -> Result<OrderFrame, ClientError> {
    let mut connection = world.connect_live(&buyer.fan.token).await?;
    send(world, poison).await?;
    let told = |frame| match frame {
        Frame::Order(told) => Some(told),
        Frame::Snapshot(_) | Frame::Changes(_) | Frame::Error(_) | Frame::Pong => None,
    };
    connection.find("the fan is told", SOON, told).await
}

async fn until_free(sale: &Sale) -> Journey {
    let path = sale.path(&format!("/seats/{SEAT}/lock-status"));
    eventually("the seat is free", SOON, async || {
        let status: Value = sale.world.api.get(&path).read().await?;
        Ok(Seen::when(status["status"] == "available", status))
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn m2_a_poisoned_intent_ends_rejected_frees_its_seat_and_is_kept() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().section("stalls", "A", 1, 2).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let mut intent = held_seat(&sale, &buyer).await?;
    let queued: OrderBody = sale.order(&buyer.fan, intent.order).await?;
    assert_eq!(queued.state, OrderStateBody::QUEUED);
    intent.lines[0].ticket_type = TicketTypeId::parse("nosuch").unwrap();
    let poison = serde_json::to_string(&intent).unwrap();

    let told = until_told(&world, &buyer, &poison).await?;
    assert_eq!((told.order, told.state), (intent.order, OrderState::Rejected));
    assert_eq!(told.reason.as_deref(), Some("unprocessable"));
    let ended = sale.order(&buyer.fan, intent.order).await?;
    assert_eq!(ended.state, OrderStateBody::Stored(OrderState::Rejected));
    assert_eq!(ended.reason.as_deref(), Some("unprocessable"));
    until_free(&sale).await?;
    let letter = kept(&world, &poison).await?;
    assert_eq!(attribute(&letter, "reason"), "unwritable");
    assert_eq!(attribute(&letter, "order"), intent.order.to_string());
    assert_eq!(attribute(&letter, "order_state"), "rejected");

    // Someone else has the seat when it is redriven: nothing changes.
    let next = sale.shopper().await?;
    let seat = json!([{"ticket_type": "stalls", "seats": [SEAT]}]);
    let bought = sale.bought(&next, seat).await?;
    let stored = sale.settled(&next.fan, bought.id).await?;
    send(&world, &poison).await?;
    kept(&world, &poison).await?;
    assert_eq!(sale.order(&buyer.fan, intent.order).await?, ended);
    assert_eq!(sale.order(&next.fan, bought.id).await?, stored);
    assert_eq!(sale.remaining("stalls").await?, 1);
    Ok(())
}

#[tokio::test]
async fn what_is_no_intent_is_kept_with_that_reason() -> Journey {
    let world = World::connect()?;
    let nonsense = format!("no intent {}", new_word());
    send(&world, &nonsense).await?;
    let letter = kept(&world, &nonsense).await?;
    assert_eq!(attribute(&letter, "reason"), "unreadable");
    assert_eq!(attribute(&letter, "order"), "");
    Ok(())
}
