//! Persisting, refusing and reading orders.

use domain::{Order, Rejection, SeatLabel, UnitId};
use dynamo_store::{OrderStore, PageCursor, Persisted, Refused, StoreError, TakenUnit, UnitOwner};
use futures::future::join_all;
use test_support::dynamo::Dynamo;
use test_support::wire::Wire;

use crate::given::{
    self, PATIENT, Stores, line, on_every_engine, order, partitions, seats, serials,
};

fn owner(order: &Order) -> UnitOwner {
    UnitOwner { order: order.id, customer: order.customer.clone() }
}

fn taken(seat: &str, by: &Order) -> TakenUnit {
    TakenUnit { unit: given::seat(seat), owner: Some(owner(by)) }
}

async fn persist(orders: &OrderStore, order: &Order) -> Persisted {
    orders.order_persist(order, &partitions(), PATIENT).await.unwrap()
}

async fn owner_of(orders: &OrderStore, ticket_type: &str, unit: &UnitId) -> Option<UnitOwner> {
    let (event, ticket_type) = (given::event_id(), given::type_id(ticket_type));
    orders.unit_owner(&event, &ticket_type, unit, &partitions()).await.unwrap()
}

#[tokio::test]
async fn an_order_is_persisted_with_its_units() {
    on_every_engine(async |Stores { orders, .. }| {
        let order = order(
            "fan-1",
            vec![line("floor", serials([0, 7, 2_999])), line("stalls", seats(&["A-3-12"]))],
        );
        assert_eq!(persist(&orders, &order).await, Persisted::New);
        let read = orders.order_fetch(&order.customer, &order.id).await.unwrap();
        assert_eq!(read.as_ref(), Some(&order));
        let read = orders.order_fetch_by_key(&order.customer.key(), &order.id).await.unwrap();
        assert_eq!(read.as_ref(), Some(&order));
        for unit in order.units() {
            let owned_by = owner_of(&orders, unit.ticket_type.as_str(), unit.unit).await;
            assert_eq!(owned_by, Some(owner(&order)));
        }
        assert_eq!(owner_of(&orders, "floor", &UnitId::Serial(1)).await, None);
    })
    .await;
}

