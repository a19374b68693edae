//! Versions as entity tags: `"v3"`. An edit says which version it edits.

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use contracts::problem::{FieldError, Reason, Text};
use http::header::{CACHE_CONTROL, ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderValue, StatusCode};

use super::Failure;

/// What an edit expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing: it creates (`If-None-Match: *`).
    Absent,
    /// Whichever version there is (`If-Match: *`), but not nothing.
    Present,
    /// This version (`If-Match: "v3"`).
    Version(u64),
}

impl Expectation {
    /// Whether it is this version that shall be edited.
    #[must_use]
    pub fn is_met_by(self, version: u64) -> bool {
        match self {
            Self::Absent => false,
            Self::Present => true,
            Self::Version(expected) => expected == version,
        }
    }

    /// What a failed write is told as. Another edit that came between is no
    /// mismatch to one of whichever version there is: sent again, it edits that.
    #[must_use]
    pub fn failed(self, failure: Failure) -> Failure {
        match (self, failure.reason()) {
            (Self::Present, Reason::VersionMismatch) => {
                Failure::new(Reason::Unavailable).with_detail(Text::TooManyEdits)
            }
            (Self::Absent | Self::Present | Self::Version(_), _) => failure,
        }
    }
}

/// The entity tag of a version.
#[must_use]
pub fn of_version(version: u64) -> HeaderValue {
    HeaderValue::try_from(format!("\"v{version}\""))
        .unwrap_or_else(|_| HeaderValue::from_static("\"v\""))
}

/// The entity tag of a version that also shows something which changes without an
/// edit, like the state of a sale: `"v3-open"`. It differs as what is shown does,
/// and edits version 3 all the same.
#[must_use]
pub fn of_version_showing(version: u64, shown: &str) -> HeaderValue {
    HeaderValue::try_from(format!("\"v{version}-{shown}\"")).unwrap_or_else(|_| of_version(version))
}

/// What the edit expects; none where it does not say.
///
/// # Errors
/// When either header is there but says nothing that can be met.
pub fn expectation(headers: &HeaderMap) -> Result<Option<Expectation>, Failure> {
    match (headers.get(IF_MATCH), headers.get(IF_NONE_MATCH)) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(invalid(&IF_MATCH, Text::BothConditions)),
        (Some(value), None) if value == "*" => Ok(Some(Expectation::Present)),
        (Some(value), None) => match version_of(value) {
            Some(version) => Ok(Some(Expectation::Version(version))),
            None => Err(invalid(&IF_MATCH, Text::IfMatch)),
        },
        (None, Some(value)) if value == "*" => Ok(Some(Expectation::Absent)),
        (None, Some(_)) => Err(invalid(&IF_NONE_MATCH, Text::IfNoneMatch)),
    }
}

/// What the edit expects, which it has to say.
///
/// # Errors
/// As [`expectation`], and 428 where it does not say.
pub fn required(headers: &HeaderMap) -> Result<Expectation, Failure> {
    expectation(headers)?.ok_or_else(|| Failure::new(Reason::PreconditionRequired))
}

/// Whether the client already has what this tag names (then 304).
fn is_current(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let given = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let (Some(given), Ok(tag)) = (given, tag.to_str()) else { return false };
    given.trim() == "*" || given.split(',').any(|one| opaque(one) == opaque(tag))
}

/// What anybody may read and keep for a while; 304 where the client has it.
pub fn readable(
    headers: &HeaderMap,
    tag: HeaderValue,
    keep: &'static str,
    body: impl IntoResponse,
) -> Response {
    let is_known = is_current(headers, &tag);
    let ours = [(ETAG, tag), (CACHE_CONTROL, HeaderValue::from_static(keep))];
    if is_known {
        (StatusCode::NOT_MODIFIED, ours).into_response()
    } else {
        (ours, body).into_response()
    }
}

/// A tag without the mark of a weak one. The CDN makes tags weak where it compresses
/// an answer, so that is how clients send them back, in either header. A tag of ours
/// names a version: which bytes it was shown in makes no difference.
fn opaque(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix("W/").unwrap_or(tag)
}

