//! Events, ticket types, marks, withdrawals, queue settings and keys.

use std::collections::BTreeSet;

use domain::{
    Epoch, Event, Line, Money, OrderId, QueueSettings, SaleCommand, SaleSwitch, SeatLabel,
    TicketKind, TicketType, Wanted, WithdrawalId,
};
use dynamo_store::{
    CapacityWritten, Consistency, EpochRaised, EventActivated, EventCreated, EventUpdated,
    GenerationRaised, QueuePut, QueueRecord, SaleCommanded, StoredKey, TicketTypeCreated,
    TicketTypeResized, TicketTypeUpdated, Withdrawal, WithdrawalCreated, WithdrawalState,
    WithdrawalUpdated,
};
use futures::future::join_all;

use crate::given::{
    Stores, command, event, event_id, on_every_engine, opened, ticket_type, type_id,
};

#[tokio::test]
async fn an_event_is_created_once() {
    on_every_engine(async |Stores { catalog, .. }| {
        let event = event();
        let fetch = |consistency| catalog.event_fetch(&event.id, consistency);
        assert_eq!(fetch(Consistency::Strong).await.unwrap(), None);
        assert_eq!(catalog.event_create(&event).await.unwrap(), EventCreated::Created);
        let again = catalog.event_create(&event).await.unwrap();
        assert_eq!(again, EventCreated::Exists(event.clone()), "of the same content, too");
        let other = Event { title: "Other".to_owned(), ..event.clone() };
        assert_eq!(
            catalog.event_create(&other).await.unwrap(),
            EventCreated::Exists(event.clone())
        );
        assert_eq!(fetch(Consistency::Strong).await.unwrap(), Some(event.clone()));
        assert_eq!(fetch(Consistency::Eventual).await.unwrap(), Some(event.clone()));
    })
    .await;
}

#[tokio::test]
async fn of_two_operators_who_edit_at_once_one_is_told_so() {
    on_every_engine(async |Stores { catalog, .. }| {
        let event = event();
        catalog.event_create(&event).await.unwrap();
        let edit = |title: &str| Event { title: title.to_owned(), version: 2, ..event.clone() };
        let edits = [edit("one"), edit("two"), edit("three")];
        let outcomes = join_all(edits.iter().map(|edit| catalog.event_update(edit))).await;
        let stored = catalog.event_fetch(&event.id, Consistency::Strong).await.unwrap().unwrap();
        for (edit, outcome) in edits.iter().zip(outcomes) {
            let expected = match *edit == stored {
                true => EventUpdated::Updated,
                false => EventUpdated::VersionMismatch(stored.clone()),
            };
            assert_eq!(outcome.unwrap(), expected);
        }
        assert_eq!(catalog.event_update(&stored).await.unwrap(), EventUpdated::Updated, "repeated");
    })
    .await;
}

#[tokio::test]
async fn an_edit_replaces_every_detail() {
    on_every_engine(async |Stores { catalog, .. }| {
        let mut event = Event { limit_per_customer: Some(4), ..event() };
        catalog.event_create(&event).await.unwrap();
        event.switch = SaleSwitch::Closed;
        event.limit_per_customer = None;
        event.time_zone = "UTC".to_owned();
        event.version = 2;
        assert_eq!(catalog.event_update(&event).await.unwrap(), EventUpdated::Updated);
        let stored = catalog.event_fetch(&event.id, Consistency::Strong).await.unwrap();
        assert_eq!(stored, Some(event));
    })
    .await;
}

