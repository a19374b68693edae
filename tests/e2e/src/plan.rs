//! What an operator plans, and setting it up.

use domain::{EventId, QueueSettings};
use serde_json::{Value, json};

use crate::clock::seconds_from_now;
use crate::error::ClientError;
use crate::identity::{Person, new_word};
use crate::sale::Sale;
use crate::world::World;

/// What an operator plans.
#[derive(Debug, Clone)]
pub struct Plan {
    title: String,
    ticket_types: Vec<(String, Value)>,
    sections: Vec<(String, Value)>,
    limit_per_customer: Option<u32>,
    opens_in_seconds: i64,
    closes_in_seconds: i64,
    queue: QueueSettings,
    opens: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            title: "A night to remember".to_owned(),
            ticket_types: Vec::new(),
            sections: Vec::new(),
            limit_per_customer: None,
            opens_in_seconds: -60,
            closes_in_seconds: 86_400,
            queue: QueueSettings { cap: 2_000, ..QueueSettings::default() },
            opens: true,
        }
    }
}

/// The price of every ticket of a plan, in minor units.
pub const PRICE: i64 = 280_000;

impl Plan {
    /// An event that is on sale now, with nothing to sell yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a title.
    #[must_use]
    pub fn titled(self, title: &str) -> Self {
        Self { title: title.to_owned(), ..self }
    }

    /// With places of general admission.
    #[must_use]
    pub fn standing(self, ticket_type: &str, capacity: u32) -> Self {
        self.ticket_type(ticket_type, json!({"kind": "general_admission", "capacity": capacity}))
    }

    /// With a section of numbered seats, the same number in each row.
    #[must_use]
    pub fn section(self, ticket_type: &str, section: &str, rows: u32, seats: u32) -> Self {
        let rows: Vec<u32> = vec![seats; rows as usize];
        self.section_of_rows(ticket_type, section, &rows)
    }

    /// With a section of numbered seats; so many in each row.
    #[must_use]
    pub fn section_of_rows(mut self, ticket_type: &str, section: &str, rows: &[u32]) -> Self {
        if !self.ticket_types.iter().any(|(known, _)| known == ticket_type) {
            self = self.ticket_type(ticket_type, json!({"kind": "reserved_seating"}));
        }
        let rows: Vec<Value> = rows
            .iter()
            .enumerate()
            .map(|(at, seats)| json!({"row": at + 1, "seats": seats}))
            .collect();
        let body = json!({"ticket_type": ticket_type, "rows": rows});
        self.sections.push((section.to_owned(), body));
        self
    }

    fn ticket_type(mut self, ticket_type: &str, mut body: Value) -> Self {
        body["name"] = json!(ticket_type);
        body["price"] = json!({"amount": PRICE, "currency": "TWD"});
        self.ticket_types.push((ticket_type.to_owned(), body));
        self
    }

    /// With a limit of one ticket type, which is in the plan already.
    #[must_use]
    pub fn limit_of(mut self, ticket_type: &str, limit: u32) -> Self {
        for (_, body) in self.ticket_types.iter_mut().filter(|(known, _)| known == ticket_type) {
            body["limit_per_customer"] = json!(limit);
        }
        self
    }

    /// With a limit per customer over all types.
    #[must_use]
    pub fn limit(self, limit: u32) -> Self {
        Self { limit_per_customer: Some(limit), ..self }
    }

    /// On sale from then to then, in seconds from now.
    #[must_use]
    pub fn window(self, opens_in_seconds: i64, closes_in_seconds: i64) -> Self {
        Self { opens_in_seconds, closes_in_seconds, ..self }
    }

    /// With another waiting room.
    #[must_use]
    pub fn queue(self, queue: QueueSettings) -> Self {
        Self { queue, ..self }
    }

    /// Whose sale nobody has opened.
    #[must_use]
    pub fn unopened(self) -> Self {
        Self { opens: false, ..self }
    }

    /// The body of `PUT /events/{event}`.
    #[must_use]
    pub fn event_body(&self) -> Value {
        let mut event = json!({
            "title": self.title,
            "venue": {"name": "Taipei Arena", "city": "Taipei"},
            "time_zone": "Asia/Taipei",
            "starts_at": seconds_from_now(90 * 86_400),
            "sale": {
                "opens_at": seconds_from_now(self.opens_in_seconds),
                "closes_at": seconds_from_now(self.closes_in_seconds),
            },
            "currency": "TWD",
        });
        if let Some(limit) = self.limit_per_customer {
            event["limit_per_customer"] = json!(limit);
        }
        event
    }

    /// Sets it up under a new id.
    ///
    /// # Errors
    /// When anything of it is refused.
    pub async fn set_up(self, world: &World) -> Result<Sale, ClientError> {
        let operator = world.identity.operator().await?;
        self.set_up_by(world, operator).await
    }

    /// Sets it up under a new id, by an operator who is signed in.
    ///
    /// # Errors
    /// When anything of it is refused.
    pub async fn set_up_by(self, world: &World, operator: Person) -> Result<Sale, ClientError> {
        let name = format!("e-{}", new_word());
        let event = EventId::parse(&name).map_err(|_| ClientError::InvalidId { id: name })?;
        let sale = Sale { world: world.clone(), event, operator };
        sale.create("", &self.event_body()).await?;
        for (ticket_type, body) in &self.ticket_types {
            sale.create(&format!("/ticket-types/{ticket_type}"), body).await?;
        }
        for (section, body) in &self.sections {
            sale.create(&format!("/seat-map/sections/{section}"), body).await?;
        }
        sale.create("/queue/settings", &json!(self.queue)).await?;
        if self.opens {
            sale.switch("open").await?;
        }
        Ok(sale)
    }
}
