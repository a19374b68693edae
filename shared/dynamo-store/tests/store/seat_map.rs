//! Sections: immutable, and side by side within their type.

use domain::{MAX_SEATS_PER_SECTION, Row, Section, SectionId, TicketKind, TicketType};
use dynamo_store::{CatalogStore, Consistency, SectionPut};
use futures::future::join_all;

use crate::given::{Stores, event_id, on_every_engine, ticket_type, type_id};

fn section(id: &str, first: u32, seats: usize) -> Section {
    let numbers: Vec<String> = (1..=seats).map(|number| number.to_string()).collect();
    let rows = numbers
        .chunks(50)
        .enumerate()
        .map(|(at, seats)| Row { row: format!("R{at}"), seats: seats.to_vec() });
    Section::new(SectionId::parse(id).unwrap(), type_id("stalls"), first, rows.collect()).unwrap()
}

/// The type with the section at its end.
fn grown(stalls: &TicketType, section: &Section) -> TicketType {
    TicketType {
        ceiling: section.first + section.seat_count(),
        capacity: stalls.capacity + section.seat_count(),
        version: stalls.version + 1,
        ..stalls.clone()
    }
}

async fn stalls(catalog: &CatalogStore) -> TicketType {
    let stalls = ticket_type("stalls", 1, TicketKind::ReservedSeating, 0);
    catalog.ticket_type_create(&event_id(), &stalls).await.unwrap();
    stalls
}

#[tokio::test]
async fn a_section_is_put_once_and_its_type_grows_by_it() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let stalls = stalls(&catalog).await;
        let a = section("A", 0, 120);
        let with_a = grown(&stalls, &a);
        let put = catalog.section_put(&id, &a, &with_a).await.unwrap();
        assert_eq!(put, SectionPut::Stored);
        let again = Section { first: 120, ..a.clone() };
        let put = catalog.section_put(&id, &again, &grown(&with_a, &again)).await.unwrap();
        assert_eq!(put, SectionPut::Same(a.clone()), "wherever the caller thinks it begins");
        let other = section("A", 120, 121);
        let put = catalog.section_put(&id, &other, &grown(&with_a, &other)).await.unwrap();
        assert_eq!(put, SectionPut::Conflict(a.clone()));

        let stored = catalog.ticket_type_fetch(&id, &stalls.id).await.unwrap();
        assert_eq!(stored, Some(with_a.clone()));
        assert_eq!(catalog.section_fetch(&id, &a.id).await.unwrap(), Some(a.clone()));
        assert_eq!(catalog.section_fetch(&id, &section("B", 0, 1).id).await.unwrap(), None);

        let b = section("B", 120, MAX_SEATS_PER_SECTION);
        let put = catalog.section_put(&id, &b, &grown(&with_a, &b)).await.unwrap();
        assert_eq!(put, SectionPut::Stored);
        let listed = catalog.sections_list(&id, Consistency::Strong).await.unwrap();
        assert_eq!(listed, [a, b]);
    })
    .await;
}

#[tokio::test]
async fn sections_put_at_once_never_share_a_unit() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let stalls = stalls(&catalog).await;
        let rivals: Vec<Section> = ["A", "B", "C", "D"].map(|id| section(id, 0, 10)).to_vec();
        let put = async |section: &Section| {
            catalog.section_put(&id, section, &grown(&stalls, section)).await.unwrap()
        };
        let outcomes = join_all(rivals.iter().map(put)).await;
        let stored = outcomes.iter().filter(|outcome| **outcome == SectionPut::Stored).count();
        let told = outcomes.iter().filter(|outcome| **outcome == SectionPut::VersionMismatch);
        assert_eq!((stored, told.count()), (1, 3));
        let listed = catalog.sections_list(&id, Consistency::Strong).await.unwrap();
        assert_eq!(listed.len(), 1);
        let stalls = catalog.ticket_type_fetch(&id, &stalls.id).await.unwrap().unwrap();
        assert_eq!((stalls.ceiling, stalls.capacity), (10, 10));
    })
    .await;
}

#[tokio::test]
async fn a_section_begins_where_its_type_ends() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let stalls = stalls(&catalog).await;
        let a = section("A", 0, 10);
        let with_a = grown(&stalls, &a);
        catalog.section_put(&id, &a, &with_a).await.unwrap();
        for first in [0, 9, 11] {
            let b = section("B", first, 10);
            let put = catalog.section_put(&id, &b, &grown(&with_a, &b)).await.unwrap();
            assert_eq!(put, SectionPut::VersionMismatch, "{first}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_section_of_no_type_is_not_stored() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let a = section("A", 0, 10);
        let nothing = ticket_type("stalls", 1, TicketKind::ReservedSeating, 0);
        let put = catalog.section_put(&id, &a, &grown(&nothing, &a)).await.unwrap();
        assert_eq!(put, SectionPut::VersionMismatch);
        assert_eq!(catalog.section_fetch(&id, &a.id).await.unwrap(), None);
    })
    .await;
}
