//! The public interface as a stranger meets it: who may do what, what is
//! unknown, and in which language it is said.

use e2e::error::ClientError;
use e2e::http::Answer;
use e2e::identity::new_word;
use e2e::plan::Plan;
use e2e::sale::Shopper;
use e2e::world::World;
use reqwest::Method;
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

fn assert_problem(answer: &Answer, status: u16, reason: &str) -> Journey {
    let problem = answer.problem()?;
    let told = (answer.status, problem.reason.as_str());
    assert_eq!(told, (status, reason), "{}: {}", answer.what, answer.text());
    assert_eq!(problem.kind, format!("https://onsale.dev/problems/{reason}"));
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{}", answer.what);
    Ok(())
}

fn one_place() -> Value {
    json!([{"ticket_type": "floor", "quantity": 1}])
}

#[tokio::test]
async fn without_a_valid_token_everything_personal_is_401() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 2).set_up(&world).await?;
    let fan = world.identity.fan().await?;
    let (head, signature) = fan.token.rsplit_once('.').unwrap_or_default();
    let tampered = format!("{head}.{}", signature.chars().rev().collect::<String>());
    let unsigned = format!("{}.{}.", "eyJhbGciOiJub25lIn0", head.split('.').nth(1).unwrap_or(""));
    let order = sale.path("/orders/00000000-0000-8000-8000-000000000000");
    let personal = [
        (Method::POST, sale.path("/queue/places")),
        (Method::GET, sale.path("/queue/places/mine")),
        (Method::POST, sale.path("/queue/places/mine/admission")),
        (Method::DELETE, sale.path("/queue/places/mine")),
        (Method::POST, sale.path("/orders")),
        (Method::GET, order),
        (Method::GET, "/orders".to_owned()),
        (Method::PUT, sale.path("/sale")),
    ];
    for (method, path) in personal {
        let request = || world.api.request(method.clone(), &path);
        for request in [
            request(),
            request().bearer("nonsense"),
            request().bearer(&tampered),
            request().bearer(&unsigned),
            request().header("authorization", "Basic Zm9vOmJhcg=="),
        ] {
            let answer = request.send().await?;
            assert_eq!(answer.status, 401, "{}: {}", answer.what, answer.text());
        }
    }
    assert_eq!(sale.queue().await?.issued, 0);
    Ok(())
}

#[tokio::test]
async fn what_operators_may_fans_may_not() -> Journey {
    let world = World::connect()?;
    let plan = Plan::new().standing("floor", 2);
    let event = plan.event_body();
    let sale = plan.set_up(&world).await?;
    let fan = world.identity.fan().await?;
    let floor = json!({"kind": "general_admission", "name": "floor", "capacity": 9,
                       "price": {"amount": 1, "currency": "TWD"}});
    let rows = json!({"ticket_type": "stalls", "rows": [{"row": 1, "seats": 2}]});
    let edits = [
        ("".to_owned(), event),
        ("/ticket-types/floor".to_owned(), floor),
        ("/seat-map/sections/Z".to_owned(), rows),
        ("/sale".to_owned(), json!({"state": "closed"})),
        ("/withdrawals/w".to_owned(), json!({"ticket_type": "floor", "quantity": 1})),
        (
            "/queue/settings".to_owned(),
            json!({"cap": 0, "grace_seconds": 1,
                                              "session_seconds": 1, "token_seconds": 1}),
        ),
    ];
    for (rest, body) in edits {
        let put = world.api.put(&sale.path(&rest)).by(&fan).header("if-match", "\"v1\"");
        let answer = put.header("idempotency-key", &new_word()).json(&body).send().await?;
        assert_problem(&answer, 403, "forbidden")?;
    }
    let delete = world.api.delete(&sale.path("/withdrawals/w")).by(&fan).send().await?;
    assert_problem(&delete, 403, "forbidden")?;
    assert_eq!(sale.remaining("floor").await?, 2);
    Ok(())
}

