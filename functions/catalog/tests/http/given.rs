//! An office with its stores, and what operators and fans do there.

use std::sync::Arc;
use std::time::Duration;

use aws_config::retry::RetryConfig;
use axum::Router;
use catalog::catalogue::Catalogue;
use catalog::router::router;
use domain::{
    Currency, CustomerId, EventId, Fingerprint, IdempotencyKey, Line, LogPosition, Money,
    Operation, Order, OrderId, OrderLines, OrderState, SeatLabel, TicketTypeId, Wanted,
    WithdrawalId,
};
use dynamo_store::{
    CatalogStore, Consistency, OrderStore, PartitionCounts, Patience, Persisted, Withdrawal,
};
use lambda_kit::http::{GroupsClaim, adapt};
use lambda_kit::testing::{TestRequest, TestResponse};
use redis_store::{Hold, Inventory, Mode, Redis, RedisMode, Reservation, Reserve, Settle, Settled};
use serde_json::{Value, json};
use test_support::dynamo::Dynamo;
use test_support::redis::{Engine, RedisServer};
use test_support::wire::Wire;

pub(crate) const HOLD: Duration = Duration::from_secs(600);

/// The function with stores of its own.
pub(crate) struct Office {
    pub(crate) router: Router,
    pub(crate) wire: Wire,
    pub(crate) inventory: Inventory,
    pub(crate) store: CatalogStore,
    pub(crate) orders: OrderStore,
    pub(crate) redis: RedisServer,
    dynamo: Dynamo,
}

pub(crate) fn id(text: &str) -> EventId {
    EventId::parse(text).unwrap()
}

pub(crate) fn type_id(text: &str) -> TicketTypeId {
    TicketTypeId::parse(text).unwrap()
}

pub(crate) fn seat(text: &str) -> SeatLabel {
    SeatLabel::parse(text).unwrap()
}

pub(crate) fn event_body() -> Value {
    json!({
        "title": "秋之晚會 Autumn Gala",
        "venue": {"name": "Taipei Dome", "city": "Taipei"},
        "time_zone": "Asia/Taipei",
        "starts_at": "2099-12-31T12:00:00Z",
        "sale": {"opens_at": "2020-01-01T02:00:00Z", "closes_at": "2099-12-31T00:00:00Z"},
        "currency": "TWD",
    })
}

pub(crate) fn places(capacity: u32) -> Value {
    json!({
        "kind": "general_admission",
        "name": "Floor",
        "price": {"amount": 280_000, "currency": "TWD"},
        "capacity": capacity,
    })
}

pub(crate) fn numbered() -> Value {
    json!({
        "kind": "reserved_seating",
        "name": "Stalls",
        "price": {"amount": 880_000, "currency": "TWD"},
    })
}

impl Office {
    /// Empty stores.
    pub(crate) async fn open() -> Self {
        let (dynamo, redis) = (Dynamo::start().await, RedisServer::start(Engine::Redis));
        let wire = Wire::new();
        // A call that breaks is broken: waiting for the SDK's retries tells nothing new.
        let config = dynamo.sdk_config().into_builder().retry_config(RetryConfig::disabled());
        let client = dynamo_store::client(&wire.over(&config.build()));
        let tables = &dynamo.tables;
        let store = CatalogStore::new(client.clone(), &tables.catalog);
        let orders = OrderStore::new(client, &tables.orders, &tables.units);
        let inventory = Inventory::new(Redis::connect(&redis.url(), RedisMode::Single));
        let office = Self { router: Router::new(), wire, inventory, store, orders, redis, dynamo };
        Self { router: office.another_environment(), ..office }
    }

    /// A further environment of the function over the same stores: it remembers
    /// nothing of what others did.
    pub(crate) fn another_environment(&self) -> Router {
        self.environment_with_holds_of(HOLD)
    }

    /// One whose holds last this long.
    pub(crate) fn environment_with_holds_of(&self, hold: Duration) -> Router {
        routed(self.catalogue(hold).impatient())
    }

    /// One that waits for others, as those that are deployed do.
    pub(crate) fn patient_environment(&self) -> Router {
        routed(self.catalogue(HOLD))
    }

    fn catalogue(&self, hold: Duration) -> Catalogue {
        let (store, orders) = (self.store.clone(), self.orders.clone());
        Catalogue::new(store, orders, self.inventory.clone(), hold)
    }

    /// The same tables over another wire, for what the test itself looks up while
    /// the function's own is broken.
    pub(crate) fn orders_beside(&self) -> OrderStore {
        let tables = &self.dynamo.tables;
        OrderStore::new(
            dynamo_store::client(&self.dynamo.sdk_config()),
            &tables.orders,
            &tables.units,
        )
    }

    /// An office with an event `show` that has 64 places and a hall of six seats.
    pub(crate) async fn with_show() -> Self {
        let office = Self::open().await;
        office.create("/events/show", &event_body()).await;
        office.create("/events/show/ticket-types/floor", &places(64)).await;
        office.create("/events/show/ticket-types/stalls", &numbered()).await;
        let rows = json!([{"row": 1, "seats": 3}, {"row": 2, "seats": 3}]);
        let section = json!({"ticket_type": "stalls", "rows": rows});
        office.create("/events/show/seat-map/sections/A", &section).await;
        office
    }