#[tokio::test]
async fn nobody_reaches_another_customers_order() {
    on_every_engine(async |Stores { orders, .. }| {
        let order = order("fan-1", vec![line("floor", serials([0]))]);
        persist(&orders, &order).await;
        let stranger = given::customer("fan-2");
        assert_eq!(orders.order_fetch(&stranger, &order.id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn one_unit_and_64_orders_at_once_make_one_sale() {
    on_every_engine(async |Stores { orders, .. }| {
        let rivals: Vec<Order> = (0..64)
            .map(|n| order(&format!("fan-{n}"), vec![line("stalls", seats(&["A-1-1"]))]))
            .collect();
        let outcomes = join_all(rivals.iter().map(|order| persist(&orders, order))).await;
        let won = |outcome: &Persisted| *outcome == Persisted::New;
        let winners: Vec<&Order> =
            rivals.iter().zip(&outcomes).filter(|(_, o)| won(o)).map(|(order, _)| order).collect();
        let [winner] = winners.as_slice() else { panic!("{} won", winners.len()) };
        assert_eq!(owner_of(&orders, "stalls", &given::seat("A-1-1")).await, Some(owner(winner)));
        for outcome in outcomes.iter().filter(|outcome| !won(outcome)) {
            assert_eq!(outcome, &Persisted::UnitsTaken(vec![taken("A-1-1", winner)]));
        }
        for order in &rivals {
            let stored = orders.order_fetch(&order.customer, &order.id).await.unwrap();
            assert_eq!(stored.is_some(), order.id == winner.id);
        }
    })
    .await;
}

#[tokio::test]
async fn another_items_condition_is_never_taken_for_a_duplicate() {
    on_every_engine(async |Stores { orders, .. }| {
        let first = order("fan-1", vec![line("stalls", seats(&["A-1-2"]))]);
        persist(&orders, &first).await;
        let second = order(
            "fan-2",
            vec![line("floor", serials([5])), line("stalls", seats(&["A-1-1", "A-1-2", "A-1-3"]))],
        );
        let outcome = persist(&orders, &second).await;
        assert_eq!(outcome, Persisted::UnitsTaken(vec![taken("A-1-2", &first)]));
        // All or nothing.
        assert_eq!(orders.order_fetch(&second.customer, &second.id).await.unwrap(), None);
        assert_eq!(owner_of(&orders, "floor", &UnitId::Serial(5)).await, None);
        assert_eq!(owner_of(&orders, "stalls", &given::seat("A-1-1")).await, None);
    })
    .await;
}

#[tokio::test]
async fn persisting_twice_finds_the_order_and_changes_nothing() {
    on_every_engine(async |Stores { orders, .. }| {
        let order =
            order("fan-1", vec![line("floor", serials([3, 4])), line("stalls", seats(&["A-1-1"]))]);
        assert_eq!(persist(&orders, &order).await, Persisted::New);
        // Again and again: items are maps, and their order on the wire differs.
        for _ in 0..20 {
            assert_eq!(persist(&orders, &order).await, Persisted::Present(order.clone()));
        }
    })
    .await;
}

#[tokio::test]
async fn a_refused_order_is_not_persisted_after_all() {
    on_every_engine(async |Stores { orders, .. }| {
        let refusal = given::refusal(given::intent("fan-1", "k"));
        assert_eq!(orders.order_refuse(&refusal).await.unwrap(), Refused::Stored);
        let late = order("fan-1", vec![line("floor", serials([0]))]);
        assert_eq!(persist(&orders, &late).await, Persisted::Present(refusal));
        assert_eq!(owner_of(&orders, "floor", &UnitId::Serial(0)).await, None);
    })
    .await;
}

#[tokio::test]
async fn the_first_decision_stands() {
    on_every_engine(async |Stores { orders, .. }| {
        let refusal = given::refusal(given::intent("fan-1", "k"));
        assert_eq!(orders.order_refuse(&refusal).await.unwrap(), Refused::Stored);
        assert_eq!(orders.order_refuse(&refusal).await.unwrap(), Refused::Stored, "repeated");
        let other = Order { rejection: Some(Rejection::HoldExpired), ..refusal.clone() };
        assert_eq!(
            orders.order_refuse(&other).await.unwrap(),
            Refused::Present(refusal.clone()),
            "the same refusal for another reason"
        );
        let pending = order("fan-2", vec![line("floor", serials([0]))]);
        persist(&orders, &pending).await;
        let refusal = given::refusal(given::intent("fan-2", "k"));
        assert_eq!(orders.order_refuse(&refusal).await.unwrap(), Refused::Present(pending));
    })
    .await;
}

#[tokio::test]
async fn of_many_refusals_and_a_sale_at_once_one_is_the_decision() {
    on_every_engine(async |Stores { orders, .. }| {
        let pending = order("fan-1", vec![line("floor", serials([0]))]);
        let refuse = async |n: u32| {
            let refusal = Order {
                rejection: Some(Rejection::OverLimit { ticket_type: None, limit: n }),
                ..given::refusal(given::intent("fan-1", "k"))
            };
            match orders.order_refuse(&refusal).await.unwrap() {
                Refused::Stored => (true, refusal),
                Refused::Present(present) => (false, present),
            }
        };
        let sell = async {
            match persist(&orders, &pending).await {
                Persisted::New => (true, pending.clone()),
                Persisted::Present(present) => (false, present),
                Persisted::UnitsTaken(taken) => panic!("{taken:?}"),
            }
        };
        let (mut answers, sold) = futures::join!(join_all((0..15).map(refuse)), sell);
        answers.push(sold);
        assert_eq!(answers.iter().filter(|(won, _)| *won).count(), 1);
        let decision = &answers[0].1;
        assert!(answers.iter().all(|(_, answer)| answer == decision));
        let stored = orders.order_fetch(&pending.customer, &pending.id).await.unwrap();
        assert_eq!(stored.as_ref(), Some(decision));
    })
    .await;
}

#[tokio::test]
async fn the_same_unit_name_elsewhere_is_another_unit() {
    on_every_engine(async |Stores { orders, .. }| {
        let here = order("fan-1", vec![line("floor", serials([0]))]);
        let mut there = order("fan-2", vec![line("floor", serials([0]))]);
        there.event = domain::EventId::parse("gala-2").unwrap();
        let other_type = order("fan-3", vec![line("stalls", serials([0]))]);
        for order in [&here, &there, &other_type] {
            assert_eq!(persist(&orders, order).await, Persisted::New);
        }
    })
    .await;
}

#[tokio::test]
async fn every_owned_unit_of_a_type_is_listed() {
    on_every_engine(async |Stores { orders, .. }| {
        let many = order("fan-1", vec![line("floor", serials(0..40))]);
        let seated = order("fan-2", vec![line("stalls", seats(&["A-1-1", "A-1-2"]))]);
        for order in [&many, &seated] {
            assert_eq!(persist(&orders, order).await, Persisted::New);
        }
        let list = async |ticket_type: &str| {
            let (event, ticket_type) = (given::event_id(), given::type_id(ticket_type));
            let mut units = orders.units_list(&event, &ticket_type, &partitions()).await.unwrap();
            units.sort_by(|a, b| a.unit.cmp(&b.unit));
            units
        };
        let units = list("floor").await;
        assert_eq!(units.len(), 40);
        let expected: Vec<UnitId> = serials(0..40);
        assert_eq!(units.iter().map(|unit| unit.unit.clone()).collect::<Vec<_>>(), expected);
        assert!(units.iter().all(|unit| unit.owner == owner(&many)));
        let units = list("stalls").await;
        assert!(units.iter().all(|unit| unit.owner == owner(&seated)) && units.len() == 2);
    })
    .await;
}

#[tokio::test]
async fn a_type_whose_partitions_are_unknown_is_no_place_for_a_unit() {
    let dynamo = Dynamo::start().await;
    let orders = Stores::on(&dynamo).orders;
    let order = order("fan-1", vec![line("balcony", serials([0]))]);
    let error = orders.order_persist(&order, &partitions(), PATIENT).await.unwrap_err();
    assert!(matches!(error, StoreError::Invalid(_)), "{error:?}");
}

#[tokio::test]
async fn own_orders_come_newest_first_page_by_page() {
    on_every_engine(async |Stores { orders, .. }| {
        let mut written = Vec::new();
        for n in 0..7 {
            let intent = given::intent("fan-1", &format!("key-{n}"));
            // Two at each instant: the id decides between them.
            let refusal = Order { created_at: given::at(n / 2), ..given::refusal(intent) };
            orders.order_refuse(&refusal).await.unwrap();
            written.push(refusal);
        }
        let other = given::refusal(given::intent("fan-2", "key-0"));
        orders.order_refuse(&other).await.unwrap();
        written.sort_by_key(|order| std::cmp::Reverse((order.created_at, order.id)));

        let customer = given::customer("fan-1");
        let mut read = Vec::new();
        let mut next = None;
        loop {
            let page = orders.orders_list(&customer, 3, next.as_ref()).await.unwrap();
            assert!(page.orders.len() <= 3);
            read.extend(page.orders);
            let Some(cursor) = page.next else { break };
            next = Some(PageCursor::parse(&cursor.to_string()).unwrap());
        }
        assert_eq!(read, written);
        let all = orders.orders_list(&customer, usize::MAX, None).await.unwrap();
        assert_eq!((all.orders.len(), all.next), (7, None));
        let none = orders.orders_list(&given::customer("fan-3"), 3, None).await.unwrap();
        assert_eq!((none.orders.len(), none.next), (0, None));
    })
    .await;
}

#[tokio::test]
async fn a_customer_with_megabytes_of_orders_is_listed_whole() {
    on_every_engine(async |Stores { orders, .. }| {
        let label = |n| SeatLabel::parse(&format!("{}-{n:02}-1", "x".repeat(59))).unwrap();
        let seats: Vec<SeatLabel> = (0..40).map(label).collect();
        let write = async |n: i64| {
            let refusal = Order {
                created_at: given::at(n),
                rejection: Some(Rejection::SeatTaken { seats: seats.clone() }),
                ..given::refusal(given::intent("fan-1", &format!("key-{n}")))
            };
            orders.order_refuse(&refusal).await.unwrap();
        };
        for begin in (0..450).step_by(50) {
            join_all((begin..begin + 50).map(write)).await;
        }
        let customer = given::customer("fan-1");
        let page = orders.orders_list(&customer, 1, None).await.unwrap();
        assert_eq!(page.orders[0].created_at, given::at(449));
        let mut count = 0;
        let mut next = None;
        loop {
            let page = orders.orders_list(&customer, 100, next.as_ref()).await.unwrap();
            count += page.orders.len();
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(count, 450);
    })
    .await;
}

#[tokio::test]
async fn orders_are_read_by_their_owners() {
    on_every_engine(async |Stores { orders, .. }| {
        let mut owners = Vec::new();
        for n in 0..120u32 {
            let refusal = given::refusal(given::intent(&format!("fan-{n}"), "k"));
            orders.order_refuse(&refusal).await.unwrap();
            owners.extend([owner(&refusal), owner(&refusal)]);
        }
        let missing = order("nobody", vec![]);
        owners.push(owner(&missing));
        let mut read = orders.orders_fetch(&owners).await.unwrap();
        read.sort_by_key(|order| order.id);
        read.dedup_by_key(|order| order.id);
        assert_eq!(read.len(), 120);
        assert_eq!(orders.orders_fetch(&[]).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_one_ticket_order_costs_four_write_units() {
    for dynamo in Dynamo::engines().await {
        assert_cheap(&dynamo).await;
    }
}

async fn assert_cheap(dynamo: &Dynamo) {
    let wire = Wire::new();
    let orders = Stores::new(&wire.over(&dynamo.sdk_config()), &dynamo.tables).orders;
    for order in [
        order("0b9f7cf4-6a6a-4b3e-9c7a-0d2f0e8d1a11", vec![line("floor", serials([0]))]),
        order(&"x".repeat(255), vec![line("stalls", seats(&["A-1-1"]))]),
    ] {
        assert_eq!(persist(&orders, &order).await, Persisted::New);
        orders.order_fetch(&order.customer, &order.id).await.unwrap();
        let sent = wire.take_sent();
        let written: f64 = sent.iter().map(|sent| sent.written).sum();
        let read: f64 = sent.iter().map(|sent| sent.read).sum();
        println!("a one-ticket order costs {written} write units, its receipt {read} read units");
        assert!((1.0..=4.0).contains(&written), "{written}");
        assert!((0.5..=1.0).contains(&read), "{read}");
    }
}
