//! Counts every unit of an event in Redis and in DynamoDB, one by one. The only
//! part of the demo that looks behind the interface, when all is over.

use std::collections::{BTreeSet, HashMap};

use domain::{Epoch, Order, OrderState, Standing, TicketType, UnitId, UnitState};
use dynamo_store::{Consistency, PartitionCounts, UnitRecord};
use redis_store::{Inventory, Pointer, SeatRange};

use crate::demo::account::{Books, TypeBooks};
use crate::demo::hall::Hall;
use crate::error::ClientError;
use crate::stores::Stores;

/// What is known of one type.
#[derive(Debug)]
struct Findings {
    ticket_type: String,
    /// What the operator wants sold: the ceiling less what is withdrawn.
    capacity: u32,
    ceiling: u32,
    /// Every unit in Redis, by its index.
    states: Vec<UnitState>,
    /// Every unit item in DynamoDB.
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Item {
    /// Its index; none: the type has no such unit.
    index: Option<u32>,
    owner: Owner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A live order that has this unit.
    Order,
    /// A withdrawal that has this unit.
    Withdrawal,
    /// Nothing that has it.
    Nobody,
}

/// Reads both stores.
///
/// # Errors
/// When one can't be read.
pub async fn keep(hall: &Hall) -> Result<Vec<TypeBooks>, ClientError> {
    let event = &hall.sale.event;
    let Stores { catalog, orders, inventory, .. } = Stores::of(&hall.sale.world.stack);
    let Some(Pointer::Active(epoch)) = inventory.pointer(event).await? else {
        return Err(ClientError::NoInventory);
    };
    let types = catalog.ticket_types_list(event, Consistency::Strong).await?;
    let partitions = PartitionCounts::of(&types);
    let mut books = Vec::new();
    for ticket_type in &types {
        let units = orders.units_list(event, &ticket_type.id, &partitions).await?;
        let owners: Vec<_> = units.iter().map(|unit| unit.owner.clone()).collect();
        let owning = orders.orders_fetch(&owners).await?;
        let findings = Findings {
            ticket_type: ticket_type.id.to_string(),
            capacity: ticket_type.capacity,
            ceiling: ticket_type.ceiling,
            states: states(&inventory, hall, epoch, ticket_type).await?,
            items: items(hall, ticket_type, &units, &owning),
        };
        books.push(findings.sum_up());
    }
    Ok(books)
}

async fn states(
    inventory: &Inventory,
    hall: &Hall,
    epoch: Epoch,
    ticket_type: &TicketType,
) -> Result<Vec<UnitState>, ClientError> {
    let all =
        SeatRange { ticket_type: ticket_type.id.clone(), first: 0, count: ticket_type.ceiling };
    let snapshot = inventory.seat_states(&hall.sale.event, epoch, &[all]).await?;
    let snapshot = snapshot.ok_or(ClientError::NoInventory)?;
    Ok(snapshot.states.into_iter().flatten().collect())
}

fn items(
    hall: &Hall,
    ticket_type: &TicketType,
    units: &[UnitRecord],
    owning: &[Order],
) -> Vec<Item> {
    let orders: HashMap<_, &Order> = owning.iter().map(|order| (order.id, order)).collect();
    let item = |record: &UnitRecord| {
        let index = match &record.unit {
            UnitId::Serial(serial) => Some(*serial),
            UnitId::Seat(label) => hall.chart.index(label.as_str()),
        };
        let has = |order: &Order| {
            order
                .units()
                .any(|unit| unit.unit == &record.unit && unit.ticket_type == &ticket_type.id)
        };
        let owner = match orders.get(&record.owner.order) {
            Some(order) if order.state.standing() == Standing::Ended || !has(order) => {
                Owner::Nobody
            }
            Some(order) if order.state == OrderState::Withdrawn => Owner::Withdrawal,
            Some(_) => Owner::Order,
            None => Owner::Nobody,
        };
        Item { index: index.filter(|index| *index < ticket_type.ceiling), owner }
    };
    units.iter().map(item).collect()
}

impl Findings {
    fn sum_up(&self) -> TypeBooks {
        TypeBooks {
            ticket_type: self.ticket_type.clone(),
            capacity: self.capacity,
            redis: self.redis(),
            dynamodb: self.dynamodb(),
            disputed: self.disputed(),
        }
    }

