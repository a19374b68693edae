//! The function on a real Redis, an embedded DynamoDB and a secret of its own.

use axum::Router;
use contracts::queue::{PlaceBody, QueueSettingsBody, QueueStatusBody};
use domain::QueueSettings;
use dynamo_store::CatalogStore;
use lambda_kit::http::{GroupsClaim, adapt};
use lambda_kit::testing::{TestRequest, TestResponse};
use queue_admission::{App, router, signer_at};
use redis_store::{Redis, RedisMode};
use serde::de::DeserializeOwned;
use serde_json::json;
use test_sale::Hall;
use test_support::endpoint::{Answer, Endpoint};
use test_support::wire::Wire;

pub(crate) const QUEUE: &str = "/events/gala/queue";
pub(crate) const PLACES: &str = "/events/gala/queue/places";
pub(crate) const MINE: &str = "/events/gala/queue/places/mine";
pub(crate) const ADMISSION: &str = "/events/gala/queue/places/mine/admission";
pub(crate) const SETTINGS: &str = "/events/gala/queue/settings";

pub(crate) struct Room {
    pub(crate) hall: Hall,
    pub(crate) router: Router,
    /// Between the function and its tables.
    pub(crate) wire: Wire,
    secrets: Endpoint,
}

impl Room {
    /// Over the event `gala`, on sale; nobody has joined or set anything.
    pub(crate) async fn open() -> Self {
        let secret = "0123456789abcdef".repeat(4);
        let body = json!({"ARN": "arn", "Name": "signing", "SecretString": secret}).to_string();
        Self::with_secret(Answer::new(200, body)).await
    }

    /// With this answer of Secrets Manager.
    pub(crate) async fn with_secret(answer: Answer) -> Self {
        let hall = Hall::on_sale().await;
        let answer = answer.header("content-type", "application/x-amz-json-1.1");
        let secrets = Endpoint::start(move |_| answer.clone()).await;
        let wire = Wire::new();
        let client = dynamo_store::client(&wire.over(&hall.dynamo.sdk_config()));
        let catalog = CatalogStore::new(client, &hall.dynamo.tables.catalog);
        let signing = signer_at(&secrets.sdk_config(), "arn".to_owned(), catalog.clone());
        let redis = Redis::connect(&hall.redis.url(), RedisMode::Single);
        let app = App::new(redis, catalog, signing);
        let router = adapt(router(app, GroupsClaim("cognito:groups".to_owned())));
        Self { hall, router, wire, secrets }
    }

    /// With so many at once, each call good for a long time.
    pub(crate) async fn with_cap(cap: u32) -> Self {
        let room = Self::open().await;
        let answer = room.set(&settings(cap), "if-none-match", "*").await;
        assert_eq!(answer.status, 201, "{}", answer.raw.body);
        room
    }

    pub(crate) async fn send(&self, request: TestRequest) -> TestResponse {
        request.send(&self.router).await
    }

    pub(crate) async fn set(
        &self,
        settings: &QueueSettingsBody,
        condition: &str,
        version: &str,
    ) -> TestResponse {
        let request = TestRequest::put(SETTINGS).operator("op").header(condition, version);
        self.send(request.json(settings)).await
    }

    pub(crate) async fn join(&self, fan: &str) -> TestResponse {
        self.send(TestRequest::post(PLACES).fan(fan)).await
    }

    pub(crate) async fn joined(&self, fan: &str) -> PlaceBody {
        body(&self.join(fan).await)
    }

    pub(crate) async fn mine(&self, fan: &str) -> TestResponse {
        self.send(TestRequest::get(MINE).fan(fan)).await
    }

    pub(crate) async fn enter(&self, fan: &str) -> TestResponse {
        self.send(TestRequest::post(ADMISSION).fan(fan)).await
    }

    pub(crate) async fn leave(&self, fan: &str) -> TestResponse {
        self.send(TestRequest::delete(MINE).fan(fan)).await
    }

    pub(crate) async fn status(&self) -> QueueStatusBody {
        body(&self.send(TestRequest::get(QUEUE)).await)
    }

    /// Redis loses everything.
    pub(crate) async fn lose_redis(&self) {
        let client = redis::Client::open(self.hall.redis.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        redis::cmd("FLUSHALL").exec_async(&mut connection).await.unwrap();
    }

    /// How often the secret was read.
    pub(crate) fn secret_reads(&self) -> usize {
        self.secrets.take_asked().len()
    }
}

pub(crate) fn settings(cap: u32) -> QueueSettingsBody {
    QueueSettingsBody { cap, ..QueueSettings::default().into() }
}

pub(crate) fn body<T: DeserializeOwned>(answer: &TestResponse) -> T {
    let read = serde_json::from_str(&answer.raw.body);
    read.unwrap_or_else(|error| unreachable!("{error}: {}", answer.raw.body))
}
