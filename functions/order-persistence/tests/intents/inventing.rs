//! Units that the event does not have are nobody's, whoever wrote the intent.

use contracts::messages::OrderIntent;
use domain::{OrderState, Row, SeatLabel, Section, SectionId, TicketType, UnitId};
use dynamo_store::{SectionPut, TicketTypeUpdated};
use test_sale::{kind, places, seat, seats, show};

use crate::desk::Desk;

/// An intent that Redis holds nothing for, of these units.
fn forged(intent: &OrderIntent, fan: &str, ticket_type: &str, units: Vec<UnitId>) -> OrderIntent {
    let line = match ticket_type {
        "floor" => places(1),
        _ => seats([0]),
    };
    let of = test_sale::intent(fan, "forged", &[line]);
    let mut forged = OrderIntent {
        order: of.order,
        customer: of.customer,
        fingerprint: of.fingerprint,
        ..intent.clone()
    };
    forged.lines[0].ticket_type = kind(ticket_type);
    forged.lines[0].units = units;
    forged
}

fn label(text: &str) -> UnitId {
    UnitId::Seat(SeatLabel::parse(text).unwrap())
}

/// A floor of 50 places and stalls of four seats; ann has a place.
async fn small() -> (Desk, OrderIntent) {
    let desk = Desk::of(50, 4).await;
    let intent = desk.sale.hold("ann", "k", vec![places(1)]).await;
    assert!(desk.batch(std::slice::from_ref(&intent)).await.is_empty());
    (desk, intent)
}

/// Whoever reads the dead letters ends its order.
async fn is_buried(desk: &Desk, intent: &OrderIntent, detail: &str) {
    for _ in 0..2 {
        assert!(desk.batch(std::slice::from_ref(intent)).await.is_empty());
        let stored = desk.sale.stored(intent.customer.as_str(), &intent.order).await;
        assert_eq!(stored, None);
        let buried = desk.dead_letters.take_sent();
        assert_eq!(buried.len(), 1);
        assert_eq!(buried[0].attributes["reason"], "unwritable");
        let told = &buried[0].attributes["detail"];
        assert!(told.contains(detail), "{told}");
    }
}

#[tokio::test]
async fn a_unit_that_the_event_does_not_have_is_never_owned() {
    let (desk, intent) = small().await;
    let of =
        |ticket_type: &str, unit: &str| format!("ticket type {ticket_type} has no unit {unit}");
    for (number, (ticket_type, unit, reason)) in [
        ("floor", UnitId::Serial(999_999), of("floor", "999999")),
        ("floor", UnitId::Serial(50), of("floor", "50")),
        ("floor", label("A-1-0"), of("floor", "A-1-0")),
        ("stalls", label("Z-9-9"), of("stalls", "Z-9-9")),
        ("stalls", label("A-1-4"), of("stalls", "A-1-4")),
        ("stalls", label("A-2-1"), of("stalls", "A-2-1")),
        ("stalls", UnitId::Serial(0), of("stalls", "0")),
        ("nosuch", UnitId::Serial(0), "there is no ticket type nosuch".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        let forged = forged(&intent, &format!("fan-{number}"), ticket_type, vec![unit]);
        is_buried(&desk, &forged, &reason).await;
    }
    // Among others that are there, too.
    let units = vec![UnitId::Serial(7), UnitId::Serial(50)];
    is_buried(&desk, &forged(&intent, "ben", "floor", units), &of("floor", "50")).await;
    assert_eq!((desk.sale.owned("floor").await, desk.sale.owned("stalls").await), (1, 0));
    assert_eq!((desk.counts("floor").await, desk.counts("stalls").await), ((0, 1, 49), (0, 0, 4)));

    // The last of each is one.
    for (ticket_type, unit) in [("floor", UnitId::Serial(49)), ("stalls", UnitId::Seat(seat(3)))] {
        let last = forged(&intent, ticket_type, ticket_type, vec![unit]);
        assert!(desk.batch(std::slice::from_ref(&last)).await.is_empty());
        assert_eq!(desk.order(&last).await.state, OrderState::Pending);
    }
}

#[tokio::test]
async fn units_that_came_after_the_first_look_are_found() {
    let (desk, intent) = small().await;
    let (catalog, event) = (&desk.sale.catalog, show());
    // Asked for before they are there, by one who is refused for it.
    is_buried(
        &desk,
        &forged(&intent, "early", "stalls", vec![label("B-1-1")]),
        "ticket type stalls has no unit B-1-1",
    )
    .await;

    let floor = catalog.ticket_type_fetch(&event, &kind("floor")).await.unwrap().unwrap();
    let larger = TicketType { version: floor.version + 1, ceiling: 60, capacity: 60, ..floor };
    let updated = catalog.ticket_type_update(&event, &larger).await.unwrap();
    assert_eq!(updated, TicketTypeUpdated::Updated);
    let stalls = catalog.ticket_type_fetch(&event, &kind("stalls")).await.unwrap().unwrap();
    let rows = vec![Row { row: "1".to_owned(), seats: vec!["1".to_owned()] }];
    let section = Section::new(SectionId::parse("B").unwrap(), kind("stalls"), 4, rows).unwrap();
    let grown = TicketType { version: stalls.version + 1, ceiling: 5, capacity: 5, ..stalls };
    let put = catalog.section_put(&event, &section, &grown).await.unwrap();
    assert_eq!(put, SectionPut::Stored);

    for (ticket_type, unit) in [("floor", UnitId::Serial(59)), ("stalls", label("B-1-1"))] {
        let late = forged(&intent, ticket_type, ticket_type, vec![unit]);
        assert!(desk.batch(std::slice::from_ref(&late)).await.is_empty());
        assert_eq!(desk.order(&late).await.state, OrderState::Pending);
    }
    let beyond = forged(&intent, "beyond", "floor", vec![UnitId::Serial(60)]);
    is_buried(&desk, &beyond, "ticket type floor has no unit 60").await;
}
