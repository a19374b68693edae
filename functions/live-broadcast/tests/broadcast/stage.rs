//! A hall with watchers, and the function between them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use connections::Connections;
use contracts::messages::LiveUpdate;
use domain::{ChainStep, ConnectionId, CustomerId, SectionId};
use dynamo_store::{Connection, Subscribed, Subscription, Ticker};
use jiff::{SignedDuration, Timestamp};
use lambda_kit::batch::Deadline;
use lambda_kit::clock;
use lambda_kit::testing::sqs_event;
use live_broadcast::handler::{LONGEST, LiveBroadcast};
use queues::{LiveQueue, Visibility};
use seat_log::SeatLog;
use serde_json::Value;
use test_sale::{Hall, gala};
use test_support::gateway::FakeGateway;
use test_support::queue::FakeQueue;

pub(crate) struct Stage {
    pub(crate) hall: Hall,
    pub(crate) queue: FakeQueue,
    pub(crate) gateway: FakeGateway,
    pub(crate) function: LiveBroadcast,
    now: Arc<Mutex<Timestamp>>,
    /// Ticks that were sent and not delivered, with when they are due.
    under_way: Mutex<Vec<(Timestamp, ChainStep)>>,
    invocations: AtomicU64,
}

impl Stage {
    pub(crate) async fn on_sale() -> Self {
        Self::of(Hall::on_sale().await).await
    }

    pub(crate) async fn of(hall: Hall) -> Self {
        let (queue, gateway) = (FakeQueue::start().await, FakeGateway::start().await);
        let (sqs, url) = (queues::client(&queue.sdk_config()), queue.queue_url("live-updates"));
        let now = Arc::new(Mutex::new(Timestamp::from_second(1_796_000_000).unwrap()));
        let clock = Arc::clone(&now);
        let function = LiveBroadcast {
            connections: hall.connections.clone(),
            log: SeatLog::new(hall.inventory.clone(), hall.catalog.clone()),
            updates: LiveQueue::new(sqs.clone(), &url),
            visibility: Visibility::new(sqs, &url),
            gateway: Connections::new(&gateway.sdk_config(), &gateway.connections_endpoint()),
            clock: Arc::new(move || *clock.lock().unwrap()),
        };
        let (under_way, invocations) = (Mutex::default(), AtomicU64::new(0));
        Self { hall, queue, gateway, function, now, under_way, invocations }
    }

    /// A stage whose chain ticks and whose watcher `c` has heard all there is.
    pub(crate) async fn watched() -> Self {
        let stage = Self::on_sale().await;
        stage.watch("c", &[]).await;
        stage.begin("first").await;
        stage.silence().await;
        stage
    }

    pub(crate) async fn connect(&self, connection: &str, customer: Option<&str>) {
        let connection = Connection {
            id: ConnectionId::parse(connection).unwrap(),
            customer: customer.map(|customer| CustomerId::parse(customer).unwrap()),
            connected_at: self.now(),
            events: BTreeSet::new(),
        };
        self.hall.connections.connection_put(&connection).await.unwrap();
    }

    pub(crate) async fn watch(&self, connection: &str, sections: &[&str]) {
        self.connect(connection, None).await;
        let subscription = Subscription {
            event: gala(),
            connection: ConnectionId::parse(connection).unwrap(),
            sections: sections.iter().map(|section| SectionId::parse(section).unwrap()).collect(),
        };
        let subscribed = self.hall.connections.subscription_put(&subscription).await.unwrap();
        assert_eq!(subscribed, Subscribed::Stored);
    }

    pub(crate) async fn unwatch(&self, connection: &str) {
        let id = ConnectionId::parse(connection).unwrap();
        self.hall.connections.connection_delete(&id).await.unwrap();
    }

    pub(crate) async fn watchers(&self) -> BTreeSet<String> {
        let watchers = self.hall.connections.subscribers_list(&gala()).await.unwrap();
        watchers.into_iter().map(|watcher| watcher.connection.into()).collect()
    }

