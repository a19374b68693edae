//! An order's lines and its reason as compact text, written in one way only:
//! the same order is the same item, byte for byte.
//!
//! Lines: `floor:8800@3:17,18;stalls:12000@1:A-3-12` (type, amount, price
//! version, units). Reasons: `sold_out floor`, `over_limit 4`. No id or seat
//! holds any of these signs, and no seat is only digits.

use domain::{OrderLine, Rejection, SeatLabel, TicketTypeId, UnitId};

pub(super) fn pack_lines(lines: &[OrderLine]) -> String {
    let line = |line: &OrderLine| {
        let units: Vec<String> = line.units.iter().map(pack_unit).collect();
        let OrderLine { ticket_type, unit_amount, price_version, .. } = line;
        format!("{ticket_type}:{unit_amount}@{price_version}:{}", units.join(","))
    };
    lines.iter().map(line).collect::<Vec<_>>().join(";")
}

pub(super) fn unpack_lines(packed: &str) -> Option<Vec<OrderLine>> {
    let line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let ticket_type = TicketTypeId::parse(parts.next()?).ok()?;
        let (amount, version) = parts.next()?.split_once('@')?;
        let units = parts.next()?.split(',').filter(|unit| !unit.is_empty()).map(unpack_unit);
        Some(OrderLine {
            ticket_type,
            unit_amount: amount.parse().ok()?,
            price_version: version.parse().ok()?,
            units: units.collect::<Option<_>>()?,
        })
    };
    packed.split(';').filter(|part| !part.is_empty()).map(line).collect()
}

fn pack_unit(unit: &UnitId) -> String {
    match unit {
        UnitId::Serial(serial) => serial.to_string(),
        UnitId::Seat(label) => label.to_string(),
    }
}

fn unpack_unit(packed: &str) -> Option<UnitId> {
    if packed.bytes().all(|byte| byte.is_ascii_digit()) {
        packed.parse().ok().map(UnitId::Serial)
    } else {
        SeatLabel::parse(packed).ok().map(UnitId::Seat)
    }
}

pub(super) fn pack_reason(rejection: &Rejection) -> String {
    let mut words = vec![rejection.reason().to_owned()];
    match rejection {
        Rejection::SoldOut { ticket_type } => words.push(ticket_type.to_string()),
        Rejection::SeatTaken { seats } => words.extend(seats.iter().map(SeatLabel::to_string)),
        Rejection::OverLimit { ticket_type, limit } => {
            words.push(limit.to_string());
            words.extend(ticket_type.iter().map(TicketTypeId::to_string));
        }
        Rejection::HoldExpired | Rejection::Recovery | Rejection::Unprocessable => {}
    }
    words.join(" ")
}

pub(super) fn unpack_reason(packed: &str) -> Option<Rejection> {
    let mut words = packed.split(' ');
    let reason = words.next()?;
    let rest: Vec<&str> = words.collect();
    match (reason, rest.as_slice()) {
        ("sold_out", [ticket_type]) => {
            Some(Rejection::SoldOut { ticket_type: TicketTypeId::parse(ticket_type).ok()? })
        }
        ("seat_taken", seats) => {
            let seats = seats.iter().map(|seat| SeatLabel::parse(seat).ok());
            Some(Rejection::SeatTaken { seats: seats.collect::<Option<_>>()? })
        }
        ("over_limit", [limit]) => {
            Some(Rejection::OverLimit { ticket_type: None, limit: limit.parse().ok()? })
        }
        ("over_limit", [limit, ticket_type]) => Some(Rejection::OverLimit {
            ticket_type: Some(TicketTypeId::parse(ticket_type).ok()?),
            limit: limit.parse().ok()?,
        }),
        ("hold_expired", []) => Some(Rejection::HoldExpired),
        ("recovery", []) => Some(Rejection::Recovery),
        ("unprocessable", []) => Some(Rejection::Unprocessable),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket_type(id: &str) -> TicketTypeId {
        TicketTypeId::parse(id).unwrap()
    }

    fn seat(label: &str) -> SeatLabel {
        SeatLabel::parse(label).unwrap()
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let lines = vec![
            OrderLine {
                ticket_type: ticket_type("floor"),
                unit_amount: 8_800,
                price_version: 3,
                units: vec![UnitId::Serial(17), UnitId::Serial(0)],
            },
            OrderLine {
                ticket_type: ticket_type("1"),
                unit_amount: 0,
                price_version: u64::MAX,
                units: vec![UnitId::Seat(seat("1-2-3"))],
            },
        ];
        let packed = pack_lines(&lines);
        assert_eq!(packed, "floor:8800@3:17,0;1:0@18446744073709551615:1-2-3");
        assert_eq!(unpack_lines(&packed), Some(lines));
        assert_eq!(unpack_lines(""), Some(vec![]));
    }

    #[test]
    fn what_is_no_line_is_not_read_as_one() {
        for bad in
            ["floor", "floor:1:1", "floor:x@1:1", "floor:1@1:x", ":1@1:1", "a:1@1:4294967296"]
        {
            assert_eq!(unpack_lines(bad), None, "{bad}");
        }
    }

    #[test]
    fn reasons_are_read_as_they_were_written() {
        let reasons = [
            Rejection::SoldOut { ticket_type: ticket_type("floor") },
            Rejection::SeatTaken { seats: vec![seat("A-1-1"), seat("A-1-2")] },
            Rejection::OverLimit { ticket_type: None, limit: 4 },
            Rejection::OverLimit { ticket_type: Some(ticket_type("floor")), limit: 4 },
            Rejection::HoldExpired,
            Rejection::Recovery,
            Rejection::Unprocessable,
        ];
        for reason in reasons {
            assert_eq!(unpack_reason(&pack_reason(&reason)), Some(reason));
        }
        for bad in ["", "sold_out", "sold_out a b", "over_limit", "over_limit x", "nothing"] {
            assert_eq!(unpack_reason(bad), None, "{bad}");
        }
    }
}