#[tokio::test]
async fn a_command_is_carried_out_once_and_its_key_known_for_ever() {
    on_every_engine(async |Stores { catalog, .. }| {
        catalog.event_create(&event()).await.unwrap();
        let open = command("open-1");
        let id = event_id();
        let fetch = || catalog.sale_command_fetch(&id, &open);
        assert_eq!(fetch().await.unwrap(), None);
        let late = catalog.sale_command_put(&opened(3), &open).await.unwrap();
        assert_eq!(late, SaleCommanded::VersionMismatch);
        assert_eq!(fetch().await.unwrap(), None, "nothing was written");
        let first = catalog.sale_command_put(&opened(2), &open).await.unwrap();
        assert_eq!(first, SaleCommanded::New);
        assert_eq!(fetch().await.unwrap(), Some(SaleSwitch::Open));

        let paused = Event { switch: SaleSwitch::Paused, ..opened(3) };
        let pause = SaleCommand { switch: SaleSwitch::Paused, ..command("pause-1") };
        catalog.sale_command_put(&paused, &pause).await.unwrap();
        for (again, version) in [(open, 2), (open, 4), (SaleCommand { key: open.key, ..pause }, 4)]
        {
            let again = catalog.sale_command_put(&opened(version), &again).await.unwrap();
            assert_eq!(again, SaleCommanded::Before(SaleSwitch::Open));
        }
        let stored = catalog.event_fetch(&id, Consistency::Strong).await.unwrap();
        assert_eq!(stored, Some(paused));
    })
    .await;
}

#[tokio::test]
async fn of_many_commands_at_once_each_is_carried_out_or_told_of_the_others() {
    on_every_engine(async |Stores { catalog, .. }| {
        catalog.event_create(&event()).await.unwrap();
        let commands: Vec<_> = (0..8).map(|n| command(&format!("open-{n}"))).collect();
        let opened = opened(2);
        let puts = commands.iter().map(|command| catalog.sale_command_put(&opened, command));
        let outcomes: Vec<_> = join_all(puts).await.into_iter().map(Result::unwrap).collect();
        let new = outcomes.iter().filter(|outcome| **outcome == SaleCommanded::New).count();
        let late = outcomes.iter().filter(|&&o| o == SaleCommanded::VersionMismatch).count();
        assert_eq!((new, late), (1, 7), "{outcomes:?}");
    })
    .await;
}

#[tokio::test]
async fn an_edit_never_undoes_what_a_recovery_wrote() {
    on_every_engine(async |Stores { catalog, .. }| {
        let before = event();
        let id = event_id();
        catalog.event_create(&before).await.unwrap();
        let raised = catalog.epoch_raise(&before).await.unwrap();
        assert_eq!(raised, EpochRaised::Raised(Epoch(1)));
        assert_eq!(catalog.event_activate(&id, Epoch(1)).await.unwrap(), EventActivated::Activated);
        let edit = Event { title: "New".to_owned(), version: 2, ..before };
        assert_eq!(catalog.event_update(&edit).await.unwrap(), EventUpdated::Updated);
        let stored = catalog.event_fetch(&id, Consistency::Strong).await.unwrap().unwrap();
        assert_eq!((stored.epoch, stored.activated), (Epoch(1), true));
        assert_eq!(stored.title, "New");
    })
    .await;
}