    pub(crate) fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    pub(crate) fn pass(&self, milliseconds: i64) {
        let mut now = self.now.lock().unwrap();
        *now += SignedDuration::from_millis(milliseconds);
    }

    /// Delivers a batch; the names of those that failed.
    pub(crate) async fn deliver(&self, updates: &[LiveUpdate]) -> Vec<String> {
        let invocation = self.invocations.fetch_add(1, Ordering::SeqCst);
        let deadline = Deadline::at(clock::now() + SignedDuration::from_secs(60), LONGEST);
        let name = format!("invocation-{invocation}");
        let answer = self.function.handle_batch(sqs_event(updates), &name, deadline).await;
        self.note_sent();
        answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect()
    }

    fn note_sent(&self) {
        let now = self.now();
        let ticks = self.queue.take_sent().into_iter().map(|sent| {
            let delay = SignedDuration::from_secs(i64::try_from(sent.delay).unwrap());
            let step = serde_json::from_value(sent.body["ticker"].clone()).unwrap();
            (now + delay, step)
        });
        self.under_way.lock().unwrap().extend(ticks);
    }

    /// The first tick of whoever subscribed just now.
    pub(crate) async fn begin(&self, chain: &str) {
        self.tick(ChainStep::first(chain)).await;
    }

    pub(crate) async fn tick(&self, step: ChainStep) {
        assert_eq!(self.deliver(&[tick(Some(step))]).await, Vec::<String>::new());
    }

    pub(crate) async fn nudge(&self) {
        assert_eq!(self.deliver(&[tick(None)]).await, Vec::<String>::new());
    }

    /// Takes the ticks that are under way, with the seconds until they are due.
    pub(crate) fn under_way(&self) -> Vec<(ChainStep, i64)> {
        let under_way = std::mem::take(&mut *self.under_way.lock().unwrap());
        let now = self.now();
        under_way.into_iter().map(|(due, step)| (step, due.duration_since(now).as_secs())).collect()
    }

    /// Lets the time pass until the next tick is due, and delivers it; false:
    /// none is under way.
    pub(crate) async fn next_tick(&self) -> bool {
        let next = {
            let mut under_way = self.under_way.lock().unwrap();
            under_way.sort_by_key(|(due, _)| *due);
            if under_way.is_empty() {
                return false;
            }
            under_way.remove(0)
        };
        let (due, step) = next;
        let now = self.now();
        *self.now.lock().unwrap() = now.max(due);
        self.tick(step).await;
        true
    }

    /// Lets all repeats pass, and then a minute and a half; forgets what was posted.
    pub(crate) async fn silence(&self) {
        for seconds in [2, 8, 90] {
            self.pass(seconds * 1_000);
            let (step, _) = self.under_way().pop().unwrap();
            self.tick(step).await;
        }
        let _ = self.gateway.take_posted();
    }

    /// What was posted to a connection since it was last asked; what others heard
    /// is forgotten.
    pub(crate) fn heard(&self, connection: &str) -> Vec<Value> {
        let posted = self.gateway.take_posted().into_iter();
        posted.filter(|post| post.connection == connection).map(|post| post.frame).collect()
    }

    pub(crate) async fn ticker(&self) -> Ticker {
        self.hall.connections.ticker_fetch(&gala()).await.unwrap().unwrap()
    }

    /// Waits for something that Redis' clock decides, looking again and again.
    pub(crate) async fn until_heard(&self, connection: &str, wanted: impl Fn(&Value) -> bool) {
        let looking = async {
            loop {
                self.pass(500);
                self.nudge().await;
                if self.heard(connection).iter().any(&wanted) {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(10), looking).await.unwrap();
    }
}

pub(crate) fn tick(ticker: Option<ChainStep>) -> LiveUpdate {
    LiveUpdate::Tick { event: gala(), ticker }
}
