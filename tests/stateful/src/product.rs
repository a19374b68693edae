//! The functions on real engines, and what waits between them.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use contracts::messages::{OrderIntent, SettleRetry};
use contracts::orders::{OrderBody, OrderStateBody};
use dead_letters::handler::ONE_LETTER;
use domain::{Epoch, Line, OrderId, OrderLine, OrderState, Standing, UnitId};
use dynamo_store::{Consistency, Ended};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::batch::Deadline;
use lambda_kit::testing::{TestRequest, TestResponse, sqs_event};
use model::{Decision, Gate, Image, Item, ORDERS, OrderNo, Set, UNITS, Why, Wish};
use order_persistence::handler::ONE_INTENT;
use order_projector::handler::ONE_RETRY;
use order_projector::trigger::{Change, Trigger};
use redis_store::{Pointer, RecordState, Recorded, Settle};
use serde_json::{Value, json};
use test_sale::{Sale, customer, now, partitions, places, seat, seats, show};
use tokens::Signer;

use crate::command::Redis;
use crate::functions::{Functions, Queues, admission, signer};
use crate::spec::{Answer, Known, Picture};
use crate::time::{self, Passing};

const KEY: &str = "k";

/// A record of the stream.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) image: Image,
    item: serde_dynamo::Item,
}

/// The functions, the engines, and what waits between them.
pub struct Product {
    sale: Sale,
    wanted: model::Sale,
    queues: Queues,
    functions: Functions,
    signer: Signer,
    /// order-intents.
    pub(crate) queue: Vec<OrderIntent>,
    /// The stream of the orders table.
    pub(crate) stream: Vec<Record>,
    /// settle-retries.
    pub(crate) retries: BTreeMap<OrderNo, SettleRetry>,
    /// How far the stream has got with each order.
    versions: [u8; ORDERS],
}

impl Product {
    /// A sale that is open.
    pub async fn of(wanted: &model::Sale) -> Self {
        let units = u32::from(wanted.units);
        let has_seats = matches!(wanted.wishes.first(), Some(Wish::Seats(_)));
        let sale = Sale::of(if has_seats { 0 } else { units }, if has_seats { units } else { 0 });
        let (sale, queues) = (sale.await, Queues::start().await);
        let signer = signer(&sale).await;
        Self {
            functions: Functions::start(&sale, &queues),
            sale,
            wanted: wanted.clone(),
            queues,
            signer,
            queue: Vec::new(),
            stream: Vec::new(),
            retries: BTreeMap::new(),
            versions: [0; ORDERS],
        }
    }

    fn lines(&self, order: OrderNo) -> Vec<Line> {
        vec![match self.wanted.wish(order) {
            Wish::Places(count) => places(u32::from(count)),
            Wish::Seats(wanted) => seats(wanted.iter().map(u32::from)),
        }]
    }

    fn id(&self, order: OrderNo) -> OrderId {
        test_sale::intent(&fan(order), KEY, &self.lines(order)).order
    }

    fn number(&self, id: OrderId) -> OrderNo {
        self.wanted.orders().find(|order| self.id(*order) == id).expect("one of the orders")
    }

    async fn ask(&self, order: OrderNo, body: &Value) -> TestResponse {
        let fan = fan(order);
        TestRequest::post("/events/show/orders")
            .fan(&fan)
            .header("idempotency-key", KEY)
            .header(reservation::admission::HEADER, &admission(&self.signer, &fan))
            .json(body)
            .send(&self.functions.reservation)
            .await
    }

    /// A fan asks.
    pub async fn place(&mut self, order: OrderNo) -> Answer {
        let line = match self.wanted.wish(order) {
            Wish::Places(count) => json!({"ticket_type": "floor", "quantity": count}),
            Wish::Seats(wanted) => {
                let seats: Vec<_> = wanted.iter().map(|one| seat(u32::from(one))).collect();
                json!({"ticket_type": "stalls", "seats": seats})
            }
        };
        let answer = self.ask(order, &json!({"lines": [line]})).await;
        let sent = self.queues.intents.take_sent();
        self.queue.extend(sent.into_iter().map(|message| {
            serde_json::from_value::<OrderIntent>(message.body).expect("an intent")
        }));
        answer_of(&answer)
    }

