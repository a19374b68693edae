//! The rules that keep the promises. The product keeps all of them; a model
//! without one shows what it is for.

/// A rule, and where it stands in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// `order_persist`: a unit is put only where it has no owner.
    UnitIsAbsent,
    /// `order_persist`: an order is put only where it has no decision.
    OrderIsAbsent,
    /// `order_refuse`: a refusal is put only where the order has no decision.
    RefusalIsAbsent,
    /// `order_end`: the order is still as it was read.
    EndsAsRead,
    /// `order_end`: a unit is deleted only where its owner is this order.
    DeletesOwnUnits,
    /// `settle.lua`: a version that is not above the last applied is ignored.
    SettlesNewerVersions,
    /// `settle.lua`: ended, the units that Redis says are the order's are freed,
    /// and not those that its item names.
    FreesOwnUnits,
    /// `settle.lua`: a unit is never taken from an order that is live.
    SparesLiveOrders,
    /// `settle.lua`: an order of an older epoch, or one that holds nothing any more, is read
    /// again before it is believed.
    RereadsWhenInDoubt,
    /// `reserve.lua`: an order that lapsed never holds again in its epoch.
    LapsesForGood,
    /// `Till::find_or_place`: the stored order is looked for before anything is held.
    LooksForTheReceipt,
    /// `Persistence::persist`: nothing is begun when the hold is about to lapse.
    IsNeverTooLate,
    /// `Persistence::batch`: a message is deleted when it is done with.
    AcknowledgesLast,
    /// `Projector`: the stream settles what nobody else did.
    StreamSettles,
}
