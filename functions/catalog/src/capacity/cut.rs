//! Cuts: withdrawals that lower a capacity. Pure.

use std::cmp::Reverse;

use domain::{InvalidId, MAX_UNITS_PER_ORDER, WithdrawalId};
use dynamo_store::{Withdrawal, WithdrawalState};

/// Operators' own withdrawals can't be named so.
pub(crate) const PREFIX: &str = "capacity-";

/// What a cut is named after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The index of its type: short, and fixed for ever.
    pub(super) index: u8,
    /// The version of the type that it was made for.
    pub(super) version: u64,
    /// The capacity it leads to.
    pub(super) capacity: u32,
}

impl Cut {
    pub(super) fn id(&self) -> Result<WithdrawalId, InvalidCut> {
        let Self { index, version, capacity } = self;
        WithdrawalId::parse(&format!("{PREFIX}{index}-{version}-{capacity}")).map_err(InvalidCut)
    }

    pub(super) fn read(id: &WithdrawalId) -> Option<Self> {
        let mut parts = id.as_str().strip_prefix(PREFIX)?.splitn(3, '-');
        let mut next = || parts.next();
        Some(Self {
            index: next()?.parse().ok()?,
            version: next()?.parse().ok()?,
            capacity: next()?.parse().ok()?,
        })
    }

    /// Whether this is another cut that has places, or is about to, and does not count: at
    /// most one of the two ever will.
    pub(super) fn is_rival_of(&self, other: &Withdrawal) -> bool {
        use WithdrawalState::{Returning, Taken, Taking};
        let is_other = Self::read(&other.id)
            .is_some_and(|other| other.version <= self.version && other != *self);
        is_other && [Taking, Taken, Returning].contains(&other.state)
    }
}

/// A cut whose name is no id; its numbers always make one.
#[derive(Debug, thiserror::Error)]
#[error("a cut's name is no id")]
pub(super) struct InvalidCut(#[source] InvalidId);

impl From<InvalidCut> for lambda_kit::http::Failure {
    fn from(invalid: InvalidCut) -> Self {
        Self::internal(invalid)
    }
}

/// What must be given back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Returns<'a> {
    /// How many orders each of these cuts keeps, from its first.
    pub(super) keep: Vec<(&'a Withdrawal, usize)>,
    /// Places that no order can give back alone.
    pub(super) missing: u32,
}

/// Which orders of the cuts that count to give back, so that `ceiling` less `capacity`
/// places at least stay withdrawn. Newest cuts first.
pub(super) fn plan(cuts: &[Withdrawal], ceiling: u32, capacity: u32) -> Returns<'_> {
    let mut counted: Vec<&Withdrawal> =
        cuts.iter().filter(|cut| cut.state == WithdrawalState::Counted).collect();
    let withdrawn: usize =
        counted.iter().map(|cut| (0..kept(cut)).map(size_in(cut)).sum::<usize>()).sum();
    let mut surplus = withdrawn.saturating_sub(ceiling.saturating_sub(capacity) as usize);
    counted.sort_by_key(|cut| Reverse(Cut::read(&cut.id).map(|cut| cut.version)));
    let mut keep = Vec::new();
    for cut in counted {
        let before = kept(cut);
        let mut after = before;
        while after > 0 && size_in(cut)(after - 1) <= surplus {
            after -= 1;
            surplus -= size_in(cut)(after);
        }
        if after < before {
            keep.push((cut, after));
        }
    }
    Returns { keep, missing: u32::try_from(surplus).unwrap_or(u32::MAX) }
}

fn kept(cut: &Withdrawal) -> usize {
    cut.kept.map_or(cut.orders.len(), |kept| kept as usize)
}

/// The sizes of a cut's orders, by their places: all are full but the last.
fn size_in(cut: &Withdrawal) -> impl Fn(usize) -> usize {
    let size: usize = cut.lines.iter().map(domain::Line::count).sum();
    move |at| size.saturating_sub(at * MAX_UNITS_PER_ORDER).min(MAX_UNITS_PER_ORDER)
}

/// The record of a cut that shall keep so many of its orders.
pub(super) fn keeping(cut: &Withdrawal, orders: usize) -> Withdrawal {
    let (state, kept) = match orders {
        0 => (WithdrawalState::Returning, None),
        orders => (WithdrawalState::Counted, u32::try_from(orders).ok()),
    };
    Withdrawal { state, kept, version: cut.version.saturating_add(1), ..cut.clone() }
}