#[tokio::test]
async fn what_is_missing_is_not_made_by_an_edit() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let edit = Event { version: 2, ..event() };
        assert_eq!(catalog.event_update(&edit).await.unwrap(), EventUpdated::Missing);
        let commanded = catalog.sale_command_put(&opened(2), &command("k")).await.unwrap();
        assert_eq!(commanded, SaleCommanded::VersionMismatch);
        assert_eq!(catalog.epoch_raise(&edit).await.unwrap(), EpochRaised::Missing);
        assert_eq!(
            catalog.event_activate(&id, Epoch(0)).await.unwrap(),
            EventActivated::Superseded
        );
        assert_eq!(catalog.event_fetch(&id, Consistency::Strong).await.unwrap(), None);
        let floor = ticket_type("floor", 1, TicketKind::GeneralAdmission, 600);
        assert_eq!(
            catalog.ticket_type_update(&id, &floor).await.unwrap(),
            TicketTypeUpdated::Missing
        );
        assert_eq!(catalog.ticket_types_list(&id, Consistency::Strong).await.unwrap(), []);
        let raised = catalog.queue_generation_raise(&id, 0).await.unwrap();
        assert_eq!(raised, GenerationRaised::Lost(0));
        assert_eq!(catalog.queue_fetch(&id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn who_saw_an_event_before_it_sold_builds_nothing_once_it_does() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        catalog.event_create(&event()).await.unwrap();
        catalog.epoch_raise(&event()).await.unwrap();
        let loading = catalog.event_fetch(&id, Consistency::Strong).await.unwrap().unwrap();
        catalog.event_activate(&id, Epoch(1)).await.unwrap();
        let late = catalog.epoch_raise(&loading).await.unwrap();
        assert_eq!(late, EpochRaised::Lost(Epoch(1)), "the same epoch, and a sale");
        let stored = catalog.event_fetch(&id, Consistency::Strong).await.unwrap().unwrap();
        assert_eq!((stored.epoch, stored.activated), (Epoch(1), true));
        let raised = catalog.epoch_raise(&stored).await.unwrap();
        assert_eq!(raised, EpochRaised::Raised(Epoch(2)), "who knows of the sale may");
    })
    .await;
}

#[tokio::test]
async fn each_attempt_to_build_an_inventory_gets_its_own_epoch() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let unsold = event();
        catalog.event_create(&unsold).await.unwrap();
        let raises = (0..16).map(|_| catalog.epoch_raise(&unsold));
        let outcomes: Vec<EpochRaised> =
            join_all(raises).await.into_iter().map(Result::unwrap).collect();
        let raised = |outcome: &&EpochRaised| **outcome == EpochRaised::Raised(Epoch(1));
        assert_eq!(outcomes.iter().filter(raised).count(), 1);
        let lost = |outcome: &&EpochRaised| **outcome == EpochRaised::Lost(Epoch(1));
        assert_eq!(outcomes.iter().filter(lost).count(), 15);

        let unsold = Event { epoch: Epoch(1), ..unsold };
        catalog.epoch_raise(&unsold).await.unwrap();
        let outcome = catalog.event_activate(&id, Epoch(1)).await.unwrap();
        assert_eq!(outcome, EventActivated::Superseded, "the slower one can't activate");
        let stored = catalog.event_fetch(&id, Consistency::Strong).await.unwrap().unwrap();
        assert_eq!((stored.epoch, stored.activated), (Epoch(2), false));
    })
    .await;
}