    /// The same, on sale.
    pub(crate) async fn with_sale() -> Self {
        let office = Self::with_show().await;
        office.switch("open").await;
        office
    }

    pub(crate) async fn create(&self, path: &str, body: &Value) -> TestResponse {
        let put = TestRequest::put(path).operator("op").header("if-none-match", "*").json(body);
        let answer = put.send(&self.router).await;
        assert_eq!(answer.status, 201, "{path}: {}", answer.raw.body);
        answer
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        TestRequest::get(path).send(&self.router).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> TestResponse {
        TestRequest::put(path).operator("op").json(body).send(&self.router).await
    }

    pub(crate) async fn edit(&self, path: &str, version: u64, body: &Value) -> TestResponse {
        let tag = format!("\"v{version}\"");
        let put = TestRequest::put(path).operator("op").header("if-match", &tag).json(body);
        put.send(&self.router).await
    }

    pub(crate) async fn delete(&self, path: &str) -> TestResponse {
        TestRequest::delete(path).operator("op").send(&self.router).await
    }

    pub(crate) async fn command(&self, key: &str, state: &str) -> TestResponse {
        command(&self.router, key, state).await
    }

    /// Redis comes back empty.
    pub(crate) fn lose_inventory(&self) {
        let () = redis::cmd("FLUSHALL").query(&mut self.redis_by_hand()).unwrap();
    }

    /// All that Redis has.
    pub(crate) fn in_redis(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut redis = self.redis_by_hand();
        let keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut redis).unwrap();
        let mut dump = |key: &[u8]| redis::cmd("DUMP").arg(key).query(&mut redis).unwrap();
        keys.into_iter().map(|key| (key.clone(), dump(&key))).collect()
    }

    /// Redis is again as it was then, as a failover leaves it that loses writes.
    pub(crate) fn lose_writes_since(&self, then: &[(Vec<u8>, Vec<u8>)]) {
        self.lose_inventory();
        for (key, dump) in then {
            let mut restore = redis::cmd("RESTORE");
            let () = restore.arg(key).arg(0).arg(dump).query(&mut self.redis_by_hand()).unwrap();
        }
    }

    fn redis_by_hand(&self) -> redis::Connection {
        let client = redis::Client::open(self.redis.url()).unwrap();
        client.get_connection().unwrap()
    }

    /// Says what the sale shall be, under a key of its own.
    pub(crate) async fn switch(&self, state: &str) {
        let at = lambda_kit::clock::now().as_nanosecond();
        let answer = self.command(&format!("{state}-{at}"), state).await;
        assert_eq!(answer.status, 200, "{}", answer.raw.body);
    }

    pub(crate) async fn withdraw(&self, id: &str, body: &Value) -> TestResponse {
        self.put(&format!("/events/show/withdrawals/{id}"), body).await
    }

    /// A withdrawal's record.
    pub(crate) async fn withdrawal(&self, withdrawal: &str) -> Withdrawal {
        let withdrawal = WithdrawalId::parse(withdrawal).unwrap();
        let read = self.store.withdrawal_fetch(&id("show"), &withdrawal).await;
        read.unwrap().unwrap()
    }

    /// What the list says remains of a type.
    pub(crate) async fn remaining(&self, ticket_type: &str) -> u64 {
        self.ticket_type(ticket_type).await["remaining"].as_u64().unwrap()
    }

    pub(crate) async fn ticket_type(&self, ticket_type: &str) -> Value {
        let list = self.get("/events/show/ticket-types").await.json();
        let types = list["ticket_types"].as_array().unwrap();
        types.iter().find(|one| one["id"] == ticket_type).unwrap().clone()
    }

    /// How many units of a type DynamoDB says are owned.
    pub(crate) async fn owned(&self, ticket_type: &str) -> usize {
        let orders = self.orders_beside();
        let types = self.store.ticket_types_list(&id("show"), Consistency::Strong).await.unwrap();
        let partitions = PartitionCounts::of(&types);
        orders.units_list(&id("show"), &type_id(ticket_type), &partitions).await.unwrap().len()
    }

    /// Where the log stands: it goes on with every unit that changes hands.
    pub(crate) async fn position(&self) -> LogPosition {
        let event = self.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap();
        let states = self.inventory.seat_states(&id("show"), event.unwrap().epoch, &[]).await;
        states.unwrap().unwrap().position
    }

    /// A fan's hold.
    pub(crate) async fn hold(&self, fan: &str, line: Line) -> Reservation {
        self.inventory.reserve(&self.wish(fan, line).await).await.unwrap()
    }

    async fn wish(&self, fan: &str, line: Line) -> Reserve {
        let event = self.store.event_fetch(&id("show"), Consistency::Strong).await.unwrap();
        let customer = CustomerId::parse(fan).unwrap();
        let lines = OrderLines::new(vec![line]).unwrap();
        Reserve {
            event: id("show"),
            epoch: event.unwrap().epoch,
            order: order_id(&customer),
            customer: customer.key(),
            fingerprint: Fingerprint::v1(&lines),
            lines,
            hold: HOLD,
            mode: Mode::Buy,
            session: None,
        }
    }

