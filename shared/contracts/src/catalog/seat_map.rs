//! The seat map: sections as operators send them (JSON or CSV) and as everybody
//! reads them.

use std::fmt;

use domain::{
    EventId, InvalidSeatMap, MAX_SEATS_PER_SECTION, Row, Section, SectionId, TicketTypeId,
};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::problem::{FieldError, Text};

/// Body of `PUT /events/{event}/seat-map/sections/{section}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionEdit {
    /// The type all its seats are sold as.
    pub ticket_type: TicketTypeId,
    /// The rows, front to back.
    pub rows: Vec<RowEdit>,
}

/// A row as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowEdit {
    /// The row's name.
    pub row: SeatName,
    /// Its seats, left to right, or how many there are.
    pub seats: SeatsEdit,
}

/// The seats of a row: their names, or their number (then `1`, `2`, …).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SeatsEdit {
    /// Their names.
    Named(Vec<SeatName>),
    /// How many.
    Count(u32),
}

/// The name of a row or seat. People write `12` as well as `"12"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SeatName(pub String);

impl<'de> Deserialize<'de> for SeatName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = SeatName;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name, like \"12\" or 12")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<SeatName, E> {
                Ok(SeatName(text.to_owned()))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<SeatName, E> {
                Ok(SeatName(number.to_string()))
            }
        }
        deserializer.deserialize_any(NameVisitor)
    }
}

impl<'de> Deserialize<'de> for SeatsEdit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SeatsVisitor;
        impl<'de> Visitor<'de> for SeatsVisitor {
            type Value = SeatsEdit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of seats or how many there are")
            }
            fn visit_u64<E: Error>(self, count: u64) -> Result<SeatsEdit, E> {
                // More than a section can have is told beside what else there is.
                Ok(SeatsEdit::Count(u32::try_from(count).unwrap_or(u32::MAX)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<SeatsEdit, A::Error> {
                let mut seats = Vec::new();
                while let Some(name) = names.next_element()? {
                    seats.push(name);
                }
                Ok(SeatsEdit::Named(seats))
            }
        }
        deserializer.deserialize_any(SeatsVisitor)
    }
}

/// Rows of a section as they were sent, and where each seat stood there, so
/// that a fault found further in can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionRows {
    /// The rows.
    pub rows: Vec<Row>,
    places: Places,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Places {
    Json,
    /// The record each seat stood in, by row.
    Csv(Vec<Vec<usize>>),
}

impl SectionEdit {
    /// The rows.
    ///
    /// # Errors
    /// When there are more seats than a section can have: a few bytes can ask for
    /// a billion, so they are counted before they are named.
    pub fn rows(&self) -> Result<SectionRows, FieldError> {
        let mut left = MAX_SEATS_PER_SECTION;
        for (at, row) in self.rows.iter().enumerate() {
            left = left
                .checked_sub(row.seats.count())
                .ok_or_else(|| too_many(&format!("/rows/{at}/seats")))?;
        }
        let rows =
            self.rows.iter().map(|row| Row { row: row.row.0.clone(), seats: row.seats.names() });
        Ok(SectionRows { rows: rows.collect(), places: Places::Json })
    }
}

impl SeatsEdit {
    fn count(&self) -> usize {
        match self {
            Self::Named(names) => names.len(),
            Self::Count(count) => *count as usize,
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Self::Named(names) => names.iter().map(|name| name.0.clone()).collect(),
            Self::Count(count) => (1..=*count).map(|number| number.to_string()).collect(),
        }
    }
}

fn too_many(pointer: &str) -> FieldError {
    FieldError::new(pointer, &InvalidSeatMap::TooManySeats)
}

/// The rows of a CSV file with the columns `row` and `seat`, one record a seat.
/// Rows come in the order they are first named in.
///
/// # Errors
/// The record and column that is wrong; records count from 0, after the header.
pub fn rows_of_csv(body: &[u8]) -> Result<SectionRows, FieldError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(without_bom(body));
    if reader.headers().map_or(true, |headers| headers.iter().ne(["row", "seat"])) {
        return Err(FieldError::new("", Text::CsvHeader));
    }
    let (mut rows, mut records): (Vec<Row>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(|_| FieldError::new(format!("/{at}"), Text::CsvRecord))?;
        if at == MAX_SEATS_PER_SECTION {
            return Err(too_many(&format!("/{at}")));
        }
        let (name, seat) = (record.get(0).unwrap_or_default(), record.get(1).unwrap_or_default());
        // Files are sorted by row but for a few stragglers: look from the end.
        let known = rows.iter().rposition(|row| row.row == name);
        let row_at = known.unwrap_or_else(|| {
            rows.push(Row { row: name.to_owned(), seats: Vec::new() });
            records.push(Vec::new());
            rows.len() - 1
        });
        rows[row_at].seats.push(seat.to_owned());
        records[row_at].push(at);
    }
    Ok(SectionRows { rows, places: Places::Csv(records) })
}

fn without_bom(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}

