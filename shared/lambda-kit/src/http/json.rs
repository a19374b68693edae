//! Reading JSON, and saying in plain words which field is wrong. Serde's own words
//! are for whoever wrote the types: they name Rust's types, and the line and
//! column where the reader stood.

mod by_name;

use contracts::problem::{FieldError, Text};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use by_name::ByName;

/// Reads a text of JSON into a type.
pub(super) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, FieldError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(ByName(&mut reader))
        .map_err(|error| fault(pointer_to(error.path()), error.inner()))?;
    match reader.end() {
        Ok(()) => Ok(value),
        Err(_) => Err(FieldError::new("", Text::NotJson)),
    }
}

fn fault(pointer: String, error: &serde_json::Error) -> FieldError {
    match error.classify() {
        Category::Data => in_words(pointer, &without_place(error)),
        Category::Syntax | Category::Eof | Category::Io => FieldError::new(pointer, Text::NotJson),
    }
}

fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// The fault as a text about the field. What serde didn't word was worded by a
/// type of ours.
fn in_words(pointer: String, text: &str) -> FieldError {
    // Serde stands at the object then.
    for (words, missing) in
        [("missing field ", Text::Missing), ("duplicate field ", Text::GivenTwice)]
    {
        if let Some(name) = text.strip_prefix(words) {
            let name = escaped(name.trim_matches('`'));
            return FieldError::new(format!("{pointer}/{name}"), missing);
        }
    }
    // The last one: what was sent may hold the same words.
    let expected = text.rsplit_once(", expected ").map_or("", |(_, expected)| expected);
    let is = |prefix| text.starts_with(prefix);
    let detail = if is("unknown field ") {
        Text::NotField
    } else if is("unknown variant ") {
        Text::OneOf { words: words_of(expected) }
    } else if is("invalid ") {
        wanted(expected)
    } else {
        ours(text)
    };
    FieldError::new(pointer, detail)
}

/// What serde expected.
fn wanted(expected: &str) -> Text {
    match expected {
        "u8" => Text::NumberUpTo { most: u8::MAX.into() },
        "u16" => Text::NumberUpTo { most: u16::MAX.into() },
        "u32" => Text::NumberUpTo { most: u32::MAX as usize },
        "u64" | "usize" => Text::NotNegative,
        "i8" | "i16" | "i32" | "i64" => Text::WholeNumber,
        "a string" => Text::String,
        "a boolean" => Text::Boolean,
        "a sequence" => Text::List,
        "a map" => Text::Object,
        _ if expected.starts_with("struct ") => Text::Object,
        _ if expected.starts_with("one of `") => Text::OneOf { words: words_of(expected) },
        _ => ours(&format!("must be {expected}")),
    }
}

/// A text of ours that came through serde; what is none of ours tells a client
/// nothing.
fn ours(text: &str) -> Text {
    Text::of_english(text).unwrap_or(Text::NotRight)
}

/// The words of "one of `open`, `closed`".
fn words_of(expected: &str) -> String {
    expected.split('`').skip(1).step_by(2).collect::<Vec<_>>().join(", ")
}

