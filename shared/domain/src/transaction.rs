//! What a cancelled persistence transaction means, reason by reason.

/// Why one item of a transaction was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemFailure {
    /// It would have been.
    None,
    /// Its condition was false: the item was there.
    ConditionFailed,
    /// Another write was at it in the same moment.
    Conflict,
    /// The table or partition was too busy.
    Throttled,
    /// The item can't be written as it is.
    Invalid,
    /// A reason this code does not know.
    Unknown,
}

/// What persistence must do after its transaction was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersistVerdict {
    /// The order is there already: read what it says and go by that.
    OrderPresent,
    /// A unit has an owner; the position among the order's units is given.
    UnitPresent(usize),
    /// Only contention: try again in place.
    Contention,
    /// Throttled or unknown: nothing can be said; read the order, try later.
    Unclear,
    /// Repeating will never help.
    Poison,
}

/// Reads the cancellation reasons by position: the order's item is first, its
/// units follow. The order's own condition is looked at before anything else,
/// and no other item's failure is ever taken for it.
#[must_use]
pub fn classify_persist(reasons: &[ItemFailure]) -> PersistVerdict {
    let Some((order, units)) = reasons.split_first() else {
        return PersistVerdict::Unclear;
    };
    if *order == ItemFailure::ConditionFailed {
        return PersistVerdict::OrderPresent;
    }
    if reasons.contains(&ItemFailure::Invalid) {
        return PersistVerdict::Poison;
    }
    // A unit's condition is only final where nothing else was in the way: with
    // the order's item in conflict, this very intent may be landing elsewhere.
    let only = |allowed: &[ItemFailure]| reasons.iter().all(|reason| allowed.contains(reason));
    if only(&[ItemFailure::None, ItemFailure::ConditionFailed])
        && let Some(at) = units.iter().position(|reason| *reason == ItemFailure::ConditionFailed)
    {
        return PersistVerdict::UnitPresent(at);
    }
    if only(&[ItemFailure::None, ItemFailure::ConditionFailed, ItemFailure::Conflict]) {
        return PersistVerdict::Contention;
    }
    PersistVerdict::Unclear
}

#[cfg(test)]
mod tests {
    use super::ItemFailure as F;
    use super::*;

    #[test]
    fn the_orders_own_condition_comes_first() {
        for other in
            [F::None, F::ConditionFailed, F::Conflict, F::Throttled, F::Invalid, F::Unknown]
        {
            assert_eq!(
                classify_persist(&[F::ConditionFailed, other]),
                PersistVerdict::OrderPresent
            );
        }
    }

    #[test]
    fn another_items_condition_is_never_taken_for_a_duplicate() {
        assert_eq!(
            classify_persist(&[F::None, F::None, F::ConditionFailed]),
            PersistVerdict::UnitPresent(1)
        );
    }

    #[test]
    fn only_pure_contention_is_retried_in_place() {
        assert_eq!(classify_persist(&[F::Conflict, F::None]), PersistVerdict::Contention);
        assert_eq!(
            classify_persist(&[F::Conflict, F::ConditionFailed]),
            PersistVerdict::Contention
        );
        assert_eq!(classify_persist(&[F::Conflict, F::Throttled]), PersistVerdict::Unclear);
        assert_eq!(classify_persist(&[F::ConditionFailed; 0]), PersistVerdict::Unclear);
        assert_eq!(classify_persist(&[F::Unknown, F::ConditionFailed]), PersistVerdict::Unclear);
        assert_eq!(classify_persist(&[F::None, F::None]), PersistVerdict::Contention);
    }

    #[test]
    fn an_item_that_cannot_be_written_is_poison() {
        assert_eq!(classify_persist(&[F::None, F::Invalid, F::Throttled]), PersistVerdict::Poison);
    }
}
