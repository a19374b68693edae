//! The layers around every router, met as the gateway meets them.

#![cfg(test)]

use axum::response::IntoResponse;
use axum::routing::{get, post, put};
use axum::{Extension, Json, Router};
use contracts::problem::Reason;
use domain::{EventId, SeatLabel};
use http::StatusCode;
use lambda_kit::config::Secret;
use lambda_kit::http::{
    Answer, EDGE_HEADER, Failure, Fan, GroupsClaim, JsonBody, NoBody, Operator, PathId,
    QueryParams, adapt, adapt_behind_edge, idempotency_key,
};
use lambda_kit::testing::{TestRequest, TestResponse};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    lines: Vec<Line>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    quantity: u8,
}

#[derive(Debug, thiserror::Error)]
#[error("the password is hush")]
struct Inner;

fn router() -> Router {
    adapt(routes())
}

fn routes() -> Router {
    Router::new()
        .route("/events/{event}", get(event_get).put(event_put))
        .route("/events/{event}/orders", post(order_post))
        .route("/events/{event}/seats/{seat}/lock-status", get(seat_get))
        .route("/events/{event}/seats/changes", get(changes_get))
        .route("/events/{event}/queue", get(broken))
        .route("/orders", get(mine_get))
        .route("/events/{event}/queue/places", post(join))
        .route("/events/{event}/sale", put(panics))
        .layer(Extension(GroupsClaim("cognito:groups".to_owned())))
}

async fn event_get(PathId(event): PathId<EventId>) -> Answer {
    Ok(([("cache-control", "public, max-age=5")], Json(json!({ "event": event }))).into_response())
}

async fn event_put(Operator(who): Operator) -> Answer {
    Ok(Json(json!({ "operator": who })).into_response())
}

async fn order_post(
    Fan(fan): Fan,
    headers: http::HeaderMap,
    JsonBody(order): JsonBody<Order>,
) -> Answer {
    let key = idempotency_key(&headers)?;
    let body = json!({ "fan": fan, "key": key, "order": order });
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}

async fn seat_get(PathId(seat): PathId<SeatLabel>) -> Answer {
    Ok(Json(json!({ "seat": seat })).into_response())
}

async fn changes_get(query: QueryParams) -> Answer {
    let after: u64 = query.required("after")?;
    Ok(Json(json!({ "after": after })).into_response())
}

async fn join(_: NoBody) -> Answer {
    Ok(StatusCode::CREATED.into_response())
}

async fn mine_get(Fan(fan): Fan) -> Answer {
    Ok(Json(json!({ "fan": fan })).into_response())
}

async fn broken() -> Answer {
    Err(Failure::unavailable(Inner).with_member("epoch", 3).with_member("status", 200))
}

async fn panics() -> Answer {
    std::panic::panic_any("a handler's bug")
}

fn order() -> TestRequest {
    TestRequest::post("/events/show/orders").fan("fan-1").header("idempotency-key", "k")
}

async fn send(request: TestRequest) -> TestResponse {
    request.send(&router()).await
}

fn pointer(answer: &TestResponse) -> String {
    answer.json()["errors"][0]["pointer"].as_str().unwrap_or("none").to_owned()
}