impl SectionRows {
    /// A fault of the rows, named where it stood in the body.
    #[must_use]
    pub fn fault(&self, invalid: &InvalidSeatMap) -> FieldError {
        let pointer = match (invalid, &self.places) {
            (InvalidSeatMap::Empty | InvalidSeatMap::TooManySeats, Places::Json) => {
                "/rows".to_owned()
            }
            (InvalidSeatMap::Empty | InvalidSeatMap::TooManySeats, Places::Csv(_)) => String::new(),
            (InvalidSeatMap::RowTwice { at, .. }, Places::Json) => format!("/rows/{at}/row"),
            (InvalidSeatMap::RowTwice { at, .. }, Places::Csv(records)) => {
                place_in_csv(records, *at, 0, "row")
            }
            (InvalidSeatMap::Seat { row_at, seat_at, .. }, Places::Json) => {
                format!("/rows/{row_at}/seats/{seat_at}")
            }
            (InvalidSeatMap::Seat { row_at, seat_at, .. }, Places::Csv(records)) => {
                place_in_csv(records, *row_at, *seat_at, "seat")
            }
        };
        FieldError::new(pointer, invalid)
    }
}

fn place_in_csv(records: &[Vec<usize>], row_at: usize, seat_at: usize, column: &str) -> String {
    match records.get(row_at).and_then(|row| row.get(seat_at)) {
        Some(record) => format!("/{record}/{column}"),
        None => String::new(),
    }
}

/// A section as everybody reads it. Never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionBody {
    /// Its id.
    pub section: SectionId,
    /// The type all its seats are sold as.
    pub ticket_type: TicketTypeId,
    /// How many seats it has.
    pub count: u32,
    /// The rows, front to back; a seat's name is `section-row-seat`.
    pub rows: Vec<Row>,
}

impl From<&Section> for SectionBody {
    fn from(section: &Section) -> Self {
        Self {
            section: section.id.clone(),
            ticket_type: section.ticket_type.clone(),
            count: section.seat_count(),
            rows: section.rows.clone(),
        }
    }
}

/// A seat map as everybody reads it. Sections are only ever added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatMapBody {
    /// Which event.
    pub event: EventId,
    /// How many sections there are; names this very map.
    pub version: u32,
    /// The sections.
    pub sections: Vec<SectionBody>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn section(rows: &SectionRows) -> Result<Section, FieldError> {
        let id = SectionId::parse("A").unwrap();
        let ticket_type = TicketTypeId::parse("stalls").unwrap();
        Section::new(id, ticket_type, 0, rows.rows.clone()).map_err(|invalid| rows.fault(&invalid))
    }

    fn of_json(rows: Value) -> Result<Section, FieldError> {
        let body = json!({"ticket_type": "stalls", "rows": rows});
        let edit: SectionEdit = serde_json::from_value(body).unwrap();
        section(&edit.rows()?)
    }

    fn of_csv(body: &str) -> Result<Section, FieldError> {
        section(&rows_of_csv(body.as_bytes())?)
    }

    #[test]
    fn json_and_csv_say_the_same() {
        let json = of_json(json!([
            {"row": "1", "seats": 2},
            {"row": 2, "seats": ["1", 7]},
        ]));
        let csv = of_csv("\u{feff}row,seat\r\n1,1\r\n2,1\r\n1, 2\r\n\"2\",7\r\n");
        assert_eq!(json, csv);
        let labels: Vec<String> = json.unwrap().labels().map(String::from).collect();
        assert_eq!(labels, ["A-1-1", "A-1-2", "A-2-1", "A-2-7"]);
    }

    #[test]
    fn a_wrong_seat_is_named_where_it_stood() {
        let json = |rows| of_json(rows).unwrap_err().pointer;
        assert_eq!(json(json!([])), "/rows");
        assert_eq!(json(json!([{"row": "1", "seats": 0}])), "/rows");
        assert_eq!(json(json!([{"row": "1", "seats": 5_001}])), "/rows/0/seats");
        let half = json!({"row": "1", "seats": 3_000});
        assert_eq!(json(json!([half, {"row": "2", "seats": 3_000}])), "/rows/1/seats");
        let row = json!({"row": "1", "seats": 1});
        assert_eq!(json(json!([row, row])), "/rows/1/row");
        assert_eq!(json(json!([{"row": "1", "seats": ["1", "1-2"]}])), "/rows/0/seats/1");

        let csv = |body| of_csv(body).unwrap_err().pointer;
        assert_eq!(csv(""), "");
        assert_eq!(csv("row;seat\n1;1\n"), "");
        assert_eq!(csv("row,seat\n"), "");
        assert_eq!(csv("row,seat\n1,1\n1,2,3\n"), "/1");
        assert_eq!(csv("row,seat\n1,1\n2,1\n1,1\n"), "/2/seat");
        assert_eq!(csv("row,seat\n1,1\n,1\n"), "/1/seat");
        let many: String = (0..=5_000).map(|seat| format!("1,{seat}\n")).collect();
        assert_eq!(csv(&format!("row,seat\n{many}")), "/5000");
        let broken = rows_of_csv(b"row,seat\n1,1\n1,\xff\n").unwrap_err();
        assert_eq!(broken.pointer, "/1");
    }

    #[test]
    fn what_is_neither_names_nor_a_number_is_refused() {
        for seats in [json!(-1), json!(1.5), json!("20"), json!(null), json!({}), json!([[1]])] {
            let body = json!({"ticket_type": "t", "rows": [{"row": "1", "seats": seats}]});
            assert!(serde_json::from_value::<SectionEdit>(body).is_err(), "{seats}");
        }
    }
}