    /// A fan asks for something else under the same key.
    pub async fn place_other(&self, order: OrderNo) -> Answer {
        let body = json!({"lines": [{"ticket_type": "floor", "quantity": 40}]});
        answer_of(&self.ask(order, &body).await)
    }

    /// A fan asks what became of an order.
    pub async fn read(&self, order: OrderNo) -> Answer {
        let path = format!("/events/show/orders/{}", self.id(order));
        answer_of(&TestRequest::get(&path).fan(&fan(order)).send(&self.functions.orders).await)
    }

    /// An intent is delivered.
    pub async fn deliver(&mut self, at: usize, copies: usize, again: bool, redis: Redis) {
        self.functions.reach_redis(redis == Redis::Up);
        let batch = vec![self.queue[at].clone(); copies];
        let deadline = deadline(ONE_INTENT);
        let response = self.functions.persistence.batch(sqs_event(&batch), deadline).await;
        let failed = response.batch_item_failures.len();
        assert!(failed == 0 || failed == copies, "copies are one message");
        if failed == 0 && !again {
            self.queue.remove(at);
        }
    }

    /// An intent is given up by its queue, and its letter is seen to.
    pub async fn give_up(&mut self, at: usize) {
        let letter = sqs_event(&[self.queue.remove(at)]);
        let response = self.functions.letters.batch(letter, deadline(ONE_LETTER)).await;
        assert!(response.batch_item_failures.is_empty(), "a letter is seen to");
    }

    /// Records are delivered.
    pub(crate) async fn project(&mut self, at: &[usize], again: bool, redis: Redis) {
        self.functions.reach_redis(redis == Redis::Up);
        let change = |at: &usize| Change {
            sequence: at.to_string(),
            image: Some(self.stream[*at].item.clone()),
        };
        let trigger = Trigger::Stream(at.iter().map(change).collect());
        let response = self.functions.projector.handle(trigger, deadline(ONE_RETRY)).await;
        assert!(response.batch_item_failures.is_empty(), "the retry queue takes everything");
        if !again {
            let mut at_now = 0..;
            self.stream.retain(|_| !at.contains(&at_now.next().unwrap_or_default()));
        }
        for message in self.queues.retries.take_sent() {
            let retry: SettleRetry = serde_json::from_value(message.body).expect("a retry");
            self.retries.insert(self.number(retry.order), retry);
        }
    }

    /// A retry is delivered.
    pub(crate) async fn retry(&mut self, order: OrderNo) {
        self.functions.reach_redis(true);
        let trigger = Trigger::Retries(sqs_event(&[self.retries[&order].clone()]));
        let response = self.functions.projector.handle(trigger, deadline(ONE_RETRY)).await;
        if response.batch_item_failures.is_empty() {
            self.retries.remove(&order);
        }
    }

    /// An order that is live is given up, as by whoever ends one.
    pub async fn end(&self, order: OrderNo, settles: bool) {
        let epoch = self.epoch().await;
        let id = self.id(order);
        let read = self.sale.stored(&fan(order), &id).await.expect("a stored order");
        if read.state.standing() == Standing::Ended {
            return;
        }
        let (to, orders) = (OrderState::Cancelled, &self.sale.orders);
        let ended = orders.order_end(&read, to, now(), &partitions()).await.expect("DynamoDB");
        let Ended::Ended { order, foreign } = ended else { panic!("not ended: {ended:?}") };
        assert!(foreign.is_empty(), "{foreign:?}");
        if settles {
            self.sale.inventory.settle(&Settle::of(&order, epoch, true)).await.expect("Redis");
        }
    }

