//! The seat map as a fan sees it: which seats stand side by side.

use std::collections::{BTreeMap, HashMap};

use contracts::catalog::SeatMapBody;
use domain::{SectionId, TicketTypeId, UnitState};

use crate::demo::chance::Chance;

/// Seats by section, in the order the section counts them.
pub type States = BTreeMap<SectionId, Vec<UnitState>>;

/// A hall's seats.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    rows: Vec<Row>,
    places: HashMap<String, (SectionId, usize)>,
    /// The seats' indexes among the units of their type: sections are ranges of
    /// it, in the order they were added.
    indexes: HashMap<String, u32>,
}

#[derive(Debug, Clone)]
struct Row {
    section: SectionId,
    /// The position of its first seat in the section.
    first: usize,
    labels: Vec<String>,
}

impl Chart {
    /// From the seat map.
    #[must_use]
    pub fn of(map: &SeatMapBody) -> Self {
        let mut chart = Self::default();
        let mut units: HashMap<&TicketTypeId, u32> = HashMap::new();
        for section in &map.sections {
            let mut first = 0;
            for row in &section.rows {
                let label = |seat| format!("{}-{}-{seat}", section.section, row.row);
                let labels: Vec<String> = row.seats.iter().map(label).collect();
                for (at, label) in labels.iter().enumerate() {
                    chart.places.insert(label.clone(), (section.section.clone(), first + at));
                    let unit = units.entry(&section.ticket_type).or_default();
                    chart.indexes.insert(label.clone(), *unit);
                    *unit += 1;
                }
                let length = labels.len();
                chart.rows.push(Row { section: section.section.clone(), first, labels });
                first += length;
            }
        }
        chart
    }

    /// Where a seat is: its section and its position in it.
    #[must_use]
    pub fn place(&self, label: &str) -> Option<&(SectionId, usize)> {
        self.places.get(label)
    }

    /// The index of a seat among the units of its type.
    #[must_use]
    pub fn index(&self, label: &str) -> Option<u32> {
        self.indexes.get(label).copied()
    }

    /// Free seats side by side, somewhere; else any free ones; none where fewer
    /// are free than wanted.
    #[must_use]
    pub fn choose(
        &self,
        states: &States,
        count: usize,
        chance: &mut Chance,
    ) -> Option<Vec<String>> {
        let start = chance.index(self.rows.len());
        let rows = || self.rows.iter().cycle().skip(start).take(self.rows.len());
        let neighbours = rows().find_map(|row| {
            let free: Vec<usize> =
                (0..row.labels.len()).filter(|&seat| row.is_free(states, seat)).collect();
            let together = free.windows(count).find(|run| run[count - 1] - run[0] == count - 1)?;
            Some(together.iter().map(|&seat| row.labels[seat].clone()).collect())
        });
        neighbours.or_else(|| {
            let free = rows().flat_map(|row| {
                let seats = (0..row.labels.len()).filter(|&seat| row.is_free(states, seat));
                seats.map(|seat| row.labels[seat].clone())
            });
            let scattered: Vec<String> = free.take(count).collect();
            (scattered.len() == count).then_some(scattered)
        })
    }
}

impl Row {
    fn is_free(&self, states: &States, seat: usize) -> bool {
        let state = states.get(&self.section).and_then(|seats| seats.get(self.first + seat));
        state == Some(&UnitState::Free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use UnitState::{Free, Held, Sold};
    use serde_json::json;

    fn chart() -> Chart {
        let map: SeatMapBody = serde_json::from_value(json!({
            "event": "e", "version": 1,
            "sections": [{"section": "A", "ticket_type": "seats", "count": 5, "rows": [
                {"row": "1", "seats": ["1", "2"]},
                {"row": "2", "seats": ["1", "2", "3"]},
            ]}],
        }))
        .unwrap();
        Chart::of(&map)
    }

    fn states(states: [UnitState; 5]) -> States {
        [(SectionId::parse("A").unwrap(), states.to_vec())].into()
    }

    fn choose(seats: [UnitState; 5], count: usize) -> Option<Vec<String>> {
        chart().choose(&states(seats), count, &mut Chance::of(1, 1))
    }

    #[test]
    fn friends_sit_together_where_they_can() {
        let together = choose([Free, Held, Free, Sold, Free], 1).unwrap();
        assert_eq!(together.len(), 1);
        assert_eq!(choose([Free, Sold, Sold, Free, Free], 2).unwrap(), ["A-2-2", "A-2-3"]);
        let mut scattered = choose([Free, Sold, Free, Sold, Free], 3).unwrap();
        scattered.sort();
        assert_eq!(scattered, ["A-1-1", "A-2-1", "A-2-3"]);
        assert_eq!(choose([Free, Sold, Sold, Held, Sold], 2), None);
    }

    #[test]
    fn seats_are_found_by_their_position() {
        let section = SectionId::parse("A").unwrap();
        assert_eq!(chart().place("A-2-2"), Some(&(section, 3)));
        assert_eq!(chart().place("A-9-9"), None);
        assert_eq!(chart().index("A-2-2"), Some(3));
    }
}