#[tokio::test]
async fn a_ticket_type_is_created_once_with_an_index_of_its_own() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let kind = TicketKind::GeneralAdmission;
        let rivals: Vec<TicketType> =
            ["a", "b", "c"].map(|name| ticket_type(name, 7, kind, 600)).to_vec();
        let create = |one| catalog.ticket_type_create(&id, one);
        // Two transactions on one item: on AWS one may be told of the conflict, and repeats.
        let outcomes: Vec<TicketTypeCreated> =
            join_all(rivals.iter().map(create)).await.into_iter().map(Result::unwrap).collect();
        let created = outcomes.iter().filter(|o| **o == TicketTypeCreated::Created).count();
        let taken = outcomes.iter().filter(|o| **o == TicketTypeCreated::IndexTaken).count();
        assert_eq!((created, taken), (1, 2));

        let first = ticket_type("z", 1, TicketKind::ReservedSeating, 0);
        assert_eq!(create(&first).await.unwrap(), TicketTypeCreated::Created);
        let again = create(&first).await.unwrap();
        assert_eq!(again, TicketTypeCreated::Exists(first.clone()), "of the same content, too");
        let other = TicketType { index: 9, ..first.clone() };
        assert_eq!(create(&other).await.unwrap(), TicketTypeCreated::Exists(first.clone()));

        let types = catalog.ticket_types_list(&id, Consistency::Strong).await.unwrap();
        assert_eq!(types.iter().map(|one| one.index).collect::<Vec<_>>(), [1, 7]);
        assert_eq!(types[0], first);
        assert_eq!(catalog.ticket_type_fetch(&id, &first.id).await.unwrap(), Some(first));
        assert_eq!(catalog.ticket_type_fetch(&id, &type_id("y")).await.unwrap(), None);
        let asked = [types[1].id.clone(), type_id("y"), types[0].id.clone()];
        let settled = catalog.ticket_types_settled(&id, &asked).await.unwrap();
        assert_eq!(settled, [types[1].clone(), types[0].clone()]);
        assert_eq!(catalog.ticket_types_settled(&id, &[]).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_ticket_type_keeps_its_shape_and_its_ceiling() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let floor = ticket_type("floor", 1, TicketKind::GeneralAdmission, 3_000);
        catalog.ticket_type_create(&id, &floor).await.unwrap();
        let edited = TicketType {
            name: "Standing".to_owned(),
            price: Money { amount: 9_900, ..floor.price },
            limit_per_customer: None,
            ceiling: 5_000,
            capacity: 4_000,
            version: 2,
            ..floor.clone()
        };
        let misshapen = TicketType {
            partitions: 99,
            index: 99,
            kind: TicketKind::ReservedSeating,
            ..edited.clone()
        };
        let outcome = catalog.ticket_type_update(&id, &misshapen).await.unwrap();
        assert_eq!(outcome, TicketTypeUpdated::Updated);
        let stored = catalog.ticket_type_fetch(&id, &floor.id).await.unwrap();
        assert_eq!(stored, Some(edited.clone()), "partitions, index and kind stay");

        let outcome = catalog.ticket_type_update(&id, &edited).await.unwrap();
        assert_eq!(outcome, TicketTypeUpdated::Updated, "repeated");
        let late = TicketType { name: "Late".to_owned(), version: 2, ..edited.clone() };
        let sunk = TicketType { ceiling: 4_999, version: 3, ..edited.clone() };
        for wrong in [late, sunk] {
            assert_eq!(
                catalog.ticket_type_update(&id, &wrong).await.unwrap(),
                TicketTypeUpdated::VersionMismatch(edited.clone())
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_type_that_was_never_on_sale_may_shrink() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        catalog.event_create(&event()).await.unwrap();
        let floor = ticket_type("floor", 1, TicketKind::GeneralAdmission, 600);
        let size = TicketType { ceiling: 400, capacity: 400, ..floor.clone() };
        let smaller = TicketType { partitions: floor.partitions + 2, version: 2, ..size };
        let resize = |one| catalog.ticket_type_resize(&id, one);
        assert_eq!(resize(&smaller).await.unwrap(), TicketTypeResized::Missing);
        catalog.ticket_type_create(&id, &floor).await.unwrap();
        assert_eq!(resize(&smaller).await.unwrap(), TicketTypeResized::Resized);
        assert_eq!(resize(&smaller).await.unwrap(), TicketTypeResized::Resized, "repeated");
        let late = TicketType { ceiling: 500, ..smaller.clone() };
        assert_eq!(
            resize(&late).await.unwrap(),
            TicketTypeResized::VersionMismatch(smaller.clone())
        );

        catalog.epoch_raise(&event()).await.unwrap();
        let tiny = TicketType { ceiling: 1, capacity: 1, version: 3, ..smaller.clone() };
        assert_eq!(resize(&tiny).await.unwrap(), TicketTypeResized::OnSale);
        let stored = catalog.ticket_type_fetch(&id, &floor.id).await.unwrap();
        assert_eq!(stored, Some(smaller));
        let event = catalog.event_fetch(&id, Consistency::Strong).await.unwrap().unwrap();
        assert_eq!((event.epoch, event.version), (Epoch(1), 1));
    })
    .await;
}

