//! Loading an event's inventory under an epoch of its own.

use std::collections::HashSet;

use domain::{Epoch, Event, EventId, Order, Section, Standing, TicketType};
use dynamo_store::{Consistency, EpochRaised, PartitionCounts, UnitOwner};
use lambda_kit::http::Failure;
use redis_store::{LoadedCounts, LoadedOrder, Settle, Written};
use store_failures::OrFail;

use super::sync;
use crate::catalogue::{Catalogue, unknown_event};

/// Everything an inventory is made of, read after its building began: what is
/// edited from then on is written to Redis by whoever edits it.
struct Stock {
    event: Event,
    types: Vec<TicketType>,
    sections: Vec<Section>,
    orders: Vec<Order>,
}

/// Loads the inventory of an event that never sold anything, unless another load
/// begins after this one: then that one counts, and nothing here is of use.
pub(super) async fn load(catalogue: &Catalogue, event: &Event) -> Result<(), Failure> {
    let id = &event.id;
    let epoch = match catalogue.store.epoch_raise(event).await.or_fail()? {
        EpochRaised::Raised(epoch) => epoch,
        EpochRaised::Lost(_) => return Ok(()),
        EpochRaised::Missing => return Err(unknown_event()),
    };
    if !catalogue.inventory.build_begin(id, epoch).await.or_fail()? {
        return Ok(());
    }
    let is_first = event.epoch.0 == 0;
    let stock = Stock::read(catalogue, id, is_first).await?;
    if let Some(counts) = stock.write(catalogue, epoch).await? {
        catalogue.inventory.activate(id, epoch, counts).await.or_fail()?;
    }
    Ok(())
}

impl Stock {
    async fn read(catalogue: &Catalogue, id: &EventId, is_first: bool) -> Result<Self, Failure> {
        let event = catalogue.event(id).await?;
        let listed = catalogue.store.ticket_types_list(id, Consistency::Strong).await.or_fail()?;
        let ids: Vec<_> = listed.into_iter().map(|ticket_type| ticket_type.id).collect();
        let types = sync::settled_types(catalogue, id, &ids).await?;
        let sections = catalogue.store.sections_list(id, Consistency::Strong).await.or_fail()?;
        // Under the very first epoch nobody can own anything yet.
        let orders = match is_first {
            true => Vec::new(),
            false => live_orders(catalogue, id, &types).await?,
        };
        Ok(Self { event, types, sections, orders })
    }

    /// Writes it all under an epoch; what must be there then. None: overtaken.
    async fn write(
        &self,
        catalogue: &Catalogue,
        epoch: Epoch,
    ) -> Result<Option<LoadedCounts>, Failure> {
        let (inventory, id) = (&catalogue.inventory, &self.event.id);
        let sale = sync::sale_control(&self.event);
        let mut written = inventory.sale_set(id, epoch, &sale).await.or_fail()?;
        for ticket_type in &self.types {
            if written == Written::StaleEpoch {
                return Ok(None);
            }
            let control = sync::type_control(catalogue, id, ticket_type).await?;
            written = inventory.type_set(id, epoch, &control).await.or_fail()?;
        }
        for section in &self.sections {
            if written == Written::StaleEpoch {
                return Ok(None);
            }
            let seats: Vec<_> = section.labels().collect();
            let (ticket_type, first) = (&section.ticket_type, section.first);
            written = inventory.seats_add(id, epoch, ticket_type, first, &seats).await.or_fail()?;
        }
        if written == Written::StaleEpoch {
            return Ok(None);
        }
        let orders: Vec<LoadedOrder> = self.orders.iter().map(loaded_order).collect();
        let written = inventory.orders_load(id, epoch, &orders).await.or_fail()?;
        let units = self.orders.iter().map(|order| order.units().count() as u64).sum();
        let counts = LoadedCounts { units, orders: orders.len() as u64 };
        Ok((written != Written::StaleEpoch).then_some(counts))
    }
}

/// The orders that own units of these types. Before the first opening these are
/// withdrawals that an earlier load let through.
async fn live_orders(
    catalogue: &Catalogue,
    id: &EventId,
    types: &[TicketType],
) -> Result<Vec<Order>, Failure> {
    let partitions = PartitionCounts::of(types);
    let mut owners: HashSet<UnitOwner> = HashSet::new();
    for ticket_type in types {
        let units = catalogue.orders.units_list(id, &ticket_type.id, &partitions).await;
        owners.extend(units.or_fail()?.into_iter().map(|unit| unit.owner));
    }
    let owners: Vec<UnitOwner> = owners.into_iter().collect();
    let mut orders = catalogue.orders.orders_fetch(&owners).await.or_fail()?;
    orders.retain(|order| order.state.standing() == Standing::Live);
    Ok(orders)
}

fn loaded_order(order: &Order) -> LoadedOrder {
    LoadedOrder {
        order: order.id,
        customer: order.customer.key(),
        fingerprint: order.fingerprint,
        version: order.version,
        standing: Settle::of(order, order.epoch, true).standing,
        lines: order.lines.clone(),
    }
}
