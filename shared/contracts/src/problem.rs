//! Problems (RFC 9457): what a client reads when something was refused or
//! failed. The machine-readable part never changes with the language; the text
//! exists in English and Traditional Chinese.

mod text;

use serde::{Deserialize, Serialize};

pub use text::Text;

/// One wrong field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// A JSON pointer into the body, or the name of a header or parameter
    /// (`header:Idempotency-Key`, `path:event`, `query:limit`).
    pub pointer: String,
    /// What is wrong with it.
    pub detail: Text,
}

impl FieldError {
    /// A wrong field.
    #[must_use]
    pub fn new(pointer: impl Into<String>, detail: impl Into<Text>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into() }
    }

    fn body(&self, language: Language) -> FieldErrorBody {
        FieldErrorBody { pointer: self.pointer.clone(), detail: self.detail.in_language(language) }
    }
}

/// One wrong field as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldErrorBody {
    /// Which.
    pub pointer: String,
    /// What is wrong with it, for people, in their language.
    pub detail: String,
}

/// The language a fan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Traditional Chinese.
    TraditionalChinese,
}

impl Language {
    /// The better of the two by an `Accept-Language` header; English where it
    /// names neither.
    #[must_use]
    pub fn negotiate(accept_language: &str) -> Self {
        let mut best = (0.0, Self::English);
        for entry in accept_language.split(',') {
            let mut parts = entry.split(';');
            let tag = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
            let quality = parts
                .find_map(|part| part.trim().strip_prefix("q=")?.parse::<f32>().ok())
                .unwrap_or(1.0);
            let language = match tag.split('-').next() {
                Some("zh") => Self::TraditionalChinese,
                Some("en") => Self::English,
                _ => continue,
            };
            if quality > best.0 {
                best = (quality, language);
            }
        }
        best.1
    }

    /// The tag for `Content-Language`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        self.pick("en", "zh-Hant")
    }

    fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::TraditionalChinese => chinese,
        }
    }
}

/// Every reason a client can be told, with its status and texts.
///
/// The `type` of a problem is `https://onsale.dev/problems/<reason>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The request is malformed; `errors` names the fields.
    InvalidRequest,
    /// No valid token.
    Unauthorized,
    /// The admission token is missing, expired, or not for this event and fan.
    AdmissionInvalid,
    /// The token's bearer may not do this.
    Forbidden,
    /// No such thing.
    NotFound,
    /// No such ticket type.
    UnknownTicketType,
    /// No such seat.
    UnknownSeat,
    /// Nothing is known under this order number (yet).
    UnknownOrder,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// The body is too large.
    TooLarge,
    /// The body is of another kind than the path takes.
    UnsupportedMediaType,
    /// The version in `If-Match` is not the current one.
    VersionMismatch,
    /// `If-Match` or `If-None-Match` is missing.
    PreconditionRequired,
    /// Same key, other content.
    KeyReused,
    /// Another request with this key is being decided at this moment.
    InProgress,
    /// Not enough left.
    SoldOut,
    /// Others have those seats.
    SeatTaken,
    /// More than one customer can have.
    OverLimit,
    /// The hold ended before the order was persisted.
    HoldExpired,
    /// Given away again after a loss.
    Recovery,
    /// Could not be carried out.
    Unprocessable,
    /// The sale has not begun.
    NotOpen,
    /// The sale is stopped for now.
    Paused,
    /// The sale is over.
    Closed,
    /// The shopping session has ended.
    SessionEnded,
    /// Not called yet.
    NotCalled,
    /// Was called, did not come in time.
    CallMissed,
    /// No place in line.
    NoPlace,
    /// The edit contradicts what is sold or already there.
    Conflict,
    /// Too many attempts of one customer.
    TooManyOrders,
    /// What was asked for is gone; fetch a snapshot.
    Gone,
    /// Sales stand still for a moment; this request decided nothing.
    Unavailable,
    /// The outcome is unknown; repeat with the same key.
    OutcomeUnknown,
    /// A fault of ours.
    Internal,
}