    /// Its hold lapses, and its intents come too late.
    pub async fn lapse(&mut self, order: OrderNo) {
        self.pass(order, Passing::Lapse).await;
        let id = self.id(order);
        for intent in self.queue.iter_mut().filter(|intent| intent.order == id) {
            intent.expires_at = now();
        }
    }

    /// It is not paid in time.
    pub async fn fall_due(&mut self, order: OrderNo) {
        time::fall_due(&self.sale, &self.id(order)).await;
        self.pass(order, Passing::Due).await;
        let due = AttributeValue::N(now().as_millisecond().to_string());
        for record in self.stream.iter_mut().filter(|record| record.image.order == order) {
            let mut item: HashMap<String, AttributeValue> = record.item.clone().into();
            if let Some(pay_by) = item.get_mut("pay_by") {
                *pay_by = due.clone();
            }
            record.item = item.into();
        }
    }

    async fn pass(&self, order: OrderNo, what: Passing) {
        let customer = customer(&fan(order)).key();
        let epoch = self.epoch().await;
        time::pass(&self.sale, epoch, &self.id(order), &customer, what).await;
    }

    /// The functions start anew.
    pub fn restart(&mut self) {
        self.functions = Functions::start(&self.sale, &self.queues);
    }

    /// Redis is emptied.
    pub async fn lose_redis(&self) {
        time::flush(&self.sale).await;
    }

    /// Redis forgets an order.
    pub async fn forget(&self, order: OrderNo) {
        self.pass(order, Passing::Forget).await;
    }

    /// The inventory is built again.
    pub async fn recover(&self, dies: bool) {
        let build = self.sale.build_begin().await;
        if !dies {
            self.sale.build_finish(build).await;
        }
    }

    async fn epoch(&self) -> Epoch {
        let event = self.sale.catalog.event_fetch(&show(), Consistency::Strong).await;
        event.expect("the table").expect("the event").epoch
    }

    /// Puts what was written since into the stream.
    pub async fn stream_on(&mut self) {
        for order in self.wanted.orders() {
            let Some(stored) = self.item(order).await else { continue };
            if stored.version > self.versions[order.at()] {
                self.versions[order.at()] = stored.version;
                let item = time::item(&self.sale, &self.id(order)).await.expect("a stored order");
                let image = Image { order, item: stored };
                self.stream.push(Record { image, item: item.into() });
            }
        }
    }

    async fn item(&self, order: OrderNo) -> Option<Item> {
        let stored = self.sale.stored(&fan(order), &self.id(order)).await?;
        Some(Item {
            state: stored.state,
            why: stored.rejection.as_ref().map(Why::from),
            version: small(stored.version),
            epoch: small(stored.epoch.0),
            units: units_of(&stored.lines),
        })
    }

    /// All that can be looked at.
    pub async fn picture(&self) -> Picture {
        let epoch = self.epoch().await;
        let (mut orders, mut known) = ([None; ORDERS], [None; ORDERS]);
        for order in self.wanted.orders() {
            orders[order.at()] = self.item(order).await;
            known[order.at()] = self.known(order, epoch).await;
        }
        let mut units = [None; UNITS];
        for name in ["floor", "stalls"] {
            let kind = test_sale::kind(name);
            let owned = self.sale.orders.units_list(&show(), &kind, &partitions()).await;
            for unit in owned.expect("the table") {
                units[usize::from(unit_number(&unit.unit))] = Some(self.number(unit.owner.order));
            }
        }
        let gate = match self.sale.inventory.pointer(&show()).await.expect("Redis") {
            None => Gate::Missing,
            Some(Pointer::Building(epoch)) => Gate::Building(small(epoch.0)),
            Some(Pointer::Active(epoch)) => Gate::Active(small(epoch.0)),
        };
        let mut stream: Vec<Image> = self.stream.iter().map(|record| record.image).collect();
        stream.sort_unstable();
        let mut queue: Vec<_> = self.queue.iter().map(|intent| self.waiting(intent)).collect();
        queue.sort_unstable();
        let retries = self.retries.keys();
        let retries = retries.fold(Set::NONE, |set, order| set.or(Set::one(order.0)));
        Picture { orders, units, gate, known, queue, stream, retries }
    }