#[tokio::test]
async fn an_admission_of_another_fan_or_event_or_none_lets_nobody_buy() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 2).set_up(&world).await?;
    let elsewhere = Plan::new().standing("floor", 2).set_up_by(&world, sale.operator.clone());
    let elsewhere = elsewhere.await?;
    let buyer = sale.shopper().await?;
    let there = elsewhere.admit(buyer.fan.clone()).await?;
    let stranger = sale.shopper().await?;
    let (head, signature) = buyer.admission.rsplit_once('.').unwrap_or_default();
    let tampered = format!("{head}.{}", signature.chars().rev().collect::<String>());
    for admission in [&there.admission, &stranger.admission, &tampered, &buyer.fan.token, "x", ""] {
        let wrong = Shopper { fan: buyer.fan.clone(), admission: (*admission).to_owned() };
        let answer = sale.buy(&wrong, &new_word(), one_place()).await?;
        assert_problem(&answer, 403, "admission_invalid")?;
        assert_eq!(answer.problem()?.errors[0].pointer, "header:Onsale-Admission");
    }
    let post = world.api.post(&sale.path("/orders")).by(&buyer.fan);
    let bare = post.header("idempotency-key", &new_word()).json(&json!({"lines": one_place()}));
    assert_problem(&bare.send().await?, 403, "admission_invalid")?;
    assert_eq!(sale.remaining("floor").await?, 2);
    // A decision is told again without any admission.
    let key = new_word();
    sale.buy(&buyer, &key, one_place()).await?.expect(202)?;
    let post = world.api.post(&sale.path("/orders")).by(&buyer.fan);
    let again = post.header("idempotency-key", &key).json(&json!({"lines": one_place()}));
    again.send().await?.expect(202)?;
    Ok(())
}

#[tokio::test]
async fn an_order_is_its_owners_alone() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 2).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let order = sale.bought(&buyer, one_place()).await?;
    let path = sale.path(&format!("/orders/{}", order.id));
    let stranger = world.identity.fan().await?;
    for person in [&stranger, &sale.operator] {
        let answer = world.api.get(&path).by(person).send().await?;
        assert_problem(&answer, 404, "unknown_order")?;
    }
    sale.settled(&buyer.fan, order.id).await?;
    let answer = world.api.get(&path).by(&stranger).send().await?;
    assert_problem(&answer, 404, "unknown_order")?;
    let list: Value = world.api.get("/orders").by(&stranger).read().await?;
    assert_eq!(list["orders"], json!([]));
    Ok(())
}

#[tokio::test]
async fn what_does_not_exist_is_404() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 2).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let nowhere = format!("e-{}", new_word());
    for path in [
        format!("/events/{nowhere}"),
        format!("/events/{nowhere}/ticket-types"),
        format!("/events/{nowhere}/seat-map"),
        format!("/events/{nowhere}/seats"),
        format!("/events/{nowhere}/queue"),
        "/events/%7Ba%7D:%23b".to_owned(),
        format!("/events/{}", "e".repeat(300)),
        "/events/%F0%9F%8E%AB".to_owned(),
        "/nothing".to_owned(),
        "/".to_owned(),
    ] {
        let answer = world.api.get(&path).send().await?;
        assert_problem(&answer, 404, "not_found")?;
    }
    let orders = format!("/events/{nowhere}/orders");
    let post = world.api.post(&orders).by(&buyer.fan).header("idempotency-key", &new_word());
    let answer = post.json(&json!({"lines": one_place()})).send().await?;
    assert_problem(&answer, 404, "not_found")?;
    let nobodys = sale.path("/orders/00000000-0000-8000-8000-000000000000");
    assert_problem(&world.api.get(&nobodys).by(&buyer.fan).send().await?, 404, "unknown_order")?;
    let stranger = world.identity.fan().await?;
    let mine = world.api.get(&sale.path("/queue/places/mine")).by(&stranger).send().await?;
    assert_problem(&mine, 404, "no_place")?;
    sale.leave(&stranger).await?;
    Ok(())
}

#[tokio::test]
async fn a_wrong_method_is_405_and_told_which_ones_there_are() -> Journey {
    let world = World::connect()?;
    for (method, path, allow) in [
        (Method::DELETE, "/events/e1", "GET, HEAD, PUT"),
        (Method::PATCH, "/events/e1/orders", "POST"),
        (Method::POST, "/events/e1/seats", "GET, HEAD"),
        (Method::PUT, "/orders", "GET, HEAD"),
        (Method::GET, "/events/e1/queue/settings", "PUT"),
    ] {
        let answer = world.api.request(method, path).send().await?;
        assert_problem(&answer, 405, "method_not_allowed")?;
        assert_eq!(answer.header("allow"), Some(allow), "{}", answer.what);
    }
    Ok(())
}

