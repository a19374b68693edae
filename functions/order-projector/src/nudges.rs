//! Who is told about changed orders: pure.

use std::collections::BTreeSet;

use contracts::messages::LiveUpdate;
use domain::{EventId, Order, OrderState, Rejection};

/// The updates for a batch of changed orders: each event's watchers are nudged
/// once, and each owner learns what they do not know yet.
#[must_use]
pub fn nudges<'a>(changed: impl IntoIterator<Item = &'a Order>) -> Vec<LiveUpdate> {
    let mut moved: BTreeSet<&EventId> = BTreeSet::new();
    let mut updates = Vec::new();
    for order in changed.into_iter().filter(|order| !was_told_at_once(order)) {
        moved.insert(&order.event);
        if order.state != OrderState::Withdrawn {
            updates.push(LiveUpdate::order(order));
        }
    }
    updates.extend(moved.into_iter().map(LiveUpdate::tick));
    updates
}

/// Refused before it held anything: the fan has the answer, and no unit moved. A
/// sold-out event has a million of these. What persistence refuses was held first,
/// and was created then.
fn was_told_at_once(order: &Order) -> bool {
    match &order.rejection {
        Some(
            Rejection::SoldOut { .. } | Rejection::SeatTaken { .. } | Rejection::OverLimit { .. },
        ) => order.created_at == order.updated_at,
        Some(Rejection::HoldExpired | Rejection::Recovery | Rejection::Unprocessable) | None => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{
        Currency, CustomerId, Epoch, Fingerprint, Intent, OrderId, SeatLabel, TicketTypeId,
    };
    use jiff::Timestamp;

    fn refusal(number: u8, event: &str, rejection: Rejection) -> Order {
        let intent = Intent {
            order: OrderId::from_bytes([number; 16]),
            customer: CustomerId::parse("fan").unwrap(),
            event: EventId::parse(event).unwrap(),
            fingerprint: Fingerprint([0; 32]),
        };
        let currency = Currency::parse("TWD").unwrap();
        Order::refusal(intent, Epoch(1), rejection, currency, Timestamp::UNIX_EPOCH)
    }

    fn order(number: u8, event: &str, state: OrderState) -> Order {
        Order { state, rejection: None, ..refusal(number, event, Rejection::HoldExpired) }
    }

    fn ticks(updates: &[LiveUpdate]) -> Vec<&str> {
        updates
            .iter()
            .filter_map(|update| match update {
                LiveUpdate::Tick { event, .. } => Some(event.as_str()),
                LiveUpdate::Order { .. } => None,
            })
            .collect()
    }

    #[test]
    fn an_event_is_nudged_once_however_many_orders_changed() {
        let orders = [1, 2, 3]
            .map(|number| order(number, "a", OrderState::Pending))
            .into_iter()
            .chain([4].map(|number| order(number, "b", OrderState::Expired)));
        let updates = nudges(&orders.collect::<Vec<_>>());
        assert_eq!(ticks(&updates), ["a", "b"]);
        assert_eq!(updates.len(), 4 + 2, "each owner is told besides");
    }

    #[test]
    fn a_refusal_told_at_once_nudges_nobody() {
        let floor = TicketTypeId::parse("floor").unwrap();
        let seats = vec![SeatLabel::parse("A-1-1").unwrap()];
        for rejection in [
            Rejection::SoldOut { ticket_type: floor.clone() },
            Rejection::SeatTaken { seats: seats.clone() },
            Rejection::OverLimit { ticket_type: Some(floor), limit: 4 },
        ] {
            assert_eq!(nudges(&[refusal(1, "a", rejection)]), []);
        }
        let after_a_hold = Order {
            created_at: Timestamp::UNIX_EPOCH - jiff::SignedDuration::from_secs(1),
            ..refusal(1, "a", Rejection::SeatTaken { seats })
        };
        assert_eq!(nudges(&[after_a_hold]).len(), 2);
        assert_eq!(nudges(&[refusal(1, "a", Rejection::HoldExpired)]).len(), 2);
    }

    #[test]
    fn a_withdrawal_has_no_owner_to_tell() {
        let updates = nudges(&[order(1, "a", OrderState::Withdrawn)]);
        assert_eq!(updates, [LiveUpdate::tick(&EventId::parse("a").unwrap())]);
    }
}
