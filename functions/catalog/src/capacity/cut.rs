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

/// Which orders of these cuts to give back so that `ceiling` less `capacity` places at
/// least stay withdrawn; newest cuts first, and those whole that never came to an end.
/// Of those made for one version, the one that led to the capacity is touched last: what
/// the others took is too much, and whole.
pub(super) fn plan(cuts: &[Withdrawal], ceiling: u32, capacity: u32) -> Returns<'_> {
    let (taken, unfinished): (Vec<_>, Vec<_>) =
        cuts.iter().partition(|cut| cut.state == WithdrawalState::Taken);
    let mut keep: Vec<(&Withdrawal, usize)> = unfinished.into_iter().map(|cut| (cut, 0)).collect();
    let withdrawn: usize = taken.iter().map(|cut| size(cut)).sum();
    let mut surplus = withdrawn.saturating_sub(ceiling.saturating_sub(capacity) as usize);
    let mut newest_first = taken;
    newest_first.sort_by_key(|withdrawal| {
        let cut = Cut::read(&withdrawal.id);
        let counts = cut.is_some_and(|cut| cut.capacity == capacity);
        (Reverse(cut.map(|cut| cut.version)), counts)
    });
    for cut in newest_first {
        let orders = cut.orders.len();
        let mut kept = orders;
        while kept > 0 && order_size(cut, kept - 1) <= surplus {
            kept -= 1;
            surplus -= order_size(cut, kept);
        }
        if kept < orders {
            keep.push((cut, kept));
        }
    }
    Returns { keep, missing: u32::try_from(surplus).unwrap_or(u32::MAX) }
}

fn size(cut: &Withdrawal) -> usize {
    cut.lines.iter().map(domain::Line::count).sum()
}

/// All orders of a cut are full but the last.
fn order_size(cut: &Withdrawal, at: usize) -> usize {
    size(cut).saturating_sub(at * MAX_UNITS_PER_ORDER).min(MAX_UNITS_PER_ORDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Line, OrderId, TicketTypeId, Wanted};

    /// Of a ceiling of 1,000, alone.
    fn cut(version: u64, units: u32, state: WithdrawalState) -> Withdrawal {
        Withdrawal {
            id: Cut { index: 1, version, capacity: 1_000 - units }.id().unwrap(),
            lines: vec![Line {
                ticket_type: TicketTypeId::parse("floor").unwrap(),
                wanted: Wanted::Quantity(units),
            }],
            orders: vec![OrderId::from_bytes([1; 16]); units.div_ceil(40) as usize],
            state,
            version: 2,
        }
    }

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
    fn what_the_capacity_wants_withdrawn_stays() {
        use WithdrawalState::Taken;
        let cuts = [cut(1, 14, Taken), cut(3, 100, Taken)];
        assert_eq!(planned(&cuts, 114), (vec![], 0));
        assert_eq!(planned(&cuts, 200), (vec![], 0), "nothing is taken here");
    }

    #[test]
    fn newest_orders_are_given_back_first_and_whole() {
        use WithdrawalState::Taken;
        let cuts = [cut(1, 14, Taken), cut(3, 100, Taken)];
        assert_eq!(planned(&cuts, 94), (vec![(3, 2)], 0), "its last 20");
        assert_eq!(planned(&cuts, 0), (vec![(3, 0), (1, 0)], 0));
        assert_eq!(planned(&cuts, 100), (vec![(1, 0)], 0), "the 14 fit, the 20 do not");
        assert_eq!(planned(&cuts, 84), (vec![(3, 2)], 10), "ten come from the ceiling");
    }

    #[test]
    fn of_cuts_for_one_version_the_one_that_counts_stays() {
        use WithdrawalState::Taken;
        // 20 and 50 less, by two operators at once.
        for cuts in [[cut(1, 20, Taken), cut(1, 50, Taken)], [cut(1, 50, Taken), cut(1, 20, Taken)]]
        {
            let kept = |target: u32| {
                let Returns { keep, missing } = plan(&cuts, 1_000, 1_000 - target);
                let kept = keep.into_iter().map(|(cut, orders)| (size(cut), orders));
                (kept.collect::<Vec<_>>(), missing)
            };
            assert_eq!(kept(50), (vec![(20, 0)], 0));
            assert_eq!(kept(20), (vec![(50, 0)], 0));
        }
    }

    #[test]
    fn a_cut_that_never_came_to_an_end_goes_whole() {
        use WithdrawalState::{Returning, Taken, Taking};
        let cuts = [cut(1, 50, Taking), cut(2, 10, Taken), cut(3, 50, Returning)];
        assert_eq!(planned(&cuts, 10), (vec![(1, 0), (3, 0)], 0));
    }
}