    /// A fan lets a hold go.
    pub(crate) async fn let_go(&self, fan: &str, line: Line) {
        let Reserve { event, epoch, order, customer, .. } = self.wish(fan, line).await;
        self.inventory.release(&event, epoch, &order, &customer).await.unwrap();
    }

    /// A fan's paid order.
    pub(crate) async fn buy(&self, fan: &str, line: Line) -> Order {
        self.persist(fan, line, |order| order).await
    }

    /// A fan's order that was not paid in time.
    pub(crate) async fn owe(&self, fan: &str, line: Line) -> Order {
        let pay_by = Some(lambda_kit::clock::now());
        let unpaid = |order| Order { state: OrderState::Pending, pay_by, ..order };
        self.persist(fan, line, unpaid).await
    }

    /// An order as it is stored.
    pub(crate) async fn order(&self, order: &Order) -> Order {
        let read = self.orders.order_fetch(&order.customer, &order.id).await;
        read.unwrap().unwrap()
    }

    /// A fan's paid order that Redis has forgotten: its units are free there.
    pub(crate) async fn buy_unknown_to_redis(&self, fan: &str, line: Line) -> Order {
        let order = self.store_only(fan, line, |order| order).await;
        let (event, customer) = (&order.event, order.customer.key());
        self.inventory.release(event, order.epoch, &order.id, &customer).await.unwrap();
        order
    }

    async fn persist(&self, fan: &str, line: Line, to: impl Fn(Order) -> Order) -> Order {
        let order = self.store_only(fan, line, to).await;
        let settled = self.inventory.settle(&Settle::of(&order, order.epoch, false)).await.unwrap();
        assert_eq!(settled, Settled::Applied);
        order
    }

    /// In the tables, while Redis has no more than the hold.
    async fn store_only(&self, fan: &str, line: Line, to: impl Fn(Order) -> Order) -> Order {
        let wish = self.wish(fan, line.clone()).await;
        let mut reservation = self.inventory.reserve(&wish).await.unwrap();
        while let Reservation::GrantNeeded { ticket_type, mark, ceiling } = reservation {
            let to = ceiling.min(mark + 20);
            let mark = self.store.mark_raise(&wish.event, &ticket_type, to).await.unwrap();
            let (event, epoch) = (&wish.event, wish.epoch);
            self.inventory.mark_raise(event, epoch, &ticket_type, mark).await.unwrap();
            reservation = self.inventory.reserve(&wish).await.unwrap();
        }
        let Reservation::Held(hold) = reservation else { panic!("{reservation:?}") };
        let order = to(order_of(&wish, fan, hold));
        let types = self.store.ticket_types_list(&id("show"), Consistency::Strong).await.unwrap();
        let (partitions, patience) =
            (PartitionCounts::of(&types), Patience::of(Duration::from_secs(10)));
        let persisted = self.orders.order_persist(&order, &partitions, patience).await;
        assert_eq!(persisted.unwrap(), Persisted::New);
        order
    }
}

fn routed(catalogue: Catalogue) -> Router {
    adapt(router(Arc::new(catalogue), GroupsClaim("cognito:groups".to_owned())))
}

pub(crate) async fn command(router: &Router, key: &str, state: &str) -> TestResponse {
    let put = TestRequest::put("/events/show/sale").operator("op").header("idempotency-key", key);
    put.json(&json!({"state": state})).send(router).await
}

fn order_id(customer: &CustomerId) -> OrderId {
    let key = IdempotencyKey::parse("key").unwrap();
    OrderId::derive(customer, Operation::PlaceOrder, &id("show"), &key)
}

fn order_of(wish: &Reserve, fan: &str, hold: Hold) -> Order {
    let now = lambda_kit::clock::now();
    let currency = Currency::parse("TWD").unwrap();
    Order {
        id: wish.order,
        customer: CustomerId::parse(fan).unwrap(),
        event: wish.event.clone(),
        epoch: wish.epoch,
        state: OrderState::Paid,
        rejection: None,
        version: 1,
        fingerprint: wish.fingerprint,
        total: Money { amount: Order::sum(&hold.lines), currency },
        lines: hold.lines,
        created_at: now,
        updated_at: now,
        pay_by: None,
    }
}

/// Places of the floor.
pub(crate) fn floor(quantity: u32) -> Line {
    Line { ticket_type: type_id("floor"), wanted: Wanted::Quantity(quantity) }
}

/// Seats of the stalls.
pub(crate) fn stalls(seats: &[&str]) -> Line {
    let seats = seats.iter().map(|label| seat(label)).collect();
    Line { ticket_type: type_id("stalls"), wanted: Wanted::Seats(seats) }
}

/// The pointers of a problem's wrong fields.
pub(crate) fn pointers(answer: &TestResponse) -> Vec<String> {
    let body = answer.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().map(|error| error["pointer"].as_str().unwrap().to_owned()).collect()
}