#[tokio::test]
async fn a_good_request_is_answered() {
    let answer = send(order().json(&json!({"lines": [{"quantity": 2}]}))).await;
    assert_eq!(answer.status, 202);
    assert_eq!(answer.json()["fan"], "fan-1");
    assert_eq!(answer.json()["order"]["lines"][0]["quantity"], 2);
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn what_a_handler_says_about_caching_stands_and_personal_answers_are_not_stored() {
    let public = send(TestRequest::get("/events/show")).await;
    assert_eq!(public.header("cache-control"), "public, max-age=5");
    let personal = send(TestRequest::get("/orders").fan("fan-1")).await;
    assert_eq!(personal.header("cache-control"), "no-store");
}

#[tokio::test]
async fn a_body_is_bytes_when_the_gateway_says_so() {
    let answer =
        send(order().header("content-type", "application/json").bytes(br#"{"lines": []}"#)).await;
    assert_eq!(answer.status, 202);
}

#[tokio::test]
async fn a_bad_body_names_its_field() {
    let cases = [
        (r#"{"lines": [{"quantity": 1}, {"quantity": -5}]}"#, "/lines/1/quantity"),
        (r#"{"lines": [{"quantity": 1.5}]}"#, "/lines/0/quantity"),
        (r#"{"lines": [{"quantity": 1000000000000000000}]}"#, "/lines/0/quantity"),
        (r#"{"lines": [{"quantity": "2"}]}"#, "/lines/0/quantity"),
        (r#"{"lines": [{"quantity": null}]}"#, "/lines/0/quantity"),
        (r#"{"lines": [{"quantity": 1, "colour": 1}]}"#, "/lines/0/colour"),
        (r#"{"lines": [{"quantity": 1}], "a/b~c": 1}"#, "/a~1b~0c"),
        (r#"{}"#, "/lines"),
        (r#"{"lines": []} and more"#, ""),
        (r#"{"lines": ["#, "/lines"),
        ("", ""),
    ];
    for (body, expected) in cases {
        let request = order().header("content-type", "application/json; charset=utf-8").text(body);
        let answer = send(request).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "invalid_request"), "{body}");
        assert_eq!(pointer(&answer), expected, "{body}: {}", answer.raw.body);
        for ours in ["column", "field `", "u8", "struct", "expected"] {
            assert!(!answer.raw.body.contains(ours), "{body}: {}", answer.raw.body);
        }
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_field_is_told_in_the_clients_language() {
    let told = async |request: TestRequest| {
        let answer = send(request.header("accept-language", "zh-TW")).await;
        let error = answer.json()["errors"][0].clone();
        (error["pointer"].clone(), error["detail"].clone())
    };
    let zero = order().json(&json!({"lines": [{"quantity": -1}]}));
    assert_eq!(told(zero).await, (json!("/lines/0/quantity"), json!("必須是 0 到 255 的整數")));
    let keyless = order().header("idempotency-key", "").json(&json!({"lines": []}));
    let rule = json!("必須是 1 到 255 個可列印的 ASCII 字元");
    assert_eq!(told(keyless).await, (json!("header:Idempotency-Key"), rule));
    let changes = TestRequest::get("/events/e/seats/changes?after=1&after=2");
    assert_eq!(told(changes).await, (json!("query:after"), json!("重複提供")));
    let id = json!("必須是 1 到 64 個字元，限用 A-Z、a-z、0-9、「_」與「-」");
    assert_eq!(told(TestRequest::get("/events/a:b")).await, (json!("path:event"), id));
    let text = order().header("content-type", "text/csv").header("accept-language", "zh");
    assert_eq!(send(text).await.json()["detail"], "Content-Type 必須是 application/json");
}

#[tokio::test]
async fn a_body_of_broken_bytes_is_refused_with_words() {
    let request = order().header("content-type", "application/json");
    let answer = send(request.bytes(b"{\"lines\": [{\"\xff\xfe\": 1}]}")).await;
    assert_eq!(answer.status, 400);
    let mut event = json!({
        "rawPath": "/events/show/orders", "headers": {"accept-language": "zh-TW"},
        "requestContext": {"http": {"method": "POST"}},
        "body": "no base64 at all!", "isBase64Encoded": true,
    });
    let answer = send(TestRequest::from_event(event.clone())).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.header("content-language"), "zh-Hant");
    event["requestContext"]["http"]["method"] = json!("NO METHOD");
    assert_eq!(send(TestRequest::from_event(event)).await.status, 405);
}

#[tokio::test]
async fn a_body_of_another_kind_or_size_is_refused() {
    let answer = send(order().header("content-type", "text/csv").text("a,b")).await;
    assert_eq!((answer.status, answer.reason().as_str()), (415, "unsupported_media_type"));
    assert_eq!(send(order().text("{}")).await.status, 415, "a kind must be said");
    let huge = format!("{{\"lines\": \"{}\"}}", "x".repeat(1_000_000));
    let answer = send(order().header("content-type", "application/json").text(&huge)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (413, "too_large"));
}

#[tokio::test]
async fn where_nothing_is_read_nothing_may_be_sent() {
    let join = || TestRequest::post("/events/show/queue/places");
    assert_eq!(send(join()).await.status, 201);
    assert_eq!(send(join().json(&json!({}))).await.status, 201);
    for (body, status) in
        [("{\"number\": 1}", 400), ("[]", 400), ("[1]", 400), ("null", 400), ("x", 400)]
    {
        let request = join().header("content-type", "application/json").text(body);
        assert_eq!(send(request).await.status, status, "{body}");
    }
    assert_eq!(send(join().text("{}")).await.status, 415);
}

#[tokio::test]
async fn a_quoted_and_a_bare_key_are_one_and_no_key_is_400() {
    let good = json!({"lines": []});
    for key in ["k", "\"k\""] {
        let answer = send(order().header("idempotency-key", key).json(&good)).await;
        assert_eq!(answer.json()["key"], "k");
    }
    for key in ["", "\"\"", "é", &"k".repeat(300)] {
        let answer = send(order().header("idempotency-key", key).json(&good)).await;
        assert_eq!(answer.status, 400, "{key}");
        assert_eq!(pointer(&answer), "header:Idempotency-Key");
    }
    let without = TestRequest::post("/events/show/orders").fan("fan-1").json(&good);
    assert_eq!(pointer(&send(without).await), "header:Idempotency-Key");
}

#[tokio::test]
async fn a_path_that_can_name_nothing_is_404_whatever_is_in_it() {
    for id in ["a b", "a%20b", "a{b}", "a:b", "a#b", "🎫", "a?b", "%", "%zz", &"x".repeat(300)] {
        let event = json!({
            "rawPath": format!("/events/{id}"),
            "headers": {"host": "no host at all"},
            "requestContext": {"http": {"method": "GET"}},
        });
        let answer = send(TestRequest::from_event(event)).await;
        assert_eq!(answer.status, 404, "{id}: {}", answer.raw.body);
        assert_eq!(pointer(&answer), "path:event", "{id}");
    }
    let answer = send(TestRequest::get("/events/show/seats/A-12/lock-status")).await;
    assert_eq!((answer.status, answer.reason().as_str()), (404, "unknown_seat"));
    assert_eq!(pointer(&answer), "path:seat");
}

#[tokio::test]
async fn a_query_is_read_by_name() {
    let changes = |query: &str| send(TestRequest::get(&format!("/events/e/seats/changes{query}")));
    assert_eq!(changes("?after=7&utm=x").await.json()["after"], 7);
    for bad in ["", "?after=", "?after=-1", "?after=1&after=2", "?after=x", "?after=%ff"] {
        let answer = changes(bad).await;
        assert_eq!(answer.status, 400, "{bad}");
        assert!(pointer(&answer).starts_with("query:"), "{bad}");
    }
}

#[tokio::test]
async fn nobody_is_someone_without_verified_claims() {
    let anonymous = TestRequest::get("/orders").header("authorization", "Bearer forged");
    let answer = send(anonymous).await;
    assert_eq!((answer.status, answer.reason().as_str()), (401, "unauthorized"));
    assert_eq!(answer.header("www-authenticate"), "Bearer");
    let endless = "x".repeat(256);
    for claims in [
        json!({}),
        json!({"sub": ""}),
        json!({"sub": endless}),
        json!({"sub": 7}),
        json!({"sub": "withdrawn:house"}),
        json!({"sub": "withdrawn:house", "cognito:groups": ["operators"]}),
        json!(null),
    ] {
        let operator = send(TestRequest::put("/events/show").claims(claims.clone())).await;
        assert_eq!(operator.status, 401, "{claims}");
        let answer = send(TestRequest::get("/orders").claims(claims.clone())).await;
        assert_eq!(answer.status, 401, "{claims}");
    }
}

async fn edit(request: TestRequest) -> u16 {
    let answer = send(request).await;
    assert!(answer.status == 200 || answer.reason() == "forbidden", "{}", answer.raw.body);
    answer.status
}

#[tokio::test]
async fn only_the_group_operators_operates_whatever_others_are_called() {
    let edit = |groups: &serde_json::Value| {
        let claims = json!({"sub": "op", "cognito:groups": groups, "groups": ["operators"]});
        edit(TestRequest::put("/events/show").claims(claims))
    };
    for groups in [json!(["fans", "operators"]), json!(["operators"]), json!("operators")] {
        assert_eq!(edit(&groups).await, 200, "{groups}");
    }
    for groups in [
        json!(["x operators"]),
        json!(["operators x", "Operators"]),
        json!(["venue,operators"]),
        json!(["operators]"]),
        json!(["[operators"]),
        json!(["[operators]"]),
        json!(["non-operators", "operators2"]),
        json!([["operators"]]),
        json!("[operators]"),
        json!("x operators"),
        json!({"operators": true}),
        json!(null),
    ] {
        assert_eq!(edit(&groups).await, 403, "{groups}");
    }
    assert_eq!(send(TestRequest::put("/events/show")).await.status, 401);
}

#[tokio::test]
async fn groups_are_read_off_the_verified_token_and_no_other() {
    let put = || TestRequest::put("/events/show");
    let verified = || json!({"sub": "op", "iss": "us", "cognito:groups": ["operators"]});
    assert_eq!(edit(put().claims(verified())).await, 200);
    // The gateway's own text proves nothing: it may be one group called like that.
    assert_eq!(edit(put().verified(verified())).await, 403);
    for other in [json!({"sub": "fan", "iss": "us"}), json!({"sub": "op", "iss": "them"})] {
        assert_eq!(edit(put().claims(verified()).verified(other)).await, 403);
    }
    let operator = put().claims(verified());
    let header = operator.authorization();
    let token = header.trim_start_matches("Bearer ");
    let with = |header: String| put().verified(verified()).header("authorization", &header);
    for taken in [format!("bearer {token}"), token.to_owned()] {
        assert_eq!(edit(with(taken.clone())).await, 200, "{taken}");
    }
    for refused in [
        format!("{header},{header}"),
        format!("{header} {header}"),
        format!("Basic {token}"),
        format!("{token}.more"),
        "Bearer a.b".to_owned(),
        "Bearer a.*.c".to_owned(),
    ] {
        assert_eq!(edit(with(refused.clone())).await, 403, "{refused}");
    }
}

#[tokio::test]
async fn behind_a_cdn_only_what_it_passed_on_is_answered() {
    let router = adapt_behind_edge(routes(), Some(Secret::new("hush")));
    for path in ["/events/show", "/orders", "/events/show/seats/A-1/lock-status", "/nowhere"] {
        let ask = || TestRequest::get(path).fan("fan-1");
        let open = ask().send(&adapt(routes())).await;
        assert_ne!(open.status, 403, "{path}");
        let through = ask().header(EDGE_HEADER.as_str(), "hush").send(&router).await;
        assert_eq!((through.status, &through.raw.body), (open.status, &open.raw.body), "{path}");
        let mut answers = vec![ask().send(&router).await];
        for guess in ["", "hus", "hushh", "Hush"] {
            answers.push(ask().header(EDGE_HEADER.as_str(), guess).send(&router).await);
        }
        for answer in answers {
            assert_eq!((answer.status, answer.reason().as_str()), (403, "forbidden"), "{path}");
            assert_eq!(answer.header("cache-control"), "no-store");
        }
    }
    let other_method = TestRequest::delete("/events/show").send(&router).await;
    assert_eq!(other_method.status, 403);
}

#[tokio::test]
async fn another_method_is_405_and_says_which_there_are() {
    let answer = send(TestRequest::delete("/events/show")).await;
    assert_eq!((answer.status, answer.reason().as_str()), (405, "method_not_allowed"));
    assert_eq!(answer.header("allow"), "GET, HEAD, PUT");
    let elsewhere = send(TestRequest::delete("/events/show/ticket-types")).await;
    assert_eq!((elsewhere.status, elsewhere.header("allow")), (405, "GET, HEAD"));
    let nowhere = send(TestRequest::get("/nowhere")).await;
    assert_eq!((nowhere.status, nowhere.reason().as_str()), (404, "not_found"));
    assert_eq!(nowhere.header("content-type"), "application/problem+json");
}

#[tokio::test]
async fn head_is_answered_as_get_is_but_without_a_body() {
    for path in ["/events/show", "/events/a%20b", "/orders", "/events/show/queue", "/nowhere"] {
        let ask = |method| send(TestRequest::new(method, path).header("accept-language", "zh"));
        let (get, head) = (ask("GET").await, ask("HEAD").await);
        assert_eq!((head.status, head.raw.body.as_str()), (get.status, ""), "{path}");
        assert_eq!(head.raw.headers, get.raw.headers, "{path}");
    }
}

#[tokio::test]
async fn a_panic_costs_the_client_nothing_but_a_500_in_words() {
    let answer = send(TestRequest::put("/events/show/sale")).await;
    assert_eq!((answer.status, answer.reason().as_str()), (500, "internal"));
    assert!(!answer.raw.body.contains("bug"));
    assert_eq!(answer.header("retry-after"), "2");
}

#[tokio::test]
async fn what_was_begun_under_a_key_may_have_come_through_whatever_broke() {
    let put = TestRequest::put("/events/show/sale").header("idempotency-key", "k");
    let answer = send(put).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "outcome_unknown"));
}

#[tokio::test]
async fn a_fault_says_when_to_repeat_and_keeps_its_cause_to_itself() {
    let answer = send(TestRequest::get("/events/show/queue")).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, "2"));
    assert!(!answer.raw.body.contains("hush"));
    assert_eq!(answer.json()["epoch"], 3);
    assert_eq!(answer.json()["status"], 503, "a member can't pass for one of the problem's own");
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn a_problem_speaks_the_clients_language() {
    let ask = |language: &'static str| {
        send(TestRequest::get("/nowhere").header("accept-language", language))
    };
    let chinese = ask("zh-TW,zh;q=0.9,en;q=0.8").await;
    assert_eq!(chinese.header("content-language"), "zh-Hant");
    assert_eq!(chinese.header("vary"), "Accept-Language");
    assert_eq!(
        chinese.json()["title"],
        Reason::NotFound.title(contracts::problem::Language::TraditionalChinese)
    );
    assert_eq!(ask("de").await.header("content-language"), "en");
}

#[test]
fn an_event_does_not_print_its_tokens() {
    let event: lambda_kit::http::GatewayEvent = serde_json::from_value(json!({
        "rawPath": "/orders", "headers": {"authorization": "Bearer hush"},
        "requestContext": {
            "http": {"method": "GET"},
            "authorizer": {"jwt": {"claims": {"email": "hush@test"}}},
        },
    }))
    .unwrap();
    assert!(!format!("{event:?}").contains("hush"));
}