#[tokio::test]
async fn head_is_answered_wherever_get_is() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 1).set_up(&world).await?;
    let fan = world.identity.fan().await?;
    for rest in ["", "/ticket-types", "/seat-map", "/seats", "/queue"] {
        let answer = world.api.request(Method::HEAD, &sale.path(rest)).send().await?.expect(200)?;
        assert!(answer.body.is_empty(), "{rest}");
    }
    let orders = || world.api.request(Method::HEAD, "/orders");
    assert_eq!(orders().send().await?.status, 401);
    orders().by(&fan).send().await?.expect(200)?;
    Ok(())
}

#[tokio::test]
async fn refusals_are_told_in_english_or_traditional_chinese() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 1).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    sale.bought(&buyer, one_place()).await?;
    let ask = async |language: &str| {
        let post = world.api.post(&sale.path("/orders")).by(&buyer.fan);
        post.header("onsale-admission", &buyer.admission)
            .header("idempotency-key", &new_word())
            .header("accept-language", language)
            .json(&json!({"lines": one_place()}))
            .send()
            .await
    };
    for (language, tag, title) in [
        ("zh-TW", "zh-Hant", "已售完"),
        ("fr, zh-TW;q=0.8, en;q=0.5", "zh-Hant", "已售完"),
        ("en-GB,en;q=0.9", "en", "Sold out"),
        ("de", "en", "Sold out"),
    ] {
        let answer = ask(language).await?;
        assert_problem(&answer, 409, "sold_out")?;
        assert_eq!(answer.header("content-language"), Some(tag), "{language}");
        assert_eq!(answer.problem()?.title, title, "{language}");
    }
    let wrong = world.api.post(&sale.path("/orders")).by(&buyer.fan);
    let wrong = wrong.header("idempotency-key", &new_word()).header("accept-language", "zh-TW");
    let answer = wrong.json(&json!({"lines": []})).send().await?;
    assert_eq!(answer.problem()?.errors[0].detail, "至少要有一個項目");
    Ok(())
}

#[tokio::test]
async fn public_answers_can_be_cached_and_keys_are_published() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 1).section("stalls", "A", 1, 2).set_up(&world).await?;
    for rest in ["", "/ticket-types", "/seat-map", "/seats", "/queue"] {
        let answer = world.api.get(&sale.path(rest)).send().await?.expect(200)?;
        let caching = answer.header("cache-control").unwrap_or_default();
        assert!(caching.contains("max-age="), "{rest}: {caching}");
        let tag = answer.header("etag").unwrap_or_default().to_owned();
        assert!(!tag.is_empty(), "{rest}");
        let again = world.api.get(&sale.path(rest)).header("if-none-match", &tag).send().await?;
        assert_eq!(again.status, 304, "{rest}");
        assert!(again.body.is_empty(), "{rest}");
    }
    sale.shopper().await?;
    let keys: Value = world.api.get("/.well-known/jwks.json").read().await?;
    let key = &keys["keys"][0];
    assert_eq!(
        (&key["kty"], &key["crv"], &key["alg"]),
        (&json!("EC"), &json!("P-256"), &json!("ES256"))
    );
    assert!(key.get("d").is_none(), "no private part");
    Ok(())
}

#[tokio::test]
async fn own_orders_are_listed_newest_first_and_paged() -> Journey {
    let world = World::connect()?;
    let sale = Plan::new().standing("floor", 9).set_up(&world).await?;
    let buyer = sale.shopper().await?;
    let mut bought = Vec::new();
    for _ in 0..3 {
        let order = sale.bought(&buyer, one_place()).await?;
        sale.settled(&buyer.fan, order.id).await?;
        bought.insert(0, json!(order.id));
    }
    let mut listed = Vec::new();
    let mut path = "/orders?limit=2".to_owned();
    let mut pages = 0;
    loop {
        let page: Value = world.api.get(&path).by(&buyer.fan).read().await?;
        pages += 1;
        let orders = page["orders"].as_array().cloned().unwrap_or_default();
        listed.extend(orders.iter().map(|order| order["id"].clone()));
        match page["next"].as_str() {
            Some(next) => path = format!("/orders?limit=2&next={next}"),
            None => break,
        }
    }
    assert_eq!((listed, pages), (bought, 2));
    for query in ["limit=0", "limit=101", "limit=x", "next=%7B%7D"] {
        let answer = world.api.get(&format!("/orders?{query}")).by(&buyer.fan).send().await?;
        assert_problem(&answer, 400, "invalid_request")?;
    }
    Ok(())
}
