//! Reading JSON, and saying in plain words which field is wrong. Serde's own words
//! are for whoever wrote the types: they name Rust's types, and the line and
//! column where the reader stood.

use contracts::problem::FieldError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

const NOT_RIGHT: &str = "is not what it must be";
const NO_JSON: &str = "is not valid JSON";

/// Reads a text of JSON into a type.
pub(super) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, FieldError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| fault(pointer_to(error.path()), error.inner(), text))?;
    match reader.end() {
        Ok(()) => Ok(value),
        Err(_) => Err(FieldError::new("", NO_JSON)),
    }
}

fn fault(pointer: String, error: &serde_json::Error, text: &[u8]) -> FieldError {
    match error.classify() {
        Category::Data => in_words(pointer, &without_place(error)),
        // A number where one of several words must be is no syntax to the reader.
        Category::Syntax if serde_json::from_slice::<Value>(text).is_ok() => {
            FieldError::new(pointer, NOT_RIGHT)
        }
        Category::Syntax | Category::Eof | Category::Io => FieldError::new(pointer, NO_JSON),
    }
}

fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// The fault as a sentence about the field. What serde didn't word was worded by
/// a type of ours.
fn in_words(pointer: String, text: &str) -> FieldError {
    // Serde stands at the object then.
    for (words, plain) in [("missing field ", "is missing"), ("duplicate field ", "is given twice")]
    {
        if let Some(name) = text.strip_prefix(words) {
            let name = escaped(name.trim_matches('`'));
            return FieldError::new(format!("{pointer}/{name}"), plain);
        }
    }
    let is = |prefix| text.starts_with(prefix);
    let detail = if is("unknown field ") {
        "is no field of this object".to_owned()
    } else if is("invalid ") || is("unknown variant ") {
        // The last one: what was sent may hold the same words.
        let expected = text.rsplit_once(", expected ").map(|(_, expected)| expected);
        expected.and_then(plain).map_or(NOT_RIGHT.to_owned(), |plain| format!("must be {plain}"))
    } else {
        text.to_owned()
    };
    FieldError::new(pointer, detail)
}

/// What serde expected; none: something that a client knows nothing of.
fn plain(expected: &str) -> Option<String> {
    let plain = match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "a string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        "unit" => return None,
        _ if expected.ends_with(" variant") || expected.starts_with("enum ") => return None,
        ours => return Some(ours.replace('`', "")),
    };
    Some(plain.to_owned())
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
    use domain::EventId;
    use serde::Deserialize;

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

    #[track_caller]
    fn assert_fault(text: &str, pointer: &str, detail: &str) {
        let fault = read::<Body>(text.as_bytes()).unwrap_err();
        assert_eq!((fault.pointer.as_str(), fault.detail.as_str()), (pointer, detail), "{text}");
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
        assert_line("7", "", "must be an object");
        assert_line("[]", "", "must be an object");
        assert_fault(r#"{"lines": {}}"#, "/lines", "must be a list");
        assert_fault("null", "", "must be an object");
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
            let is_missing = fault.detail == "is missing";
            assert!(fault.detail == NO_JSON || is_missing, "{text}: {fault:?}");
        }
        assert_fault(r#"{"lines": []} and more"#, "", NO_JSON);
        assert_fault(r#"{"lines": ["#, "/lines", NO_JSON);
        let broken = read::<Body>(b"{\"lines\": [{\"\xff\": 1}]}").unwrap_err();
        assert_eq!((broken.pointer.as_str(), broken.detail.as_str()), ("/lines/0", NO_JSON));
    }
}
