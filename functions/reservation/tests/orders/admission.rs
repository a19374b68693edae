//! Who may buy, and what those learn who may not.

use std::time::Duration;

use domain::{EventId, SessionId};
use lambda_kit::testing::TestResponse;
use reservation::admission::HEADER;
use tokens::{Admission, Signer};

use crate::shop::{Shop, admission, bare, in_seconds, places, pointers};

async fn refused(shop: &Shop, token: Option<&str>) -> TestResponse {
    let request = bare("ann", "k", &places(1));
    let request = match token {
        Some(token) => request.header(HEADER, token),
        None => request,
    };
    shop.send(request).await
}

#[tokio::test]
async fn without_a_valid_admission_nothing_is_sold() {
    let shop = Shop::of(10, 0).await;
    let valid = admission("ann", Duration::from_secs(300));
    let sign = |admission: &Admission| shop.signer.admission(admission).unwrap();
    let stranger = Signer::derive("another secret of more than thirty-two characters").unwrap();
    let expired = Admission { expires_at: in_seconds(-1), ..valid.clone() };
    let elsewhere = Admission { event: EventId::parse("other").unwrap(), ..valid.clone() };
    let tampered = sign(&valid).replace('.', ".A");
    for (token, detail) in [
        (None, "is missing"),
        (Some(String::new()), "is missing"),
        (Some("nonsense".to_owned()), "is not valid"),
        (Some(tampered), "is not valid"),
        // The gateway joins the headers of one name.
        (Some([sign(&valid), sign(&valid)].join(",")), "is not valid"),
        (Some(stranger.admission(&valid).unwrap()), "is not valid"),
        (Some(sign(&expired)), "has expired"),
        (Some(sign(&elsewhere)), "is for another event or another fan"),
        (Some(shop.token("ben")), "is for another event or another fan"),
    ] {
        let answer = refused(&shop, token.as_deref()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (403, "admission_invalid"));
        assert_eq!(pointers(&answer), ["header:Onsale-Admission"]);
        assert_eq!(answer.json()["errors"][0]["detail"], detail);
    }
    assert_eq!(shop.sale.counts("floor").await.held, 0);
    assert_eq!(shop.sent(), []);
}

#[tokio::test]
async fn without_an_admission_the_hold_there_is_is_still_found() {
    let shop = Shop::of(10, 0).await;
    let held = shop.accepted("ann", "k", &places(1)).await;
    let answer = refused(&shop, None).await;
    assert_eq!(answer.status, 202);
    assert_eq!(crate::shop::order_of(&answer), held);
    assert_eq!(shop.sent().len(), 2);
}

#[tokio::test]
async fn w11_a_session_that_has_ended_buys_nothing_although_its_token_lives() {
    let shop = Shop::of(10, 0).await;
    let (key, session) = (test_sale::customer("ann").key(), SessionId::parse("1-1").unwrap());
    let (show, until) = (test_sale::show(), in_seconds(300));
    shop.sale.inventory.session_end(&show, &key, &session, until).await.unwrap();
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (403, "session_ended"));
    assert_eq!(shop.sale.counts("floor").await.held, 0);
    shop.accepted("ben", "k", &places(1)).await;
}

#[tokio::test]
async fn with_the_keys_out_of_reach_nobody_is_called_a_forger() {
    let shop = Shop::of(10, 0).await;
    for _ in 0..4 {
        shop.sale.wire.next("Query", test_support::wire::Fault::Answer(500, "{}".to_owned()));
    }
    let answer = shop.order("ann", "k", &places(1)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "unavailable"));
}
