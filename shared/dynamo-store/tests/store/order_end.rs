//! Ending orders: each unit comes back once, and only to whom it belonged.

use domain::{Order, OrderState, UnitId};
use dynamo_store::{Ended, OrderStore, Persisted, StoreError, UnitOwner};
use futures::future::join_all;

use crate::given::{
    self, PATIENT, Stores, line, on_every_engine, order, partitions, seats, serials,
};

async fn persisted(orders: &OrderStore, order: Order) -> Order {
    let outcome = orders.order_persist(&order, &partitions(), PATIENT).await.unwrap();
    assert_eq!(outcome, Persisted::New);
    order
}

async fn end(orders: &OrderStore, order: &Order, to: OrderState) -> Ended {
    orders.order_end(order, to, given::at(700), &partitions()).await.unwrap()
}

async fn owner_of(orders: &OrderStore, ticket_type: &str, unit: &UnitId) -> Option<UnitOwner> {
    let (event, ticket_type) = (given::event_id(), given::type_id(ticket_type));
    orders.unit_owner(&event, &ticket_type, unit, &partitions()).await.unwrap()
}

fn ended(order: &Order, to: OrderState) -> Order {
    Order { state: to, version: order.version + 1, updated_at: given::at(700), ..order.clone() }
}

/// An order whose lines name these units although it was persisted with the first
/// only: what a bug or a repair by hand would leave.
async fn with_foreign_units(orders: &OrderStore, customer: &str, units: Vec<UnitId>) -> Order {
    let mut order = order(customer, vec![line("floor", units[..1].to_vec())]);
    order = persisted(orders, order).await;
    order.lines[0].units = units;
    order
}

#[tokio::test]
async fn an_ended_order_gives_its_units_back() {
    on_every_engine(async |Stores { orders, .. }| {
        let lines = vec![line("floor", serials([0, 1, 2])), line("stalls", seats(&["A-1-1"]))];
        let order = persisted(&orders, order("fan-1", lines)).await;
        let expected = ended(&order, OrderState::Expired);
        assert_eq!(
            end(&orders, &order, OrderState::Expired).await,
            Ended::Ended { order: expected.clone(), foreign: vec![] }
        );
        let stored = orders.order_fetch(&order.customer, &order.id).await.unwrap();
        assert_eq!(stored, Some(expected), "and its lines stay readable");
        for unit in order.units() {
            assert_eq!(owner_of(&orders, unit.ticket_type.as_str(), unit.unit).await, None);
        }
    })
    .await;
}

#[tokio::test]
async fn a_unit_comes_back_once_however_often_its_order_ends() {
    on_every_engine(async |Stores { orders, .. }| {
        let first = persisted(&orders, order("fan-1", vec![line("floor", serials([0]))])).await;
        end(&orders, &first, OrderState::Expired).await;
        let second = persisted(&orders, order("fan-2", vec![line("floor", serials([0]))])).await;
        // The old end again, from what was read before it and from what is there now.
        let now = ended(&first, OrderState::Expired);
        for (as_read, to) in [(&first, OrderState::Expired), (&first, OrderState::Cancelled)] {
            assert_eq!(end(&orders, as_read, to).await, Ended::Lost(now.clone()));
        }
        assert_eq!(end(&orders, &now, OrderState::Cancelled).await, Ended::Lost(now.clone()));
        let owner = owner_of(&orders, "floor", &UnitId::Serial(0)).await.unwrap();
        assert_eq!(owner.order, second.id);
    })
    .await;
}

#[tokio::test]
async fn of_all_that_end_an_order_at_once_one_wins() {
    on_every_engine(async |Stores { orders, .. }| {
        let order = persisted(&orders, order("fan-1", vec![line("floor", serials(0..4))])).await;
        let states = [OrderState::Expired, OrderState::Cancelled];
        let races = (0..16).map(|n| end(&orders, &order, states[n % 2]));
        let outcomes = join_all(races).await;
        let winners: Vec<&Order> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Ended::Ended { order, .. } => Some(order),
                Ended::Lost(_) | Ended::Missing => None,
            })
            .collect();
        let [winner] = winners.as_slice() else { panic!("{} won", winners.len()) };
        for outcome in &outcomes {
            if let Ended::Lost(read) = outcome {
                assert_eq!(&read, winner, "a loser reads the winner's result");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn another_orders_unit_stays_with_it_and_keeps_nothing_from_ending() {
    on_every_engine(async |Stores { orders, .. }| {
        let other = persisted(&orders, order("fan-2", vec![line("floor", serials([1]))])).await;
        let order = with_foreign_units(&orders, "fan-1", serials([0, 1, 2])).await;
        let floor = given::type_id("floor");
        assert_eq!(
            end(&orders, &order, OrderState::Expired).await,
            Ended::Ended {
                order: ended(&order, OrderState::Expired),
                foreign: vec![(floor.clone(), UnitId::Serial(1)), (floor, UnitId::Serial(2))],
            }
        );
        assert_eq!(owner_of(&orders, "floor", &UnitId::Serial(0)).await, None);
        let owner = owner_of(&orders, "floor", &UnitId::Serial(1)).await.unwrap();
        assert_eq!(owner.order, other.id);
    })
    .await;
}

#[tokio::test]
async fn an_order_that_owns_nothing_ends_all_the_same() {
    on_every_engine(async |Stores { orders, .. }| {
        let mut order = persisted(&orders, order("fan-1", vec![])).await;
        order.lines = vec![line("floor", serials(0..40))];
        let outcome = end(&orders, &order, OrderState::Expired).await;
        let Ended::Ended { foreign, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(foreign.len(), 40);
    })
    .await;
}

#[tokio::test]
async fn an_order_that_is_not_there_does_not_end() {
    on_every_engine(async |Stores { orders, .. }| {
        let order = order("fan-1", vec![line("floor", serials([0]))]);
        assert_eq!(end(&orders, &order, OrderState::Expired).await, Ended::Missing);
        assert_eq!(orders.order_fetch(&order.customer, &order.id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_changed_order_is_not_ended_from_an_old_reading() {
    on_every_engine(async |Stores { orders, .. }| {
        let stored = Order { version: 2, ..order("fan-1", vec![line("floor", serials([0]))]) };
        let stored = persisted(&orders, stored).await;
        let old = Order { version: 1, ..stored.clone() };
        assert_eq!(end(&orders, &old, OrderState::Expired).await, Ended::Lost(stored.clone()));
        let other_state = Order { state: OrderState::Paid, ..stored.clone() };
        assert_eq!(end(&orders, &other_state, OrderState::Refunded).await, Ended::Lost(stored));
        assert!(owner_of(&orders, "floor", &UnitId::Serial(0)).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn a_state_that_owns_units_ends_no_order() {
    on_every_engine(async |Stores { orders, .. }| {
        let order = persisted(&orders, order("fan-1", vec![line("floor", serials([0]))])).await;
        for to in [OrderState::Pending, OrderState::Paid, OrderState::Withdrawn] {
            let result = orders.order_end(&order, to, given::at(700), &partitions()).await;
            assert!(matches!(result, Err(StoreError::Invalid(_))), "{result:?}");
        }
    })
    .await;
}
