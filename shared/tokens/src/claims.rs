//! What the tokens say.

use domain::{CustomerId, EventId, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Lets a customer buy at an event, within one shopping session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// Who may buy.
    pub customer: CustomerId,
    /// At which event.
    pub event: EventId,
    /// In which session.
    pub session: SessionId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// The first instant it is no longer valid.
    pub expires_at: Timestamp,
}

impl Admission {
    /// Whether it lets this customer buy at this event.
    #[must_use]
    pub fn is_for(&self, event: &EventId, customer: &CustomerId) -> bool {
        self.event == *event && self.customer == *customer
    }
}

/// Proves a place in line; as good as the line itself after a loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Whose place.
    pub customer: CustomerId,
    /// In which event's line.
    pub event: EventId,
    /// Which generation of the line.
    pub generation: u64,
    /// Which number.
    pub number: u32,
    /// When it was issued.
    pub issued_at: Timestamp,
}

/// Lets anybody watch an event's seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    /// Which event.
    pub event: EventId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// The first instant it is no longer valid.
    pub expires_at: Timestamp,
}

/// What a token claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// An admission.
    Admission,
    /// A place's receipt.
    Receipt,
    /// A viewer's pass.
    Viewer,
}

impl Purpose {
    /// What a token claims to be; none where it claims to be none of ours.
    /// **Nothing is verified**: it only says which check to make.
    #[must_use]
    pub fn claimed_by(token: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Claimed {
            iss: String,
            aud: String,
        }
        let claimed: Claimed = jsonwebtoken::dangerous::insecure_decode_claims(token).ok()?;
        if claimed.iss != crate::ISSUER {
            return None;
        }
        match claimed.aud.as_str() {
            Admission::AUDIENCE => Some(Self::Admission),
            Receipt::AUDIENCE => Some(Self::Receipt),
            Viewer::AUDIENCE => Some(Self::Viewer),
            _ => None,
        }
    }
}

/// A kind of token: what it is for, and how it stands on the wire.
pub(crate) trait Kind: Sized {
    const AUDIENCE: &'static str;
    type Wire: Serialize + for<'de> Deserialize<'de>;
    fn to_wire(&self) -> Self::Wire;
    /// None where the claims contradict each other or no time of ours.
    fn from_wire(wire: Self::Wire) -> Option<Self>;
    /// None: never.
    fn expires_at(&self) -> Option<Timestamp>;
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AdmissionWire {
    iss: String,
    aud: String,
    sub: CustomerId,
    event: EventId,
    sid: SessionId,
    iat: i64,
    exp: i64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ReceiptWire {
    iss: String,
    aud: String,
    sub: CustomerId,
    event: EventId,
    generation: u64,
    number: u32,
    iat: i64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ViewerWire {
    iss: String,
    aud: String,
    event: EventId,
    iat: i64,
    exp: i64,
}

impl Kind for Admission {
    const AUDIENCE: &'static str = "admission";
    type Wire = AdmissionWire;

    fn to_wire(&self) -> AdmissionWire {
        AdmissionWire {
            iss: crate::ISSUER.to_owned(),
            aud: Self::AUDIENCE.to_owned(),
            sub: self.customer.clone(),
            event: self.event.clone(),
            sid: self.session.clone(),
            iat: self.issued_at.as_second(),
            exp: self.expires_at.as_second(),
        }
    }

    fn from_wire(wire: AdmissionWire) -> Option<Self> {
        Some(Self {
            customer: wire.sub,
            event: wire.event,
            session: wire.sid,
            issued_at: Timestamp::from_second(wire.iat).ok()?,
            expires_at: Timestamp::from_second(wire.exp).ok()?,
        })
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}

impl Kind for Receipt {
    const AUDIENCE: &'static str = "place";
    type Wire = ReceiptWire;

    fn to_wire(&self) -> ReceiptWire {
        ReceiptWire {
            iss: crate::ISSUER.to_owned(),
            aud: Self::AUDIENCE.to_owned(),
            sub: self.customer.clone(),
            event: self.event.clone(),
            generation: self.generation,
            number: self.number,
            iat: self.issued_at.as_second(),
        }
    }

    fn from_wire(wire: ReceiptWire) -> Option<Self> {
        Some(Self {
            customer: wire.sub,
            event: wire.event,
            generation: wire.generation,
            number: wire.number,
            issued_at: Timestamp::from_second(wire.iat).ok()?,
        })
    }

    fn expires_at(&self) -> Option<Timestamp> {
        None
    }
}

impl Kind for Viewer {
    const AUDIENCE: &'static str = "viewer";
    type Wire = ViewerWire;

    fn to_wire(&self) -> ViewerWire {
        ViewerWire {
            iss: crate::ISSUER.to_owned(),
            aud: Self::AUDIENCE.to_owned(),
            event: self.event.clone(),
            iat: self.issued_at.as_second(),
            exp: self.expires_at.as_second(),
        }
    }

    fn from_wire(wire: ViewerWire) -> Option<Self> {
        Some(Self {
            event: wire.event,
            issued_at: Timestamp::from_second(wire.iat).ok()?,
            expires_at: Timestamp::from_second(wire.exp).ok()?,
        })
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