/// The record of a cut that a capacity is lower by.
pub(super) fn counted(cut: &Withdrawal) -> Withdrawal {
    Withdrawal {
        state: WithdrawalState::Counted,
        version: cut.version.saturating_add(1),
        ..cut.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use WithdrawalState::Counted;
    use domain::{Line, OrderId, TicketTypeId, Wanted};

    fn cut(version: u64, units: u32, state: WithdrawalState) -> Withdrawal {
        Withdrawal {
            id: Cut { index: 1, version, capacity: 5 }.id().unwrap(),
            lines: vec![Line {
                ticket_type: TicketTypeId::parse("floor").unwrap(),
                wanted: Wanted::Quantity(units),
            }],
            orders: vec![OrderId::from_bytes([1; 16]); units.div_ceil(40) as usize],
            kept: None,
            state,
            version: 2,
        }
    }

    /// So that `target` places stay withdrawn.
    fn planned(cuts: &[Withdrawal], target: u32) -> (Vec<(u64, usize)>, u32) {
        let Returns { keep, missing } = plan(cuts, 1_000, 1_000 - target);
        let version = |cut: &Withdrawal| Cut::read(&cut.id).unwrap().version;
        (keep.into_iter().map(|(cut, orders)| (version(cut), orders)).collect(), missing)
    }

    #[test]
    fn a_cut_is_known_by_its_name() {
        let cut = Cut { index: 100, version: u64::MAX, capacity: 1_000_000 };
        assert_eq!(Cut::read(&cut.id().unwrap()), Some(cut));
        for other in ["house-seats", "capacity-1-2", "capacity-1-2-x", "capacity-300-1-1"] {
            assert_eq!(Cut::read(&WithdrawalId::parse(other).unwrap()), None, "{other}");
        }
    }

    #[test]
    fn rivals_have_places_and_do_not_count() {
        use WithdrawalState::{Refused, Returned, Returning, Taken, Taking};
        let wanted = Cut { index: 1, version: 3, capacity: 9 };
        let is_rival = |version, state| wanted.is_rival_of(&cut(version, 10, state));
        for (state, has_places) in [
            (Taking, true),
            (Taken, true),
            (Returning, true),
            (Counted, false),
            (Refused, false),
            (Returned, false),
        ] {
            assert_eq!(
                [2, 3].map(|version| is_rival(version, state)),
                [has_places; 2],
                "{state:?}"
            );
            assert!(!is_rival(4, state), "it is of a version that this one is too late for");
        }
        let itself = Withdrawal { id: wanted.id().unwrap(), ..cut(3, 10, Taken) };
        assert!(!wanted.is_rival_of(&itself));
    }

    #[test]
    fn what_the_capacity_wants_withdrawn_stays() {
        let cuts = [cut(1, 14, Counted), cut(3, 100, Counted)];
        assert_eq!(planned(&cuts, 114), (vec![], 0));
        assert_eq!(planned(&cuts, 200), (vec![], 0), "nothing is taken here");
    }

    #[test]
    fn newest_orders_are_given_back_first_and_whole() {
        let cuts = [cut(1, 14, Counted), cut(3, 100, Counted)];
        assert_eq!(planned(&cuts, 94), (vec![(3, 2)], 0), "its last 20");
        assert_eq!(planned(&cuts, 0), (vec![(3, 0), (1, 0)], 0));
        assert_eq!(planned(&cuts, 100), (vec![(1, 0)], 0), "the 14 fit, the 20 do not");
        assert_eq!(planned(&cuts, 84), (vec![(3, 2)], 10), "ten come from the ceiling");
    }

    #[test]
    fn what_is_being_given_back_counts_no_more() {
        let cuts = [keeping(&cut(3, 100, Counted), 2), keeping(&cut(4, 50, Counted), 0)];
        assert_eq!(planned(&cuts, 80), (vec![], 0));
        assert_eq!(planned(&cuts, 40), (vec![(3, 1)], 0));
    }

    #[test]
    fn a_cut_that_no_capacity_is_lower_by_is_none() {
        use WithdrawalState::{Returning, Taken, Taking};
        let cuts =
            [cut(1, 50, Taking), cut(2, 10, Counted), cut(3, 50, Returning), cut(4, 9, Taken)];
        assert_eq!(planned(&cuts, 0), (vec![(2, 0)], 0));
    }
}