    fn redis(&self) -> Books {
        let beyond = self.states.len().saturating_sub(self.ceiling as usize);
        Books {
            free: count(&self.states, UnitState::Free),
            held: count(&self.states, UnitState::Held),
            sold: count(&self.states, UnitState::Sold),
            strange: as_u32(beyond),
        }
    }

    fn dynamodb(&self) -> Books {
        let distinct: BTreeSet<u32> = self.items.iter().filter_map(|item| item.index).collect();
        let owned_by = |owner: Owner| {
            let is = |item: &&Item| item.owner == owner && item.index.is_some();
            as_u32(self.items.iter().filter(is).count())
        };
        let outside = self.items.iter().filter(|item| item.index.is_none()).count();
        Books {
            free: self.ceiling.saturating_sub(as_u32(distinct.len())),
            held: 0,
            sold: owned_by(Owner::Order),
            strange: owned_by(Owner::Nobody) + as_u32(outside),
        }
    }

    /// Units that are sold in one store only.
    fn disputed(&self) -> u32 {
        let durably: BTreeSet<u32> = self
            .items
            .iter()
            .filter(|item| item.owner == Owner::Order)
            .filter_map(|item| item.index)
            .collect();
        let quickly: BTreeSet<u32> = (0..)
            .zip(&self.states)
            .filter(|(_, state)| **state == UnitState::Sold)
            .map(|(index, _)| index)
            .collect();
        as_u32(durably.symmetric_difference(&quickly).count())
    }
}

fn count(states: &[UnitState], wanted: UnitState) -> u32 {
    as_u32(states.iter().filter(|state| **state == wanted).count())
}

fn as_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use UnitState::{Free, Held, Sold, Withdrawn};

    fn item(index: u32, owner: Owner) -> Item {
        Item { index: Some(index), owner }
    }

    /// Five units: two sold, one held, one withdrawn.
    fn clean() -> Findings {
        Findings {
            ticket_type: "floor".to_owned(),
            capacity: 4,
            ceiling: 5,
            states: vec![Sold, Sold, Held, Free, Withdrawn],
            items: vec![item(1, Owner::Order), item(0, Owner::Order), item(4, Owner::Withdrawal)],
        }
    }

    #[test]
    fn every_unit_is_counted_once_in_each_store() {
        let books = clean().sum_up();
        assert_eq!(books.capacity, 4);
        assert_eq!(books.redis, Books { free: 1, held: 1, sold: 2, strange: 0 });
        assert_eq!(books.dynamodb, Books { free: 2, held: 0, sold: 2, strange: 0 });
        assert!(books.redis.balance(4) && books.dynamodb.balance(4));
        assert_eq!(books.disputed, 0);
    }

    #[test]
    fn a_unit_of_nobody_or_of_no_type_unbalances_dynamodb() {
        for wrong in [item(3, Owner::Nobody), Item { index: None, owner: Owner::Order }] {
            let mut findings = clean();
            findings.items.push(wrong);
            assert!(!findings.sum_up().dynamodb.balance(4), "{wrong:?}");
        }
    }

    #[test]
    fn a_unit_that_is_missing_or_too_much_unbalances_redis() {
        let mut findings = clean();
        findings.states.remove(3);
        assert!(!findings.sum_up().redis.balance(4));
        findings.states.extend([Free, Withdrawn]);
        assert!(!findings.sum_up().redis.balance(4));
    }

    #[test]
    fn a_unit_that_one_store_alone_sold_is_disputed() {
        let mut findings = clean();
        findings.states[1] = Free;
        findings.states[3] = Sold;
        assert_eq!(findings.sum_up().disputed, 2);
    }
}