    /// An intent as the model has it, and whether it comes too late.
    pub(crate) fn waiting(&self, intent: &OrderIntent) -> (OrderNo, u8, Set, bool) {
        let order = self.number(intent.order);
        (order, small(intent.epoch.0), units_of(&intent.lines), intent.expires_at <= now())
    }

    async fn known(&self, order: OrderNo, epoch: Epoch) -> Option<Known> {
        let customer = customer(&fan(order)).key();
        let (show, id) = (show(), self.id(order));
        let record = self.sale.inventory.record(&show, epoch, &id, &customer).await;
        let Recorded::Known(record) = record.expect("Redis") else { return None };
        Some(match record.state {
            RecordState::Held => Known::Held(units_of(&record.lines)),
            RecordState::Live => Known::Live(units_of(&record.lines)),
            RecordState::Lapsed | RecordState::Ended => Known::Over,
            RecordState::Withdrawn => panic!("nothing is withdrawn here"),
        })
    }

    /// What the inventory counts as free, held and sold.
    pub async fn counts(&self) -> [u32; 3] {
        let is_seated = matches!(self.wanted.wishes.first(), Some(Wish::Seats(_)));
        let counts = self.sale.counts(if is_seated { "stalls" } else { "floor" }).await;
        [counts.remaining, counts.held, counts.sold]
    }
}

fn fan(order: OrderNo) -> String {
    format!("fan-{}", order.0)
}

fn deadline(longest: std::time::Duration) -> Deadline {
    let ends_at: Timestamp = now() + SignedDuration::from_secs(30);
    Deadline::at(ends_at, longest)
}

fn small(number: u64) -> u8 {
    u8::try_from(number).expect("a small number")
}

fn unit_number(unit: &UnitId) -> u8 {
    match unit {
        UnitId::Serial(serial) => small(u64::from(*serial)),
        UnitId::Seat(label) => number_of(label.as_str()),
    }
}

/// Of a seat `A-1-3` it is 3, of the serial `3` as well.
fn number_of(name: &str) -> u8 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).expect("a unit")
}

fn units_of(lines: &[OrderLine]) -> Set {
    let units = lines.iter().flat_map(|line| &line.units);
    units.fold(Set::NONE, |set, unit| set.or(Set::one(unit_number(unit))))
}

fn answer_of(answer: &TestResponse) -> Answer {
    match (answer.status, answer.reason().as_str()) {
        (200 | 202, _) => {
            let order: OrderBody = serde_json::from_value(answer.json()).expect("an order");
            let units = order.lines.iter().flat_map(|line| &line.units);
            let units = units.fold(Set::NONE, |set, unit| set.or(Set::one(number_of(unit))));
            match (order.state, order.reason) {
                (OrderStateBody::Queued(_), _) => Answer::Queued(units),
                (OrderStateBody::Stored(state), None) => {
                    Answer::Stored(state, Decision::Accepted(units))
                }
                (OrderStateBody::Stored(state), Some(reason)) => {
                    Answer::Stored(state, Decision::Refused(why(&reason).expect("a reason")))
                }
            }
        }
        (404, "unknown_order") => Answer::Unknown,
        (422, _) => Answer::OtherContent,
        (503, "unavailable") => Answer::Undecided,
        (_, reason) => match why(reason) {
            Some(why) => Answer::Stored(OrderState::Rejected, Decision::Refused(why)),
            None => panic!("{} {}", answer.status, answer.raw.body),
        },
    }
}

fn why(reason: &str) -> Option<Why> {
    Some(match reason {
        "sold_out" => Why::SoldOut,
        "seat_taken" => Why::SeatTaken,
        "hold_expired" => Why::HoldExpired,
        "recovery" => Why::Recovery,
        "unprocessable" => Why::Unprocessable,
        _ => return None,
    })
}