impl Reason {
    /// All of them, in the order of their declaration.
    pub const ALL: &[Self] = &[
        Self::InvalidRequest,
        Self::Unauthorized,
        Self::AdmissionInvalid,
        Self::Forbidden,
        Self::NotFound,
        Self::UnknownTicketType,
        Self::UnknownSeat,
        Self::UnknownOrder,
        Self::MethodNotAllowed,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::VersionMismatch,
        Self::PreconditionRequired,
        Self::KeyReused,
        Self::InProgress,
        Self::SoldOut,
        Self::SeatTaken,
        Self::OverLimit,
        Self::HoldExpired,
        Self::Recovery,
        Self::Unprocessable,
        Self::NotOpen,
        Self::Paused,
        Self::Closed,
        Self::SessionEnded,
        Self::NotCalled,
        Self::CallMissed,
        Self::NoPlace,
        Self::Conflict,
        Self::TooManyOrders,
        Self::Gone,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::Internal,
    ];

    /// The HTTP status.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::Unauthorized => 401,
            Self::AdmissionInvalid | Self::Forbidden | Self::SessionEnded => 403,
            Self::NotFound
            | Self::UnknownTicketType
            | Self::UnknownSeat
            | Self::UnknownOrder
            | Self::NoPlace => 404,
            Self::MethodNotAllowed => 405,
            Self::InProgress
            | Self::SoldOut
            | Self::SeatTaken
            | Self::OverLimit
            | Self::HoldExpired
            | Self::Recovery
            | Self::Unprocessable
            | Self::NotOpen
            | Self::Paused
            | Self::Closed
            | Self::NotCalled
            | Self::CallMissed
            | Self::Conflict => 409,
            Self::Gone => 410,
            Self::VersionMismatch => 412,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::KeyReused => 422,
            Self::PreconditionRequired => 428,
            Self::TooManyOrders => 429,
            Self::Internal => 500,
            Self::Unavailable | Self::OutcomeUnknown => 503,
        }
    }

    /// The machine-readable word, also the end of the problem's `type`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::AdmissionInvalid => "admission_invalid",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::UnknownTicketType => "unknown_ticket_type",
            Self::UnknownSeat => "unknown_seat",
            Self::UnknownOrder => "unknown_order",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::VersionMismatch => "version_mismatch",
            Self::PreconditionRequired => "precondition_required",
            Self::KeyReused => "key_reused",
            Self::InProgress => "in_progress",
            Self::SoldOut => "sold_out",
            Self::SeatTaken => "seat_taken",
            Self::OverLimit => "over_limit",
            Self::HoldExpired => "hold_expired",
            Self::Recovery => "recovery",
            Self::Unprocessable => "unprocessable",
            Self::NotOpen => "not_open",
            Self::Paused => "paused",
            Self::Closed => "closed",
            Self::SessionEnded => "session_ended",
            Self::NotCalled => "not_called",
            Self::CallMissed => "call_missed",
            Self::NoPlace => "no_place",
            Self::Conflict => "conflict",
            Self::TooManyOrders => "too_many_orders",
            Self::Gone => "gone",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Internal => "internal",
        }
    }

    /// The title a person reads.
    #[must_use]
    pub fn title(self, language: Language) -> &'static str {
        let (english, chinese) = self.titles();
        language.pick(english, chinese)
    }

    fn titles(self) -> (&'static str, &'static str) {
        match self {
            Self::InvalidRequest => ("The request is not valid", "請求內容有誤"),
            Self::Unauthorized => ("Please sign in", "請先登入"),
            Self::AdmissionInvalid => {
                ("Your admission is not valid for this sale", "您的入場憑證無法用於此次售票")
            }
            Self::Forbidden => ("You may not do this", "您沒有此操作的權限"),
            Self::NotFound => ("There is no such thing here", "找不到您要的內容"),
            Self::UnknownTicketType => ("There is no such ticket type", "沒有這個票種"),
            Self::UnknownSeat => ("There is no such seat", "沒有這個座位"),
            Self::UnknownOrder => {
                ("Nothing is known under this number (yet)", "目前查無此訂單編號")
            }
            Self::MethodNotAllowed => ("This can't be done here", "此處不支援這個操作"),
            Self::TooLarge => ("The request is too large", "請求內容過大"),
            Self::UnsupportedMediaType => ("This kind of content is not taken", "不支援此內容格式"),
            Self::VersionMismatch => {
                ("It was changed in the meantime; read it again", "內容已被更新，請重新讀取")
            }
            Self::PreconditionRequired => {
                ("Say which version you are editing", "請指定要編輯的版本")
            }
            Self::KeyReused => ("This key was used for another request", "此識別鍵已用於其他請求"),
            Self::InProgress => {
                ("Another request with this key is being decided", "相同識別鍵的請求正在處理中")
            }
            Self::SoldOut => ("Sold out", "已售完"),
            Self::SeatTaken => ("Someone else has this seat", "座位已被他人選走"),
            Self::OverLimit => ("This is more than one customer can have", "超過每人購買上限"),
            Self::HoldExpired => ("The hold ended before the order was kept", "保留時間已過"),
            Self::Recovery => (
                "The order was lost to a fault; please buy again",
                "訂單因系統故障失效，請重新購買",
            ),
            Self::Unprocessable => ("The order could not be carried out", "訂單無法處理"),
            Self::NotOpen => ("The sale has not begun", "尚未開始售票"),
            Self::Paused => ("The sale is paused", "售票暫停中"),
            Self::Closed => ("The sale is over", "售票已結束"),
            Self::SessionEnded => ("Your shopping session has ended", "您的購票時段已結束"),
            Self::NotCalled => ("It is not your turn yet", "還沒輪到您"),
            Self::CallMissed => ("You missed your turn", "您已錯過入場時間"),
            Self::NoPlace => ("You have no place in line", "您尚未排隊"),
            Self::Conflict => ("This contradicts what is there", "與現有內容衝突"),
            Self::TooManyOrders => ("Too many attempts", "嘗試次數過多"),
            Self::Gone => ("This is no longer there", "內容已不存在"),
            Self::Unavailable => ("Please try again in a moment", "請稍後再試"),
            Self::OutcomeUnknown => {
                ("The outcome is unknown; repeat with the same key", "結果未知，請以相同識別鍵重試")
            }
            Self::Internal => ("Something went wrong on our side", "系統發生錯誤"),
        }
    }

    /// What to do about a fault that is not the client's; none where there is
    /// nothing to add to the title.
    #[must_use]
    pub fn advice(self, language: Language) -> Option<&'static str> {
        const TEXTS: [(Reason, &str, &str); 3] = [
            (
                Reason::Unavailable,
                "You can safely repeat the request; with the same Idempotency-Key, if it had one.",
                "您可以安心重試；若有 Idempotency-Key，請使用相同的值。",
            ),
            (
                Reason::Internal,
                "You can repeat the request; with the same Idempotency-Key, if it had one.",
                "您可以重試；若有 Idempotency-Key，請使用相同的值。",
            ),
            (
                Reason::OutcomeUnknown,
                "It may have been done or not. Repeat it with the same key to learn which.",
                "無法確定是否已處理，請以相同識別鍵重試以確認結果。",
            ),
        ];
        let (_, english, chinese) = TEXTS.iter().find(|(reason, ..)| *reason == self)?;
        Some(language.pick(english, chinese))
    }

    /// After how many seconds repeating makes sense; none: repeating won't help
    /// by itself.
    #[must_use]
    pub fn retry_after_seconds(self) -> Option<u32> {
        const WAITS: [(Reason, u32); 7] = [
            (Reason::InProgress, 1),
            (Reason::Unavailable, 2),
            (Reason::Internal, 2),
            (Reason::OutcomeUnknown, 1),
            (Reason::NotCalled, 2),
            (Reason::CallMissed, 2),
            (Reason::TooManyOrders, 3_600),
        ];
        WAITS.iter().find(|(reason, _)| *reason == self).map(|(_, seconds)| *seconds)
    }
}

