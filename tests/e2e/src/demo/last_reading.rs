//! What the fans' own lists of orders say when all is over.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use contracts::orders::{OrderBody, OrderStateBody, OrdersBody};
use domain::{OrderId, OrderState, Standing};
use tokio::task::JoinSet;

use crate::demo::hall::Hall;
use crate::demo::ledger::{Outcome, Purchase};
use crate::demo::progress::Step;
use crate::error::ClientError;
use crate::identity::Person;

/// Every stored order of the event, as its owner lists it.
#[derive(Debug, Default)]
pub struct LastReading {
    orders: HashMap<OrderId, OrderState>,
    live: HashMap<String, usize>,
}

/// Reads the lists of all fans who tried to buy.
///
/// # Errors
/// When one can't be read.
pub async fn of(hall: &Arc<Hall>, people: Vec<Person>) -> Result<LastReading, ClientError> {
    let buyers: BTreeSet<String> =
        hall.purchases().into_iter().map(|purchase| purchase.customer).collect();
    let step = Step::begin("Orders are counted", buyers.len() as u64);
    let mut lists = JoinSet::new();
    for buyer in people.into_iter().filter(|person| buyers.contains(&person.id)) {
        lists.spawn(list(Arc::clone(hall), buyer));
    }
    let mut reading = LastReading::default();
    while let Some(list) = lists.join_next().await {
        if let Ok(list) = list {
            let (customer, orders) = list?;
            reading.add(customer, &orders);
        }
        step.advance();
    }
    Ok(reading)
}

async fn list(hall: Arc<Hall>, fan: Person) -> Result<(String, Vec<OrderBody>), ClientError> {
    let mut orders = Vec::new();
    let mut path = "/orders?limit=100".to_owned();
    loop {
        let get = hall.sale.world.api.get(&path).by(&fan);
        let page: OrdersBody = get.send_politely().await?.success()?.json()?;
        orders.extend(page.orders.into_iter().filter(|order| order.event == hall.sale.event));
        match page.next {
            Some(next) => path = format!("/orders?limit=100&next={next}"),
            None => return Ok((fan.id, orders)),
        }
    }
}

impl LastReading {
    fn add(&mut self, customer: String, orders: &[OrderBody]) {
        for order in orders {
            let OrderStateBody::Stored(state) = order.state else { continue };
            self.orders.insert(order.id, state);
            if state.standing() == Standing::Live {
                *self.live.entry(customer.clone()).or_default() += 1;
            }
        }
    }

    /// How many orders that own tickets each fan has.
    #[must_use]
    pub fn live_by_customer(&self) -> HashMap<String, usize> {
        self.live.clone()
    }

    /// The purchases, less those that were not paid in time.
    #[must_use]
    pub fn applied_to(&self, mut purchases: Vec<Purchase>) -> Vec<Purchase> {
        let has_expired = |order| self.orders.get(order) == Some(&OrderState::Expired);
        for purchase in &mut purchases {
            if purchase.orders.iter().any(has_expired) {
                purchase.outcome = Outcome::Expired;
            }
        }
        purchases
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::{Duration, Instant};

    #[test]
    fn who_did_not_pay_in_time_owns_nothing() {
        let order = |byte: u8, state: &str| -> OrderBody {
            serde_json::from_value(json!({
                "id": OrderId::from_bytes([byte; 16]), "event": "e", "state": state, "lines": [],
                "total": {"amount": 0, "currency": "TWD"}, "version": 1,
            }))
            .unwrap()
        };
        let mut reading = LastReading::default();
        reading.add("ada".to_owned(), &[order(1, "pending"), order(2, "expired")]);
        reading.add("bo".to_owned(), &[order(3, "rejected"), order(4, "queued")]);
        assert_eq!(reading.live_by_customer(), [("ada".to_owned(), 1)].into());
        let purchase = |byte: u8| Purchase {
            customer: "ada".to_owned(),
            wanted: 1,
            orders: [OrderId::from_bytes([byte; 16])].into(),
            sent_at: Instant::now(),
            outcome: Outcome::Persisted { units: vec![], after: Duration::ZERO },
        };
        let purchases = reading.applied_to(vec![purchase(1), purchase(2)]);
        assert!(matches!(purchases[0].outcome, Outcome::Persisted { .. }));
        assert_eq!(purchases[1].outcome, Outcome::Expired);
    }
}
