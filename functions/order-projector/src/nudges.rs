//! Who is told about changed orders: pure.

use std::collections::BTreeSet;

use contracts::messages::LiveUpdate;
use domain::{EventId, Order, OrderState, Rejection};

/// An order that changed.
#[derive(Debug, Clone, Copy)]
pub struct Changed<'a> {
    /// The order.
    pub order: &'a Order,
    /// Redis knows that it was refused before it held anything.
    pub never_held: bool,
}

/// The updates for a batch of changed orders: each event's watchers are nudged
/// once, and each owner learns what they do not know yet.
#[must_use]
pub fn nudges<'a>(changed: impl IntoIterator<Item = Changed<'a>>) -> Vec<LiveUpdate> {
    let mut moved: BTreeSet<&EventId> = BTreeSet::new();
    let mut updates = Vec::new();
    for Changed { order, .. } in changed.into_iter().filter(|changed| !was_told_at_once(changed)) {
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
/// and was created then. And where two requests had one key, one of them may have been
/// told that it holds something before the other one's refusal was stored: B23. (Who is
/// told so after this was looked at learns the end when it reads its order.)
fn was_told_at_once(Changed { order, never_held }: &Changed<'_>) -> bool {
    match &order.rejection {
        Some(
            Rejection::SoldOut { .. } | Rejection::SeatTaken { .. } | Rejection::OverLimit { .. },
        ) => *never_held && order.created_at == order.updated_at,
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

    /// As Redis does who never heard of them.
    fn nudges_of(orders: &[Order]) -> Vec<LiveUpdate> {
        nudges(orders.iter().map(|order| Changed { order, never_held: true }))
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
        let updates = nudges_of(&orders.collect::<Vec<_>>());
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
            let order = refusal(1, "a", rejection);
            assert_eq!(nudges_of(std::slice::from_ref(&order)), []);
            // Another request with its key was told of a hold.
            assert_eq!(nudges([Changed { order: &order, never_held: false }]).len(), 2);
        }
        let after_a_hold = Order {
            created_at: Timestamp::UNIX_EPOCH - jiff::SignedDuration::from_secs(1),
            ..refusal(1, "a", Rejection::SeatTaken { seats })
        };
        assert_eq!(nudges_of(&[after_a_hold]).len(), 2);
        assert_eq!(nudges_of(&[refusal(1, "a", Rejection::HoldExpired)]).len(), 2);
    }

    #[test]
    fn a_withdrawal_has_no_owner_to_tell() {
        let updates = nudges_of(&[order(1, "a", OrderState::Withdrawn)]);
        assert_eq!(updates, [LiveUpdate::tick(&EventId::parse("a").unwrap())]);
    }
}