/// A problem as it goes over the wire (`application/problem+json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemBody {
    /// A stable URI that names the kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// For people, in their language.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What exactly, for people.
    pub detail: String,
    /// For machines.
    pub reason: String,
    /// The wrong fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldErrorBody>,
}

/// A problem before it is put into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Why.
    pub reason: Reason,
    /// More than the title says; none: the title is all.
    pub detail: Option<Text>,
    /// The wrong fields.
    pub errors: Vec<FieldError>,
}

impl Problem {
    /// A problem that its reason says all of.
    #[must_use]
    pub fn new(reason: Reason) -> Self {
        Self { reason, detail: None, errors: Vec::new() }
    }

    /// With a sentence that says more.
    #[must_use]
    pub fn with_detail(self, detail: Text) -> Self {
        Self { detail: Some(detail), ..self }
    }

    /// A malformed request.
    #[must_use]
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        Self { reason: Reason::InvalidRequest, detail: None, errors }
    }

    /// In a language, ready for the wire.
    #[must_use]
    pub fn body(&self, language: Language) -> ProblemBody {
        let title = self.reason.title(language).to_owned();
        let detail = self.detail.as_ref().map(|text| text.in_language(language));
        let advice = self.reason.advice(language).map(str::to_owned);
        ProblemBody {
            kind: format!("https://onsale.dev/problems/{}", self.reason.as_str()),
            detail: detail.or(advice).unwrap_or_else(|| title.clone()),
            title,
            status: self.reason.status(),
            reason: self.reason.as_str().to_owned(),
            errors: self.errors.iter().map(|error| error.body(language)).collect(),
        }
    }
}

