//! What a problem says beyond its title: every text, in both languages.
//!
//! A text is a value until somebody's language is known. There is no way to
//! make one of a string, so none can be there in English only.

use domain::{InvalidId, InvalidLines, InvalidMoney, InvalidSeatMap, LineProblem};

use super::Language;

macro_rules! texts {
    ($($name:ident $({ $($field:ident: $kind:ty),+ })?: $english:literal, $chinese:literal;)+) => {
        /// A text that people read. What begins with a small letter goes on from the
        /// name of a field: "quantity must be a whole number".
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Text {
            $(
                #[doc = $english]
                $name $({ $(#[doc = "What stands there."] $field: $kind),+ })?,
            )+
        }

        impl Text {
            /// As it reads in a language.
            #[must_use]
            pub fn in_language(&self, language: Language) -> String {
                match self {
                    $(Self::$name $({ $($field),+ })? => {
                        language.pick(format!($english), format!($chinese))
                    })+
                }
            }

            /// All of them, with nothing in their gaps, and as they stand below.
            fn all() -> Vec<(Self, &'static str, &'static str)> {
                vec![$(
                    (Self::$name $({ $($field: <$kind>::default()),+ })?, $english, $chinese),
                )+]
            }
        }
    };
}

texts! {
    // Any field, header or parameter.
    Missing: "is missing", "未提供";
    GivenTwice: "is given twice", "重複提供";
    NotRight: "is not what it must be", "內容不符要求";
    NotJson: "is not valid JSON", "不是有效的 JSON";
    NotBase64: "is no base64", "不是有效的 base64";
    NotPath: "is no path", "不是有效的路徑";
    NotReadable: "can't be read", "無法讀取";
    NotField: "is no field of this object", "此物件沒有這個欄位";
    WholeNumber: "must be a whole number", "必須是整數";
    NotNegative: "must be a whole number, 0 or more", "必須是 0 以上的整數";
    NumberUpTo { most: usize }:
        "must be a whole number from 0 to {most}", "必須是 0 到 {most} 的整數";
    Between { least: usize, most: usize }:
        "must be between {least} and {most}", "必須介於 {least} 到 {most} 之間";
    Limit { most: usize }:
        "must be between 1 and {most}, or left out", "必須介於 1 到 {most} 之間，或不填";
    String: "must be a text", "必須是文字";
    Boolean: "must be true or false", "必須是 true 或 false";
    List: "must be a list", "必須是清單";
    Object: "must be a JSON object", "必須是 JSON 物件";
    OneOf { words: String }: "must be one of {words}", "必須是下列其中之一：{words}";
    NamedTwice: "is named twice", "重複列出";

    // Names.
    Id:
        "must be 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'",
        "必須是 1 到 64 個字元，限用 A-Z、a-z、0-9、「_」與「-」";
    SeatId:
        "must be section-row-number, at most 64 characters of A-Z, a-z, 0-9, '_' and '-'",
        "必須是「區域-排-座號」，最多 64 個字元，限用 A-Z、a-z、0-9、「_」與「-」";
    Visible { most: usize }:
        "must be 1 to {most} visible ASCII characters", "必須是 1 到 {most} 個可見的 ASCII 字元";
    ReservedName: "must not begin with 'withdrawn:'", "不可以「withdrawn:」開頭";
    Key: "must be 1 to 255 printable ASCII characters", "必須是 1 到 255 個可列印的 ASCII 字元";
    Quoted:
        "must be one text between quotes, in which quotes and backslashes follow a backslash",
        "必須是一段以引號括住的文字，其中的引號與反斜線前須加反斜線";
    Bare:
        "must be between quotes where it holds spaces, commas, semicolons, quotes or backslashes",
        "含有空格、逗號、分號、引號或反斜線時，必須以引號括住";
    OrderNumber: "must be an order id", "必須是訂單編號";

    // Headers and pages.
    ContentType:
        "Content-Type must be application/json", "Content-Type 必須是 application/json";
    BothConditions: "contradicts If-None-Match", "與 If-None-Match 互相矛盾";
    IfMatch:
        "must be one entity tag as it was given, like \"v3\", or *",
        "必須是先前取得的一個實體標籤，例如 \"v3\"，或是 *";
    IfNoneMatch: "must be * on an edit", "編輯時必須是 *";
    PageCursor: "must be the `next` of the page before", "必須是上一頁的 `next`";

    // Events and ticket types.
    Blank: "must not be blank", "不可空白";
    TooLong { most: usize }: "has at most {most} characters", "最多 {most} 個字元";
    ControlCharacters: "must not hold control characters", "不可含有控制字元";
    TimeZone:
        "must be a time zone of the IANA database, like Asia/Taipei",
        "必須是 IANA 資料庫中的時區，例如 Asia/Taipei";
    Instant:
        "must be a date and time with its offset, like 2026-12-01T20:00:00+08:00, \
         from 1970-01-01T00:00:00Z to 9999-12-30T22:00:00Z",
        "必須是含時差的日期與時間，例如 2026-12-01T20:00:00+08:00，\
         範圍從 1970-01-01T00:00:00Z 到 9999-12-30T22:00:00Z";
    AfterOpening: "must lie after opens_at", "必須晚於 opens_at";
    Currency:
        "must be an ISO 4217 code of three capital letters",
        "必須是三個大寫字母的 ISO 4217 貨幣代碼";
    EventCurrency { currency: String }:
        "must be {currency}, the event's currency", "必須是此活動的貨幣 {currency}";
    CurrencyFixed { currency: String }:
        "is {currency} since the event was created", "自活動建立起即為 {currency}，不可變更";
    Amount { most: usize }:
        "must be between 0 and {most} minor units", "必須介於 0 到 {most} 個最小貨幣單位之間";
    KindFixed { kind: &'static str }:
        "is {kind} since the type was created", "自票種建立起即為 {kind}，不可變更";
    CapacityMissing:
        "is missing: general admission has a capacity", "未提供：不劃位的票種必須有名額";
    CapacityOfSeats:
        "must be left out: the seats of its sections are sold",
        "不可填寫：此票種販售的是各區域的座位";
    LoweredTooMuch { most: usize }:
        "can be lowered by at most {most} at a time", "每次最多減少 {most} 個";
    RaisedTooMuch:
        "takes back more reductions than can be taken back at a time; raise it less first",
        "一次取消太多次先前的減少；請先增加較少的數量";
    BelowSold { lowest: usize, capacity: usize }:
        "{lowest} of {capacity} are sold, held or withdrawn",
        "{capacity} 個名額中有 {lowest} 個已售出、保留中或已撤售";
    BetweenOrders { below: usize, above: usize }:
        "Reductions are taken back newest first, in whole orders: {below} and {above} come next",
        "先前的減少由最近的開始、以整筆取消：最接近的可行名額是 {below} 與 {above}";

    // What is not there.
    NoEvent: "There is no such event", "沒有這個活動";
    NoType: "The event has no such ticket type", "此活動沒有這個票種";
    NoSection: "There is no such section", "沒有這個區域";
    NoSeat: "There is no such seat", "沒有這個座位";
    NoSeatOfType: "The ticket type has no such seat", "此票種沒有這個座位";
    NoWithdrawal: "There is no such withdrawal", "沒有這筆撤售";
    NoTypeYet: "There is no such ticket type yet", "尚無這個票種";

    // Orders and withdrawals.
    QuantityOrSeats: "must have a quantity or seats", "必須有數量或座位";
    OtherCount { seats: usize }:
        "differs from the {seats} seats named", "與列出的 {seats} 個座位不符";
    NoBestAvailable:
        "The best available seats are not offered yet; name the seats",
        "尚未提供自動選位，請指定座位";
    NoLine: "must hold at least one line", "至少要有一個項目";
    LineEmpty: "must ask for at least one", "至少要有一張";
    OrderTooLarge { most: usize }: "An order has at most {most} tickets", "一筆訂單最多 {most} 張票";
    TypeTwice:
        "Another line has this ticket type; put them together", "另一個項目已有此票種，請合併";
    NoNumberedSeats:
        "This ticket type has no numbered seats; ask for a quantity",
        "此票種不劃位，請填寫數量";
    SoldBySeat:
        "This ticket type is sold by the seat; name the seats", "此票種需劃位，請指定座位";
    WithdrawalSize { most: usize }:
        "A withdrawal has between 1 and {most} units", "一筆撤售必須有 1 到 {most} 個座位或名額";
    CutName { prefix: &'static str }:
        "must not begin with {prefix}: such are lowered capacities",
        "不可以「{prefix}」開頭：此類名稱用於調降名額";
    NotFree: "is sold, held or withdrawn", "已售出、保留中或已撤售";

    // Admissions.
    Expired: "has expired", "已過期";
    NotValid: "is not valid", "無效";
    Foreign: "is for another event or another fan", "屬於其他活動或其他人";

    // Seat maps.
    TypeOfPlaces: "is general admission, which has no seats", "此票種不劃位，沒有座位";
    NoSeats: "must hold at least one seat", "至少要有一個座位";
    SectionTooLarge { most: usize }:
        "A section has at most {most} seats; split it", "一個區域最多 {most} 個座位，請拆分";
    RowTwice { row: String }: "Row {row} is named twice", "第 {row} 排重複列出";
    SeatOfRow { seat: String }:
        "Seat {seat} is named twice, or makes no valid seat id",
        "座位 {seat} 重複列出，或無法組成有效的座位代號";
    SeatName: "must be a name, like \"12\" or 12", "必須是名稱，例如 \"12\" 或 12";
    SeatsOrCount: "must be a list of seats or how many there are", "必須是座位清單或座位數";
    CsvHeader:
        "must begin with the header row,seat", "第一列必須是標題 row,seat";
    CsvRecord:
        "must be a row and a seat, in UTF-8", "必須是一個排號與一個座號，並以 UTF-8 編碼";
    SectionFixed:
        "A section never changes; this one is there with other seats",
        "區域不可變更；此區域已有不同的座位";
    TypeTooLarge { most: usize }:
        "A ticket type has at most {most} seats", "一個票種最多 {most} 個座位";

    // The WebSocket.
    GivenWith { field: &'static str }: "must be given with {field}", "必須與 {field} 一起提供";
    TooManySections { most: usize }: "has at most {most} sections", "最多 {most} 個區域";
    MessageTooLarge { most: usize }: "A message has at most {most} bytes", "訊息最多 {most} 個位元組";
    OtherEvent:
        "The connection's token is for another event", "此連線的憑證屬於其他活動";
    TooManyEvents { most: usize }:
        "A connection watches at most {most} events", "一個連線最多可追蹤 {most} 個活動";

    // How it stands, and what to do.
    SnapshotFirst: "Fetch a snapshot and go on from there", "請重新取得快照，再從該處繼續";
    TooManyEdits: "Too many edits at once", "同時編輯的人過多";
    EventExists: "There is an event of this id already", "已有相同代號的活動";
    TypeExists: "There is a ticket type of this id already", "已有相同代號的票種";
    TooManyTypes { most: usize }:
        "An event has at most {most} ticket types", "一個活動最多 {most} 個票種";
    WithdrawalExists:
        "There is a withdrawal of this id with other units; return it first",
        "已有相同代號但內容不同的撤售，請先恢復該筆";
    WithdrawalUndone:
        "It was given back by another request in the meantime", "已被另一個請求恢復販售";
    WithdrawalBusy:
        "The withdrawal came to no end in several attempts; send the same again",
        "多次嘗試仍未完成此筆撤售，請再送出一次相同的請求";
    StillToBeHad { remaining: usize }: "{remaining} can still be had", "目前還剩 {remaining} 個";
    NotLoadedYet: "The sale does not know these units yet", "售票系統尚未載入這些座位或名額";
    KeptNotApplied:
        "It is kept, but the sale does not know it yet; send the same again",
        "已儲存，但售票系統尚未套用，請再送出一次相同的請求";
    Recovering:
        "The inventory of this event is being recovered", "此活動的庫存正在復原中";
    PlaceEnded:
        "This place has ended. Join again for a new number.", "此排隊號碼已失效，請重新排隊。";
}

impl Text {
    /// The text that reads so in English, for what an error brings as a string;
    /// none: it is none of ours.
    #[must_use]
    pub fn of_english(text: &str) -> Option<Self> {
        let found = Self::all().into_iter().find(|(_, english, _)| *english == text);
        found.map(|(text, ..)| text)
    }
}

impl From<InvalidId> for Text {
    fn from(invalid: InvalidId) -> Self {
        match invalid {
            InvalidId::Name => Self::Id,
            InvalidId::Seat => Self::SeatId,
            InvalidId::Visible(most) => Self::Visible { most },
            InvalidId::Reserved => Self::ReservedName,
            InvalidId::Key => Self::Key,
            InvalidId::Quoted => Self::Quoted,
            InvalidId::Bare => Self::Bare,
            InvalidId::Order => Self::OrderNumber,
        }
    }
}

impl From<InvalidMoney> for Text {
    fn from(invalid: InvalidMoney) -> Self {
        match invalid {
            InvalidMoney::Currency => Self::Currency,
            InvalidMoney::Amount => Self::Amount { most: domain::Money::MAX_AMOUNT as usize },
        }
    }
}

impl From<&InvalidLines> for Text {
    fn from(invalid: &InvalidLines) -> Self {
        match invalid {
            InvalidLines::None => Self::NoLine,
            InvalidLines::TooManyUnits => Self::OrderTooLarge { most: domain::MAX_UNITS_PER_ORDER },
            InvalidLines::Line(_, LineProblem::Empty) => Self::LineEmpty,
            InvalidLines::Line(_, LineProblem::SeatTwice(_)) => Self::NamedTwice,
            InvalidLines::Line(_, LineProblem::TypeTwice) => Self::TypeTwice,
        }
    }
}

impl From<&InvalidSeatMap> for Text {
    fn from(invalid: &InvalidSeatMap) -> Self {
        match invalid {
            InvalidSeatMap::Empty => Self::NoSeats,
            InvalidSeatMap::TooManySeats => {
                Self::SectionTooLarge { most: domain::MAX_SEATS_PER_SECTION }
            }
            InvalidSeatMap::RowTwice { row, .. } => Self::RowTwice { row: row.clone() },
            InvalidSeatMap::Seat { row, seat, .. } => {
                Self::SeatOfRow { seat: format!("{row}-{seat}") }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 2] = [Language::English, Language::TraditionalChinese];

    /// The names in braces, sorted.
    fn gaps(text: &str) -> Vec<&str> {
        let mut gaps: Vec<_> =
            text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        gaps.sort_unstable();
        gaps
    }

    #[test]
    fn every_text_is_there_in_both_languages_and_says_the_same_things() {
        for (text, english, chinese) in Text::all() {
            assert!(!english.is_empty() && english.is_ascii(), "{text:?}");
            let is_han = |one: char| ('\u{4e00}'..='\u{9fff}').contains(&one);
            assert!(chinese.contains(is_han), "{text:?}");
            assert_eq!(gaps(english), gaps(chinese), "{text:?}");
            let [in_english, in_chinese] = LANGUAGES.map(|language| text.in_language(language));
            assert!(in_english.is_ascii() && in_chinese.contains(is_han), "{text:?}");
        }
    }

    #[test]
    fn a_text_is_told_with_what_stands_in_its_gaps() {
        let text = Text::BelowSold { lowest: 3, capacity: 10 };
        let told = LANGUAGES.map(|language| text.in_language(language));
        let [english, chinese] =
            ["3 of 10 are sold, held or withdrawn", "10 個名額中有 3 個已售出、保留中或已撤售"];
        assert_eq!(told, [english, chinese]);
    }

    #[test]
    fn a_text_is_found_by_its_english_and_by_no_other() {
        for (text, english, _) in Text::all() {
            if gaps(english).is_empty() {
                assert_eq!(Text::of_english(english), Some(text));
            }
        }
        assert_eq!(Text::of_english("expected value"), None);
        assert_eq!(Text::of_english(""), None);
    }

    #[test]
    fn what_reading_an_id_or_an_amount_says_is_a_text_of_the_same_words() {
        let ids = [
            InvalidId::Name,
            InvalidId::Seat,
            InvalidId::Visible(255),
            InvalidId::Reserved,
            InvalidId::Key,
            InvalidId::Quoted,
            InvalidId::Bare,
            InvalidId::Order,
        ];
        for invalid in ids {
            assert_eq!(Text::from(invalid).in_language(Language::English), invalid.to_string());
        }
        for invalid in [InvalidMoney::Currency, InvalidMoney::Amount] {
            let words = invalid.to_string();
            assert_eq!(Text::from(invalid).in_language(Language::English), words);
        }
    }
}
