//! What a cancelled transaction of a claim means, reason by reason.

use crate::Reason;

/// What the reasons of a cancelled transaction say, the receipt's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The receipt was there: the request was decided before.
    ReceiptPresent,
    /// Conditions of the work failed, and nothing else was in the way.
    WorkRefused,
    /// An item can't be written as it is: no repeat ever helps.
    Invalid,
    /// Others were in the way, or nothing can be said: nothing is decided.
    Undecided,
}

impl Verdict {
    /// Reads the reasons by position. The receipt's own condition is looked at
    /// before anything else, and no other item's is ever taken for it.
    ///
    /// A condition of the work counts only where nothing else was in the way: with
    /// the receipt in conflict, this very request may be landing elsewhere.
    #[must_use]
    pub fn of(reasons: &[Reason]) -> Self {
        if reasons.first() == Some(&Reason::ConditionFailed) {
            Self::ReceiptPresent
        } else if reasons.contains(&Reason::Invalid) {
            Self::Invalid
        } else if is_refusal(reasons) {
            Self::WorkRefused
        } else {
            Self::Undecided
        }
    }
}

fn is_refusal(reasons: &[Reason]) -> bool {
    let fine_or_failed = |reason: &Reason| matches!(reason, Reason::None | Reason::ConditionFailed);
    reasons.contains(&Reason::ConditionFailed) && reasons.iter().all(fine_or_failed)
}

#[cfg(test)]
mod tests {
    use super::Reason::{ConditionFailed, Conflict, Invalid, None as Fine, Throttled, Unknown};
    use super::*;

    #[test]
    fn the_receipts_own_condition_comes_first() {
        for other in [Fine, ConditionFailed, Conflict, Throttled, Invalid, Unknown] {
            assert_eq!(Verdict::of(&[ConditionFailed, other]), Verdict::ReceiptPresent);
        }
    }

    #[test]
    fn another_items_condition_is_never_taken_for_a_duplicate() {
        assert_eq!(Verdict::of(&[Fine, Fine, ConditionFailed]), Verdict::WorkRefused);
    }

    #[test]
    fn a_condition_of_the_work_counts_only_where_nothing_else_was_in_the_way() {
        for other in [Conflict, Throttled, Unknown] {
            for reasons in [[other, ConditionFailed], [Fine, other]] {
                assert_eq!(Verdict::of(&reasons), Verdict::Undecided, "{reasons:?}");
            }
            assert_eq!(Verdict::of(&[Fine, ConditionFailed, other]), Verdict::Undecided);
        }
    }

    #[test]
    fn an_item_that_cannot_be_written_never_can() {
        assert_eq!(Verdict::of(&[Fine, Invalid, Throttled]), Verdict::Invalid);
        assert_eq!(Verdict::of(&[Fine, ConditionFailed, Invalid]), Verdict::Invalid);
    }

    #[test]
    fn reasons_that_say_nothing_decide_nothing() {
        assert_eq!(Verdict::of(&[]), Verdict::Undecided);
        assert_eq!(Verdict::of(&[Fine, Fine]), Verdict::Undecided);
    }
}