/// A path of serde as a JSON pointer (RFC 6901).
fn pointer_to(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&escaped(key));
            }
            // Which variant was tried is our side of it, not the client's.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use contracts::catalog::{EventEdit, SaleEdit, SectionEdit, TicketTypeEdit, WithdrawalEdit};
    use contracts::orders::PlaceOrderBody;
    use contracts::problem::Language;
    use contracts::queue::QueueSettingsBody;
    use domain::EventId;
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum State {
        Open,
        Closed,
        Paused,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read counts")]
    struct Body {
        lines: Vec<Line>,
        state: Option<State>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read counts")]
    struct Line {
        event: EventId,
        quantity: Option<u8>,
        #[serde(rename = "a/b~c")]
        name: Option<String>,
        is_last: Option<bool>,
    }

    const NO_JSON: &str = "is not valid JSON";

    fn english(fault: &FieldError) -> String {
        fault.detail.in_language(Language::English)
    }

    #[track_caller]
    fn assert_fault(text: &str, pointer: &str, detail: &str) {
        let fault = read::<Body>(text.as_bytes()).unwrap_err();
        assert_eq!((fault.pointer.as_str(), english(&fault).as_str()), (pointer, detail), "{text}");
    }

    fn assert_line(line: &str, pointer: &str, detail: &str) {
        let pointer = format!("/lines/1{pointer}");
        assert_fault(&format!(r#"{{"lines": [{{"event": "e"}}, {line}]}}"#), &pointer, detail);
    }

    #[test]
    fn what_is_right_is_read() {
        let text = r#"{"lines": [{"event": "e", "quantity": 2}], "state": "open"}"#;
        assert!(read::<Body>(text.as_bytes()).is_ok());
    }

    #[test]
    fn a_wrong_value_is_told_what_it_must_be() {
        let byte = "must be a whole number from 0 to 255";
        for quantity in ["-1", "256", "1.5", "1e3", "\"2, expected u64\"", "[]", "true"] {
            assert_line(&format!(r#"{{"quantity": {quantity}}}"#), "/quantity", byte);
        }
        assert_line(r#"{"a/b~c": 7}"#, "/a~1b~0c", "must be a text");
        assert_line(r#"{"is_last": "yes"}"#, "/is_last", "must be true or false");
        assert_line("7", "", "must be a JSON object");
        assert_line("[]", "", "must be a JSON object");
        assert_fault(r#"{"lines": {}}"#, "/lines", "must be a list");
        assert_fault("null", "", "must be a JSON object");
        let rule = "must be 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'";
        assert_line(r#"{"event": "a b"}"#, "/event", rule);
    }

    #[test]
    fn a_word_is_told_which_words_there_are() {
        let words = "must be one of open, closed, paused";
        assert_fault(r#"{"lines": [], "state": "ajar"}"#, "/state", words);
        for state in ["7", "true", "[]", "[\"open\"]", "{\"open\": 1}", "{\"open\": null}"] {
            assert_fault(&format!(r#"{{"lines": [], "state": {state}}}"#), "/state", words);
        }
    }

    /// Where the values of a body stand.
    fn pointers(body: &Value) -> Vec<String> {
        let parts: Vec<(String, &Value)> = match body {
            Value::Object(fields) => {
                fields.iter().map(|(name, part)| (name.clone(), part)).collect()
            }
            Value::Array(parts) => (0..).map(|at: u8| at.to_string()).zip(parts).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        };
        let below = |(name, part): &(String, &Value)| {
            let rest = pointers(part).into_iter().chain([String::new()]);
            rest.map(|rest| format!("/{name}{rest}")).collect::<Vec<_>>()
        };
        parts.iter().flat_map(below).collect()
    }

    /// Whatever the types of bodies say through serde is known here.
    fn assert_told<T: DeserializeOwned>(good: Value) {
        assert!(read::<T>(good.to_string().as_bytes()).is_ok(), "{good}");
        for wrong in [json!("a b"), json!(-1), json!(1.5), json!(true), json!([[]]), json!({})] {
            for pointer in pointers(&good) {
                let mut body = good.clone();
                *body.pointer_mut(&pointer).unwrap() = wrong.clone();
                let Err(fault) = read::<T>(body.to_string().as_bytes()) else { continue };
                assert_ne!(fault.detail, Text::NotRight, "{body}: {fault:?}");
            }
        }
    }

    #[test]
    fn no_fault_of_a_body_goes_without_words() {
        assert_told::<EventEdit>(json!({
            "title": "t", "venue": {"name": "n", "city": "c"}, "time_zone": "UTC",
            "starts_at": "2030-01-01T00:00:00Z", "currency": "TWD", "limit_per_customer": 4,
            "sale": {"opens_at": "2030-01-01T00:00:00Z", "closes_at": "2030-01-02T00:00:00Z"},
        }));
        assert_told::<TicketTypeEdit>(json!({
            "kind": "general_admission", "name": "n", "price": {"amount": 1, "currency": "TWD"},
            "limit_per_customer": 4, "capacity": 9,
        }));
        assert_told::<SectionEdit>(json!({
            "ticket_type": "t", "rows": [{"row": 1, "seats": 3}, {"row": "2", "seats": ["1"]}],
        }));
        let units = json!({"ticket_type": "t", "quantity": 1, "seats": ["A-1-1"]});
        assert_told::<WithdrawalEdit>(units.clone());
        assert_told::<PlaceOrderBody>(json!({"lines": [units]}));
        assert_told::<SaleEdit>(json!({"state": "open"}));
        assert_told::<QueueSettingsBody>(json!({
            "cap": 1, "grace_seconds": 1, "session_seconds": 1, "token_seconds": 1,
        }));
    }

    /// `text` holds a list for an object, or a map for a word, which serde alone
    /// would take for the type.
    #[track_caller]
    fn assert_by_name<T: DeserializeOwned>(text: &str, pointer: &str, detail: &str) {
        assert!(serde_json::from_str::<T>(text).is_ok(), "{text} proves nothing");
        let fault = read::<T>(text.as_bytes()).err().map(|fault| (english(&fault), fault.pointer));
        assert_eq!(fault, Some((detail.to_owned(), pointer.to_owned())), "{text}");
    }

    #[test]
    fn no_list_passes_for_an_object() {
        const OBJECT: &str = "must be a JSON object";
        fn assert_object<T: DeserializeOwned>(text: &str, pointer: &str) {
            assert_by_name::<T>(text, pointer, OBJECT);
        }
        assert_object::<PlaceOrderBody>(r#"[[["t", 1]]]"#, "");
        assert_object::<PlaceOrderBody>(r#"[[{"ticket_type": "t", "quantity": 1}]]"#, "");
        assert_object::<PlaceOrderBody>(r#"{"lines": [["t", 1]]}"#, "/lines/0");
        assert_object::<PlaceOrderBody>(r#"{"lines": [["t", 1, ["A-1-1"]]]}"#, "/lines/0");
        assert_object::<WithdrawalEdit>(r#"["t", 1]"#, "");
        assert_object::<WithdrawalEdit>(r#"["t", 1, ["A-1-1"]]"#, "");
        assert_object::<SaleEdit>(r#"["open"]"#, "");
        assert_object::<QueueSettingsBody>("[7, 120, 900, 300]", "");

        let (opens, closes) = ("2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z");
        let event = |venue: Value, sale: Value| {
            json!({"title": "t", "venue": venue, "time_zone": "UTC", "starts_at": opens,
                   "sale": sale, "currency": "TWD"})
            .to_string()
        };
        let (venue, sale) = (json!({"name": "n", "city": "c"}), json!([opens, closes]));
        assert_object::<EventEdit>(&event(venue.clone(), sale.clone()), "/sale");
        let dates = json!({"opens_at": opens, "closes_at": closes});
        assert_object::<EventEdit>(&event(json!(["n", "c"]), dates), "/venue");
        let flat = json!(["t", venue, "UTC", opens, sale, "TWD", 4]);
        assert_object::<EventEdit>(&flat.to_string(), "");

        let price = r#"{"kind": "reserved_seating", "name": "n", "price": [1, "TWD"]}"#;
        assert_object::<TicketTypeEdit>(price, "/price");
        let flat = r#"["general_admission", "n", {"amount": 1, "currency": "TWD"}, 4, 9]"#;
        assert_object::<TicketTypeEdit>(flat, "");

        assert_object::<SectionEdit>(r#"["t", [["1", 3]]]"#, "");
        assert_object::<SectionEdit>(r#"{"ticket_type": "t", "rows": [["1", 3]]}"#, "/rows/0");
        let second = r#"{"ticket_type": "t", "rows": [{"row": 1, "seats": 3}, [2, ["1"]]]}"#;
        assert_object::<SectionEdit>(second, "/rows/1");
    }

    #[test]
    fn no_map_passes_for_a_word() {
        let states = "must be one of open, paused, closed";
        assert_by_name::<SaleEdit>(r#"{"state": {"paused": null}}"#, "/state", states);
        let kinds = "must be one of general_admission, reserved_seating";
        let body = r#"{"kind": {"reserved_seating": null}, "name": "n",
                       "price": {"amount": 1, "currency": "TWD"}}"#;
        assert_by_name::<TicketTypeEdit>(body, "/kind", kinds);
    }

    #[test]
    fn a_field_too_many_or_too_few_is_named() {
        assert_line(r#"{"event": "e", "colour": 1}"#, "/colour", "is no field of this object");
        assert_line(r#"{"event": "e", "event": "e"}"#, "/event", "is given twice");
        assert_line(r#"{"quantity": 1}"#, "/event", "is missing");
        assert_fault("{}", "/lines", "is missing");
    }

    #[test]
    fn what_is_no_json_is_called_so() {
        for text in ["", "{", "{]", "{} {}", "{'lines': 1}", "\u{feff}{}", "{\"\u{0}\": 1}"] {
            let fault = read::<Body>(text.as_bytes()).unwrap_err();
            let is_told = [Text::NotJson, Text::Missing].contains(&fault.detail);
            assert!(is_told, "{text}: {fault:?}");
        }
        assert_fault(r#"{"lines": []} and more"#, "", NO_JSON);
        assert_fault(r#"{"lines": ["#, "/lines", NO_JSON);
        let broken = read::<Body>(b"{\"lines\": [{\"\xff\": 1}]}").unwrap_err();
        assert_eq!((broken.pointer.as_str(), broken.detail), ("/lines/0", Text::NotJson));
    }
}
