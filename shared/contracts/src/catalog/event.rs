//! Events and their sale.

use std::ops::RangeInclusive;

use domain::{Currency, Event, EventId, SaleState, SaleSwitch, SaleWindow, Venue};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Faults, instant};
use crate::problem::{FieldError, Text};

/// Body of `PUT /events/{event}`: the event as it shall be, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventEdit {
    /// What fans read.
    pub title: String,
    /// Where.
    pub venue: VenueEdit,
    /// The IANA zone times are shown in.
    pub time_zone: String,
    /// When the event begins.
    #[serde(deserialize_with = "instant")]
    pub starts_at: Timestamp,
    /// When it is on sale.
    pub sale: SaleWindowEdit,
    /// The one currency of its prices; fixed once the event is there.
    pub currency: Currency,
    /// Units one customer can have over all types; left out: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_per_customer: Option<u32>,
}

/// Where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VenueEdit {
    /// The venue's name.
    pub name: String,
    /// The city it is in.
    pub city: String,
}

/// When an event is on sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaleWindowEdit {
    /// The first instant.
    #[serde(deserialize_with = "instant")]
    pub opens_at: Timestamp,
    /// The first instant after it.
    #[serde(deserialize_with = "instant")]
    pub closes_at: Timestamp,
}

/// What an operator wants an event to be, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWish {
    /// What fans read.
    pub title: String,
    /// Where.
    pub venue: Venue,
    /// An IANA zone.
    pub time_zone: String,
    /// When the event begins.
    pub starts_at: Timestamp,
    /// When it is on sale.
    pub window: SaleWindow,
    /// The one currency of its prices.
    pub currency: Currency,
    /// Units one customer can have over all types.
    pub limit_per_customer: Option<u32>,
}

impl EventEdit {
    /// What `starts_at`, `opens_at` and `closes_at` can be: up to the last second
    /// that every time zone can show. [`Text::Instant`] says the same.
    pub const INSTANTS: RangeInclusive<Timestamp> =
        Timestamp::UNIX_EPOCH..=Timestamp::constant(253_402_207_200, 0);

    /// Checks what the fields mean.
    ///
    /// # Errors
    /// Every field that is wrong.
    pub fn parse(&self) -> Result<EventWish, Vec<FieldError>> {
        let mut faults = Faults::default();
        let title = faults.text("/title", &self.title);
        let venue = Venue {
            name: faults.text("/venue/name", &self.venue.name),
            city: faults.text("/venue/city", &self.venue.city),
        };
        if !Event::is_time_zone(&self.time_zone) {
            faults.add("/time_zone", Text::TimeZone);
        }
        let (opens_at, closes_at) = (self.sale.opens_at, self.sale.closes_at);
        for (pointer, instant) in [
            ("/starts_at", self.starts_at),
            ("/sale/opens_at", opens_at),
            ("/sale/closes_at", closes_at),
        ] {
            if !Self::INSTANTS.contains(&instant) {
                faults.add(pointer, Text::Instant);
            }
        }
        if closes_at <= opens_at {
            faults.add("/sale/closes_at", Text::AfterOpening);
        }
        let limit_per_customer = faults.limit("/limit_per_customer", self.limit_per_customer);
        faults.or(EventWish {
            title,
            venue,
            time_zone: self.time_zone.clone(),
            starts_at: self.starts_at,
            window: SaleWindow { opens_at, closes_at },
            currency: self.currency,
            limit_per_customer,
        })
    }
}

/// Body of `PUT /events/{event}/sale`: what the sale shall be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaleEdit {
    /// `open`, `paused` or `closed`.
    pub state: SaleStateEdit,
}

/// What an operator can say about a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaleStateEdit {
    /// Sell, within the window.
    Open,
    /// Stop for now.
    Paused,
    /// Stop for good (an `open` still takes it back).
    Closed,
}

impl From<SaleStateEdit> for SaleSwitch {
    fn from(edit: SaleStateEdit) -> Self {
        match edit {
            SaleStateEdit::Open => Self::Open,
            SaleStateEdit::Paused => Self::Paused,
            SaleStateEdit::Closed => Self::Closed,
        }
    }
}