#[tokio::test]
async fn a_mark_only_grows() {
    on_every_engine(async |Stores { catalog, .. }| {
        let (id, floor) = (event_id(), type_id("floor"));
        assert_eq!(catalog.mark_fetch(&id, &floor).await.unwrap(), 0);
        let marks: Vec<u32> = (1..=16).map(|n| n * 30).collect();
        let raises = marks.iter().map(|mark| catalog.mark_raise(&id, &floor, *mark));
        for (mark, raised) in marks.iter().zip(join_all(raises).await) {
            let raised = raised.unwrap();
            assert!((*mark..=480).contains(&raised), "asked {mark}, got {raised}");
        }
        assert_eq!(catalog.mark_fetch(&id, &floor).await.unwrap(), 480);
        assert_eq!(catalog.mark_raise(&id, &floor, 480).await.unwrap(), 480);
        assert_eq!(catalog.mark_raise(&id, &floor, 30).await.unwrap(), 480);
        assert_eq!(catalog.mark_fetch(&id, &type_id("balcony")).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_capacity_and_what_is_withdrawn_for_it_change_together() {
    on_every_engine(async |Stores { catalog, .. }| {
        let (id, floor) = (event_id(), ticket_type("floor", 1, TicketKind::GeneralAdmission, 600));
        let cut = |name: &str| Withdrawal {
            id: WithdrawalId::parse(name).unwrap(),
            lines: Vec::new(),
            orders: vec![OrderId::from_bytes([1; 16])],
            kept: None,
            state: WithdrawalState::Taken,
            version: 1,
        };
        let counted = |cut: &Withdrawal| Withdrawal {
            state: WithdrawalState::Counted,
            version: cut.version + 1,
            ..cut.clone()
        };
        let (one, other) = (cut("one"), cut("other"));
        let lower = TicketType { capacity: 580, version: 2, ..floor.clone() };
        let both = [counted(&one), counted(&other)];
        let write = || catalog.capacity_write(&id, &lower, &both);
        assert_eq!(write().await.unwrap(), CapacityWritten::Missing);
        catalog.ticket_type_create(&id, &floor).await.unwrap();
        catalog.withdrawal_create(&id, &one).await.unwrap();
        assert_eq!(write().await.unwrap(), CapacityWritten::Contended, "one is not there");
        let stored = catalog.ticket_type_fetch(&id, &floor.id).await.unwrap();
        assert_eq!(stored, Some(floor.clone()));
        assert_eq!(catalog.withdrawals_list(&id).await.unwrap(), [one]);

        catalog.withdrawal_create(&id, &other).await.unwrap();
        for _ in 0..2 {
            assert_eq!(write().await.unwrap(), CapacityWritten::Written, "again is fine");
        }
        assert_eq!(catalog.withdrawals_list(&id).await.unwrap(), both);
        let late = TicketType { capacity: 500, ..lower.clone() };
        let written = catalog.capacity_write(&id, &late, &[]).await.unwrap();
        assert_eq!(written, CapacityWritten::VersionMismatch(lower.clone()));
        let sunk = TicketType { ceiling: 580, version: 3, ..lower.clone() };
        let written = catalog.capacity_write(&id, &sunk, &[]).await.unwrap();
        assert_eq!(written, CapacityWritten::VersionMismatch(lower), "no ceiling sinks");
    })
    .await;
}

#[tokio::test]
async fn a_withdrawal_goes_from_version_to_version() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let seats = (0..3_000).map(|n| SeatLabel::parse(&format!("A-{n}-1")).unwrap()).collect();
        let withdrawal = Withdrawal {
            id: WithdrawalId::parse("house-seats").unwrap(),
            lines: vec![
                Line { ticket_type: type_id("stalls"), wanted: Wanted::Seats(seats) },
                Line { ticket_type: type_id("floor"), wanted: Wanted::Quantity(50) },
            ],
            orders: vec![OrderId::from_bytes([1; 16]), OrderId::from_bytes([2; 16])],
            kept: Some(1),
            state: WithdrawalState::Taking,
            version: 1,
        };
        let create = |one| catalog.withdrawal_create(&id, one);
        assert_eq!(create(&withdrawal).await.unwrap(), WithdrawalCreated::Created);
        assert_eq!(create(&withdrawal).await.unwrap(), WithdrawalCreated::Created, "repeated");
        let taken = Withdrawal { state: WithdrawalState::Taken, version: 2, ..withdrawal.clone() };
        let update = |one| catalog.withdrawal_update(&id, one);
        assert_eq!(update(&taken).await.unwrap(), WithdrawalUpdated::Updated);
        assert_eq!(update(&taken).await.unwrap(), WithdrawalUpdated::Updated, "repeated");
        assert_eq!(create(&withdrawal).await.unwrap(), WithdrawalCreated::Exists(taken.clone()));
        let late = Withdrawal { state: WithdrawalState::Refused, ..taken.clone() };
        assert_eq!(
            update(&late).await.unwrap(),
            WithdrawalUpdated::VersionMismatch(Some(taken.clone()))
        );
        let unknown = Withdrawal { id: WithdrawalId::parse("none").unwrap(), ..taken.clone() };
        assert_eq!(update(&unknown).await.unwrap(), WithdrawalUpdated::VersionMismatch(None));
        let stored = catalog.withdrawal_fetch(&id, &taken.id).await.unwrap();
        assert_eq!(stored, Some(taken.clone()));
        assert_eq!(catalog.withdrawals_list(&id).await.unwrap(), [taken]);
    })
    .await;
}

#[tokio::test]
async fn queue_settings_and_generation_have_versions_of_their_own() {
    on_every_engine(async |Stores { catalog, .. }| {
        let id = event_id();
        let settings = QueueSettings { cap: 10, ..QueueSettings::default() };
        let record = QueueRecord { settings, version: 1, generation: 1 };
        let put = |settings, version| catalog.queue_put(&id, settings, version);
        let early = put(&settings, 2).await.unwrap();
        assert_eq!(early, QueuePut::VersionMismatch(None));
        assert_eq!(put(&settings, 1).await.unwrap(), QueuePut::Stored(record));
        let again = put(&settings, 1).await.unwrap();
        assert_eq!(again, QueuePut::VersionMismatch(Some(record)), "they are there already");

        let raise = |from| catalog.queue_generation_raise(&id, from);
        assert_eq!(raise(1).await.unwrap(), GenerationRaised::Raised(2));
        assert_eq!(raise(1).await.unwrap(), GenerationRaised::Lost(2));

        let wider = QueueSettings { cap: 20, ..settings };
        let record = QueueRecord { settings: wider, version: 2, generation: 2 };
        assert_eq!(put(&wider, 2).await.unwrap(), QueuePut::Stored(record));
        assert_eq!(put(&wider, 2).await.unwrap(), QueuePut::Stored(record), "repeated");
        let late = put(&settings, 2).await.unwrap();
        assert_eq!(late, QueuePut::VersionMismatch(Some(record)));
        let late = put(&settings, 1).await.unwrap();
        assert_eq!(late, QueuePut::VersionMismatch(Some(record)));
        assert_eq!(catalog.queue_fetch(&id).await.unwrap(), Some(record));
    })
    .await;
}

#[tokio::test]
async fn public_keys_are_kept() {
    on_every_engine(async |Stores { catalog, .. }| {
        let key =
            |kid: &str| StoredKey { kid: kid.to_owned(), jwk: format!("{{\"kid\":{kid:?}}}") };
        assert_eq!(catalog.keys_list().await.unwrap(), []);
        for stored in [key("a"), key("b"), key("a")] {
            catalog.key_put(&stored).await.unwrap();
        }
        let listed = catalog.keys_list().await.unwrap();
        let kids: BTreeSet<&str> = listed.iter().map(|key| key.kid.as_str()).collect();
        assert_eq!((listed.len(), kids), (2, BTreeSet::from(["a", "b"])));
        assert!(listed.contains(&key("a")));
    })
    .await;
}