impl From<FieldError> for Problem {
    fn from(error: FieldError) -> Self {
        Self::invalid(vec![error])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_with_the_highest_quality_wins() {
        use Language::{English, TraditionalChinese};
        assert_eq!(Language::negotiate(""), English);
        assert_eq!(Language::negotiate("zh-TW,zh;q=0.9,en;q=0.8"), TraditionalChinese);
        assert_eq!(Language::negotiate("en-US,en;q=0.9,zh-TW;q=0.1"), English);
        assert_eq!(Language::negotiate("fr, zh-Hant;q=0.5"), TraditionalChinese);
        assert_eq!(Language::negotiate("en;q=0, zh"), TraditionalChinese);
        assert_eq!(Language::negotiate("*;q=x,;,"), English);
        assert_eq!(Language::negotiate("zh,en"), TraditionalChinese, "the first of two equals");
        assert_eq!(Language::negotiate("zh;q=0"), English);
    }

    #[test]
    fn a_problem_is_put_into_words() {
        let body = Problem::new(Reason::SoldOut).body(Language::TraditionalChinese);
        assert_eq!(body.kind, "https://onsale.dev/problems/sold_out");
        assert_eq!((body.status, body.reason.as_str()), (409, "sold_out"));
        assert_eq!(body.title, "已售完");
    }

    #[test]
    fn what_is_wrong_with_a_field_is_told_in_the_same_language() {
        let wrong = FieldError::new("/quantity", Text::Missing);
        let problem = Problem::from(wrong).with_detail(Text::NotValid);
        let told = |language| {
            let body = problem.body(language);
            let [FieldErrorBody { pointer, detail }] = &body.errors[..] else { unreachable!() };
            assert_eq!((body.reason.as_str(), pointer.as_str()), ("invalid_request", "/quantity"));
            (body.detail, detail.clone())
        };
        let texts = |detail: &str, wrong: &str| (detail.to_owned(), wrong.to_owned());
        assert_eq!(told(Language::English), texts("is not valid", "is missing"));
        assert_eq!(told(Language::TraditionalChinese), texts("無效", "未提供"));
    }

    #[test]
    fn the_list_of_reasons_is_complete() {
        let places = Reason::ALL.iter().map(|reason| *reason as usize);
        assert!(places.eq(0..=Reason::Internal as usize), "Internal is the last one declared");
    }

    #[test]
    fn a_fault_of_ours_says_whether_and_when_to_repeat() {
        let all = [Reason::Internal, Reason::Unavailable, Reason::OutcomeUnknown];
        for reason in all {
            assert!(reason.status() >= 500, "{reason:?}");
            assert!(reason.retry_after_seconds().is_some(), "{reason:?}");
            let body = Problem::new(reason).body(Language::English);
            assert_ne!(body.detail, body.title, "{reason:?}");
        }
        let advice = |language| Reason::Unavailable.advice(language);
        assert_eq!(
            advice(Language::English),
            Some(
                "You can safely repeat the request; with the same Idempotency-Key, if it had one."
            )
        );
        assert_eq!(
            advice(Language::TraditionalChinese),
            Some("您可以安心重試；若有 Idempotency-Key，請使用相同的值。")
        );
        assert_eq!(Reason::SoldOut.advice(Language::English), None);
        assert_eq!(Reason::TooManyOrders.retry_after_seconds(), Some(3_600));
        assert_eq!(Reason::InProgress.retry_after_seconds(), Some(1));
        assert_eq!(Reason::SoldOut.retry_after_seconds(), None);
    }
}
