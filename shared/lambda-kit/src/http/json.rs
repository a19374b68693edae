//! Reading JSON, and saying in plain words which field is wrong. Serde's own words
//! are for whoever wrote the types: they name Rust's types, and the line and
//! column where the reader stood.

use contracts::problem::{FieldError, Text};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

/// Reads a text of JSON into a type.
pub(super) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, FieldError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| fault(pointer_to(error.path()), error.inner(), text))?;
    match reader.end() {
        Ok(()) => Ok(value),
        Err(_) => Err(FieldError::new("", Text::NotJson)),
    }
}

fn fault(pointer: String, error: &serde_json::Error, text: &[u8]) -> FieldError {
    match error.classify() {
        Category::Data => in_words(pointer, &without_place(error)),
        // A number where one of several words must be is no syntax to the reader.
        Category::Syntax if serde_json::from_slice::<Value>(text).is_ok() => {
            FieldError::new(pointer, Text::NotRight)
        }
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
    use serde_json::json;

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

    const NOT_RIGHT: &str = "is not what it must be";
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
        assert_fault(r#"{"lines": [], "state": 7}"#, "/state", NOT_RIGHT);
        assert_fault(r#"{"lines": [], "state": {"open": 1}}"#, "/state", NOT_RIGHT);
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
                // That one of several words must be there is told where a word is.
                let is_a_word = !wrong.is_string() && ["/kind", "/state"].contains(&&*pointer);
                assert_eq!(fault.detail == Text::NotRight, is_a_word, "{body}: {fault:?}");
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