/// An event as everybody reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventBody {
    /// Its id.
    pub id: EventId,
    /// What it is called.
    pub title: String,
    /// Where.
    pub venue: Venue,
    /// The zone its local times are in.
    pub time_zone: String,
    /// When it begins.
    pub starts_at: Timestamp,
    /// The same, as clocks show it there.
    pub starts_at_local: String,
    /// What the sale is now; the same as in `sale`.
    pub state: SaleState,
    /// The sale.
    pub sale: SaleBody,
    /// The currency of all its prices.
    pub currency: Currency,
    /// Units one customer can have over all types; none: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_per_customer: Option<u32>,
    /// Grows with each edit; `If-Match: "v<version>"` edits.
    pub version: u64,
}

/// A sale as everybody reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleBody {
    /// What it is now.
    pub state: SaleState,
    /// The first instant.
    pub opens_at: Timestamp,
    /// The first instant after it.
    pub closes_at: Timestamp,
    /// `opens_at` as clocks show it there.
    pub opens_at_local: String,
    /// `closes_at` as clocks show it there.
    pub closes_at_local: String,
}

impl EventBody {
    /// The event at an instant.
    #[must_use]
    pub fn of(event: &Event, now: Timestamp) -> Self {
        let state = event.state(now);
        let SaleWindow { opens_at, closes_at } = event.window;
        Self {
            id: event.id.clone(),
            title: event.title.clone(),
            venue: event.venue.clone(),
            time_zone: event.time_zone.clone(),
            starts_at: event.starts_at,
            starts_at_local: event.local_time(event.starts_at),
            state,
            sale: SaleBody {
                state,
                opens_at,
                closes_at,
                opens_at_local: event.local_time(opens_at),
                closes_at_local: event.local_time(closes_at),
            },
            currency: event.currency,
            limit_per_customer: event.limit_per_customer,
            version: event.version,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Language;
    use serde_json::{Value, json};

    fn good() -> Value {
        json!({
            "title": "Mayday 五月天",
            "venue": {"name": "Taipei Dome", "city": "Taipei"},
            "time_zone": "Asia/Taipei",
            "starts_at": "2026-12-31T12:00:00Z",
            "sale": {"opens_at": "2026-12-01T10:00:00+08:00", "closes_at": "2026-12-31T00:00:00Z"},
            "currency": "TWD",
        })
    }

    fn pointers(change: impl Fn(&mut Value)) -> Vec<String> {
        let mut body = good();
        change(&mut body);
        let edit: EventEdit = serde_json::from_value(body).unwrap();
        edit.parse().unwrap_err().into_iter().map(|fault| fault.pointer).collect()
    }

    #[test]
    fn instants_are_read_with_any_offset() {
        let edit: EventEdit = serde_json::from_value(good()).unwrap();
        let wish = edit.parse().unwrap();
        assert_eq!(wish.window.opens_at, "2026-12-01T02:00:00Z".parse().unwrap());
        assert_eq!(wish.limit_per_customer, None);
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        let wrong = pointers(|body| {
            body["title"] = json!(" \t ");
            body["venue"]["name"] = json!("x".repeat(201));
            body["venue"]["city"] = json!("Tai\npei");
            body["time_zone"] = json!("Asia/Atlantis");
            body["starts_at"] = json!("1969-12-31T23:59:59Z");
            body["sale"]["closes_at"] = body["sale"]["opens_at"].clone();
            body["limit_per_customer"] = json!(0);
        });
        let expected = [
            "/title",
            "/venue/name",
            "/venue/city",
            "/time_zone",
            "/starts_at",
            "/sale/closes_at",
            "/limit_per_customer",
        ];
        assert_eq!(wrong, expected);
    }

    #[test]
    fn an_instant_is_as_rfc_3339_writes_it() {
        let read = |instant: &str| {
            let body = json!({"opens_at": instant, "closes_at": "2031-01-01T00:00:00Z"});
            serde_json::from_value::<SaleWindowEdit>(body).map(|window| window.opens_at)
        };
        let new_year: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
        for good in [
            "2030-01-01T00:00:00Z",
            "2030-01-01t00:00:00z",
            "2030-01-01T00:00:00.000000000Z",
            "2030-01-01T00:00:00.0+00:00",
            "2030-01-01T00:00:00-00:00",
            "2030-01-01T08:00:00+08:00",
            "2029-12-31T14:30:00-09:30",
        ] {
            assert_eq!(read(good).ok(), Some(new_year), "{good}");
        }
        for bad in [
            "2030-01-01T00:00:00+08:00[Europe/Paris]",
            "2030-01-01T08:00:00+08:00[Asia/Taipei]",
            "2030-01-01T00:00:00Z[u-ca=gregory]",
            "20300101T000000Z",
            "2030-01-01T00Z",
            "2030-01-01T00:00Z",
            "2030-01-01 00:00:00Z",
            "2030-01-01T00:00:00",
            "2030-01-01T00:00:00.Z",
            "2030-01-01T00:00:00,5Z",
            "2030-01-01T00:00:00+08",
            "2030-01-01T00:00:00+0800",
            "2030-01-01T00:00:00+08:00:00",
            "+002030-01-01T00:00:00Z",
            "2030-02-30T00:00:00Z",
            "2030-01-01T00:00:00\u{e9}",
            "2030-01-01T00:00:0\u{e9}Z",
            " 2030-01-01T00:00:00Z",
            "",
        ] {
            let refused = read(bad).unwrap_err().to_string();
            assert_eq!(refused, Text::Instant.in_language(Language::English), "{bad}");
        }
    }

    #[test]
    fn instants_have_the_bounds_that_their_text_tells() {
        for language in [Language::English, Language::TraditionalChinese] {
            let text = Text::Instant.in_language(language);
            for bound in [EventEdit::INSTANTS.start(), EventEdit::INSTANTS.end()] {
                assert!(text.contains(&bound.to_string()), "{bound}: {text}");
            }
        }
        let set = |field: &'static str, instant: &'static str| {
            move |body: &mut Value| *body.pointer_mut(field).unwrap() = json!(instant)
        };
        for field in ["/starts_at", "/sale/opens_at", "/sale/closes_at"] {
            let outside = ["1969-12-31T23:59:59.999Z", "9999-12-30T22:00:00.001Z"];
            for instant in outside {
                assert!(pointers(set(field, instant)).contains(&field.to_owned()), "{instant}");
            }
            let mut body = good();
            set(field, "9999-12-30T22:00:01Z")(&mut body);
            let refused = serde_json::from_value::<EventEdit>(body).unwrap_err().to_string();
            assert_eq!(refused, Text::Instant.in_language(Language::English));
        }
        let mut widest = good();
        set("/starts_at", "1970-01-01T08:00:00+08:00")(&mut widest);
        set("/sale/opens_at", "1970-01-01T00:00:00Z")(&mut widest);
        set("/sale/closes_at", "9999-12-30T22:00:00Z")(&mut widest);
        assert!(serde_json::from_value::<EventEdit>(widest).unwrap().parse().is_ok());
    }

    #[test]
    fn what_has_the_wrong_shape_is_refused() {
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut body = good();
            change(&mut body);
            assert!(serde_json::from_value::<EventEdit>(body.clone()).is_err(), "{body}");
        };
        refused(&|body| body["currency"] = json!("twd"));
        refused(&|body| body["limit_per_customer"] = json!(-1));
        refused(&|body| body["limit_per_customer"] = json!(1.5));
        refused(&|body| body["starts_at"] = json!("tomorrow"));
        refused(&|body| body["starts_at"] = json!("2026-12-31T12:00:00"));
        refused(&|body| body["state"] = json!("open"));
        refused(&|body| body["sale"]["state"] = json!("open"));
        assert!(serde_json::from_value::<SaleEdit>(json!({"state": "scheduled"})).is_err());
    }
}
