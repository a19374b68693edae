//! Sections of the seat map: pk `event#<event>`, sk `section#<section>`. Immutable.

use domain::{EventId, Row, Section, SectionId, TicketType, TicketTypeId};
use receipts::{Reason, Transacted, transact};
use serde::{Deserialize, Serialize};

use super::ticket_type::{Details, type_key};
use super::{CatalogStore, Consistency, key, partition};
use crate::StoreError;
use crate::table::{ABSENT, Change, Guard, Item, Key, decode, encode, no_item, step};

/// The type is as it was read, and ends where the section begins.
const IS_VERSION_BEFORE_AND_ENDS_HERE: &str = "#version = :before AND #ceiling = :first";

/// Rows are kept as `row:seat,seat,…`: no name holds a `:` or a `,`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    #[serde(rename = "type")]
    ticket_type: TicketTypeId,
    first: u32,
    rows: Vec<String>,
}

const SORT_PREFIX: &str = "section#";

fn section_key(event: &EventId, section: &SectionId) -> Key {
    key(event, format!("{SORT_PREFIX}{section}"))
}

fn record_of(section: &Section) -> Record {
    let packed = |row: &Row| format!("{}:{}", row.row, row.seats.join(","));
    Record {
        ticket_type: section.ticket_type.clone(),
        first: section.first,
        rows: section.rows.iter().map(packed).collect(),
    }
}

fn row_of(packed: &str) -> Row {
    let (row, seats) = packed.split_once(':').unwrap_or((packed, ""));
    Row { row: row.to_owned(), seats: seats.split(',').map(str::to_owned).collect() }
}

fn section_of(item: Item) -> Result<Section, StoreError> {
    #[derive(Deserialize)]
    struct Id {
        sk: String,
    }
    let id: Id = decode("section", item.clone())?;
    let record: Record = decode("section", item)?;
    let id = SectionId::parse(id.sk.trim_start_matches(SORT_PREFIX))
        .map_err(|source| StoreError::corrupt("section", source))?;
    let rows = record.rows.iter().map(|row| row_of(row)).collect();
    Section::new(id, record.ticket_type, record.first, rows)
        .map_err(|source| StoreError::corrupt("section", source))
}

/// What putting a section came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionPut {
    /// It is there now, and its type has grown by it.
    Stored,
    /// The same section was there already (wherever its units begin).
    Same(Section),
    /// Another section stands under this id.
    Conflict(Section),
    /// The ticket type was edited in the meantime (or is missing): read it and
    /// the sections again.
    VersionMismatch,
}

impl CatalogStore {
    /// Puts a section where there is none and lets its type grow by it, both or
    /// neither. `grown` is the type as it is afterwards: version + 1, ceiling =
    /// `first` + the section's seats. Two sections put at once can't get
    /// overlapping ranges: the type's version lets one through.
    ///
    /// # Errors
    /// When DynamoDB fails; the outcome may be unknown, repeating is safe.
    pub async fn section_put(
        &self,
        event: &EventId,
        section: &Section,
        grown: &TicketType,
    ) -> Result<SectionPut, StoreError> {
        let item = section_key(event, &section.id).with(encode(&record_of(section))?);
        let growth = Change::set(encode(&Details::of(grown))?);
        let before = Guard::new(IS_VERSION_BEFORE_AND_ENDS_HERE)
            .value(":before", grown.version.saturating_sub(1))
            .value(":first", section.first);
        let type_key = type_key(event, &section.ticket_type);
        let steps = vec![
            step::put(&self.table, item, &Guard::new(ABSENT))?,
            step::update(&self.table, &type_key, &growth, &before)?,
        ];
        let (failures, error) = match transact(self.table.client(), steps).await? {
            Transacted::Done => return Ok(SectionPut::Stored),
            Transacted::Cancelled { failures, error } => (failures, error),
        };
        let mut failures = failures.into_iter();
        match (failures.next(), failures.next()) {
            (Some(put), _) if put.reason == Reason::ConditionFailed => {
                let present = section_of(put.present.ok_or_else(no_item)?)?;
                let same =
                    present.ticket_type == section.ticket_type && present.rows == section.rows;
                Ok(if same { SectionPut::Same(present) } else { SectionPut::Conflict(present) })
            }
            (_, Some(growth)) if growth.reason == Reason::ConditionFailed => {
                Ok(SectionPut::VersionMismatch)
            }
            _ => Err(error),
        }
    }

    /// One section; consistent.
    ///
    /// # Errors
    /// When DynamoDB fails or the item is corrupt.
    pub async fn section_fetch(
        &self,
        event: &EventId,
        section: &SectionId,
    ) -> Result<Option<Section>, StoreError> {
        let item = self.table.get(&section_key(event, section), true).await?;
        item.map(section_of).transpose()
    }

    /// All sections of an event, by type and first unit.
    ///
    /// # Errors
    /// When DynamoDB fails or an item is corrupt.
    pub async fn sections_list(
        &self,
        event: &EventId,
        consistency: Consistency,
    ) -> Result<Vec<Section>, StoreError> {
        let strong = consistency.is_strong();
        let items = self.table.query(&partition(event), SORT_PREFIX, strong).await?;
        let mut sections = items.into_iter().map(section_of).collect::<Result<Vec<_>, _>>()?;
        sections.sort_by(|a, b| (&a.ticket_type, a.first).cmp(&(&b.ticket_type, b.first)));
        Ok(sections)
    }
}
