//! What is malformed gets no further than the edge: the field is named, and
//! nothing is used up.

use e2e::error::ClientError;
use e2e::http::Answer;
use e2e::identity::new_word;
use e2e::plan::Plan;
use e2e::sale::{Sale, Shopper};
use e2e::world::World;
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

async fn hall() -> Result<(Sale, Shopper), ClientError> {
    let world = World::connect()?;
    let plan = Plan::new().section("stalls", "A", 1, 12).standing("floor", 5);
    let sale = plan.set_up(&world).await?;
    let buyer = sale.shopper().await?;
    Ok((sale, buyer))
}

/// Sends a body as it stands, under a key of its own.
async fn post(
    sale: &Sale,
    buyer: &Shopper,
    body: impl Into<Vec<u8>>,
) -> Result<Answer, ClientError> {
    let post = sale.world.api.post(&sale.path("/orders")).by(&buyer.fan);
    post.header("onsale-admission", &buyer.admission)
        .header("idempotency-key", &new_word())
        .body("application/json", body)
        .send()
        .await
}

async fn assert_stock_is_untouched(sale: &Sale) -> Journey {
    assert_eq!((sale.remaining("floor").await?, sale.remaining("stalls").await?), (5, 12));
    Ok(())
}

#[tokio::test]
async fn b7_a_malformed_order_names_its_field_and_leaves_the_stock_unchanged() -> Journey {
    let (sale, buyer) = hall().await?;
    let quantity =
        |value: &str| format!(r#"{{"lines": [{{"ticket_type": "floor", "quantity": {value}}}]}}"#);
    let seats =
        |value: Value| json!({"lines": [{"ticket_type": "stalls", "seats": value}]}).to_string();
    let many: Vec<Value> =
        (0..10_000).map(|line| json!({"ticket_type": format!("t{line}"), "quantity": 1})).collect();
    let cases = [
        (quantity("-5"), "/lines/0/quantity"),
        (quantity("0"), "/lines/0/quantity"),
        (quantity("1.5"), "/lines/0/quantity"),
        (quantity("1000000000000000000"), "/lines/0/quantity"),
        (quantity("\"2\""), "/lines/0/quantity"),
        (quantity("null"), "/lines/0/quantity"),
        (quantity("41"), "/lines"),
        (seats(json!(["A-1-12", "A-1-12"])), "/lines/0/seats/1"),
        (seats(json!([])), "/lines/0/seats"),
        (seats(json!("A-1-1")), "/lines/0/seats"),
        (json!({"lines": many}).to_string(), "/lines"),
        (json!({"lines": []}).to_string(), "/lines"),
        (json!({"lines": [{"ticket_type": "floor"}]}).to_string(), "/lines/0"),
        (json!({"lines": [{"quantity": 1}]}).to_string(), "/lines/0/ticket_type"),
        (
            json!({"lines": [{"ticket_type": "{a}:#", "quantity": 1}]}).to_string(),
            "/lines/0/ticket_type",
        ),
        (
            json!({"lines": [{"ticket_type": "floor", "quantity": 1}], "price": 1}).to_string(),
            "/price",
        ),
        (
            json!({"lines": [{"ticket_type": "floor", "quantity": 1, "price": 1}]}).to_string(),
            "/lines/0/price",
        ),
        (
            json!({"lines": [{"ticket_type": "floor", "quantity": 1},
                             {"ticket_type": "floor", "quantity": 1}]})
            .to_string(),
            "/lines/1/ticket_type",
        ),
    ];
    for (body, pointer) in cases {
        let shown: String = body.chars().take(120).collect();
        let answer = post(&sale, &buyer, body).await?;
        assert_eq!(answer.status, 400, "{shown}: {}", answer.text());
        let problem = answer.problem()?;
        let pointers: Vec<&str> = problem.errors.iter().map(|one| one.pointer.as_str()).collect();
        assert_eq!(pointers, [pointer], "{shown}: {}", answer.text());
    }
    assert_stock_is_untouched(&sale).await
}

#[tokio::test]
async fn b7_broken_utf_8_and_what_is_no_json_is_refused() -> Journey {
    let (sale, buyer) = hall().await?;
    let mut broken = br#"{"lines": [{"ticket_type": "fl"#.to_vec();
    broken.extend([0xff, 0xfe]);
    broken.extend(br#"oor", "quantity": 1}]}"#);
    for body in [broken, b"".to_vec(), b"{".to_vec(), b"[]".to_vec(), b"null".to_vec()] {
        let answer = post(&sale, &buyer, body.clone()).await?;
        let shown = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(answer.status, 400, "{shown}: {}", answer.text());
        assert_eq!(answer.problem()?.reason, "invalid_request", "{shown}");
    }
    assert_stock_is_untouched(&sale).await
}

#[tokio::test]
async fn another_kind_of_body_is_415_and_an_oversized_one_413() -> Journey {
    let (sale, buyer) = hall().await?;
    let body = json!({"lines": [{"ticket_type": "floor", "quantity": 1}]}).to_string();
    let request = || {
        let post = sale.world.api.post(&sale.path("/orders")).by(&buyer.fan);
        post.header("onsale-admission", &buyer.admission).header("idempotency-key", &new_word())
    };
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "image/png"] {
        let answer = request().body(content_type, body.clone()).send().await?;
        assert_eq!(answer.status, 415, "{content_type}: {}", answer.text());
        assert_eq!(answer.problem()?.reason, "unsupported_media_type");
    }
    let padded = format!("{body}{}", " ".repeat(1_100_000));
    let answer = request().body("application/json", padded).send().await?;
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert_eq!(answer.problem()?.reason, "too_large");
    assert_stock_is_untouched(&sale).await
}

#[tokio::test]
async fn b10_a_key_may_be_quoted_and_must_be_there_and_neither_empty_nor_endless() -> Journey {
    let (sale, buyer) = hall().await?;
    let lines = json!([{"ticket_type": "floor", "quantity": 1}]);
    let word = new_word();
    let bare = sale.buy(&buyer, &word, lines.clone()).await?.expect(202)?;
    let quoted = sale.buy(&buyer, &format!("\"{word}\""), lines.clone()).await?.expect(202)?;
    let id = |answer: &Answer| answer.json::<Value>().map(|body| body["id"].clone());
    assert_eq!(id(&bare)?, id(&quoted)?);
    for key in ["", "\"\"", &"k".repeat(300)] {
        let answer = sale.buy(&buyer, key, lines.clone()).await?;
        assert_eq!(answer.status, 400, "{key:?}: {}", answer.text());
        assert_eq!(answer.problem()?.errors[0].pointer, "header:Idempotency-Key");
    }
    let post = sale.world.api.post(&sale.path("/orders")).by(&buyer.fan);
    let missing = post.header("onsale-admission", &buyer.admission);
    let answer = missing.json(&json!({"lines": lines})).send().await?.expect(400)?;
    assert_eq!(answer.problem()?.errors[0].pointer, "header:Idempotency-Key");
    assert_eq!(sale.remaining("floor").await?, 4);
    Ok(())
}