fn version_of(value: &HeaderValue) -> Option<u64> {
    let tag = opaque(value.to_str().ok()?).strip_prefix("\"v")?.strip_suffix('"')?;
    let digits = tag.split_once('-').map_or(tag, |(digits, _)| digits);
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

fn invalid(header: &HeaderName, detail: Text) -> Failure {
    let name = if header == IF_MATCH { "If-Match" } else { "If-None-Match" };
    FieldError::new(format!("header:{name}"), detail).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn an_edit_says_what_it_expects() {
        assert_eq!(expectation(&headers(&[])).unwrap(), None);
        let absent = expectation(&headers(&[(IF_NONE_MATCH, "*")])).unwrap();
        assert_eq!(absent, Some(Expectation::Absent));
        let present = expectation(&headers(&[(IF_MATCH, "*")])).unwrap();
        assert_eq!(present, Some(Expectation::Present));
        let version = expectation(&headers(&[(IF_MATCH, "\"v12\"")])).unwrap();
        assert_eq!(version, Some(Expectation::Version(12)));
        let shown = of_version_showing(12, "open");
        assert_eq!(shown, "\"v12-open\"");
        let version = expectation(&HeaderMap::from_iter([(IF_MATCH, shown)])).unwrap();
        assert_eq!(version, Some(Expectation::Version(12)));
        for weak in ["W/\"v12\"", "W/\"v12-open\""] {
            let version = expectation(&headers(&[(IF_MATCH, weak)])).unwrap();
            assert_eq!(version, Some(Expectation::Version(12)), "{weak}");
        }
    }

    #[test]
    fn whichever_version_there_is_can_be_edited_and_nothing_can_not() {
        assert!(Expectation::Present.is_met_by(7) && Expectation::Version(7).is_met_by(7));
        assert!(!Expectation::Absent.is_met_by(7) && !Expectation::Version(6).is_met_by(7));
        for (expectation, told) in [
            (Expectation::Present, Reason::Unavailable),
            (Expectation::Absent, Reason::VersionMismatch),
            (Expectation::Version(7), Reason::VersionMismatch),
        ] {
            let overtaken = expectation.failed(Failure::new(Reason::VersionMismatch));
            assert_eq!(overtaken.reason(), told);
            assert_eq!(expectation.failed(Failure::new(Reason::Gone)).reason(), Reason::Gone);
        }
    }

    #[test]
    fn an_expectation_that_can_not_be_met_names_its_header() {
        for bad in [
            "v3",
            "\"3\"",
            "\"v-1\"",
            "\"v+1\"",
            "*, \"v1\"",
            "\"v1\", \"v2\"",
            "w/\"v1\"",
            "W/W/\"v1\"",
            "W/v1",
            "\"v\"",
        ] {
            let failure = expectation(&headers(&[(IF_MATCH, bad)])).unwrap_err();
            assert_eq!(failure.problem().errors[0].pointer, "header:If-Match", "{bad}");
        }
        assert!(expectation(&headers(&[(IF_NONE_MATCH, "\"v1\"")])).is_err());
        assert!(expectation(&headers(&[(IF_NONE_MATCH, "*"), (IF_MATCH, "\"v1\"")])).is_err());
        assert_eq!(required(&headers(&[])).unwrap_err().reason(), Reason::PreconditionRequired);
    }

    #[test]
    fn a_client_that_has_it_needs_no_copy() {
        let tag = of_version(3);
        for has in ["\"v3\"", "W/\"v3\"", "\"v1\", \"v3\"", "\"v1\", W/\"v3\"", "*"] {
            assert!(is_current(&headers(&[(IF_NONE_MATCH, has)]), &tag), "{has}");
        }
        assert!(!is_current(&headers(&[(IF_NONE_MATCH, "\"v33\"")]), &tag));
        assert!(!is_current(&headers(&[]), &tag));
    }

    #[test]
    fn who_has_it_gets_no_copy() {
        let answer = |headers| readable(&headers, of_version(3), "public, max-age=1", "body");
        let fresh = answer(HeaderMap::new());
        assert_eq!((fresh.status(), &fresh.headers()[ETAG]), (StatusCode::OK, &of_version(3)));
        let again = answer(headers(&[(IF_NONE_MATCH, "\"v3\"")]));
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(again.headers()[CACHE_CONTROL], "public, max-age=1");
        assert!(!again.headers().contains_key(http::header::CONTENT_TYPE));
    }
}
