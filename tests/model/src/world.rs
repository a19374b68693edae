//! Everything there is at one instant.

use crate::ending::Ending;
use crate::inventory::{Inventory, Settle, Settled};
use crate::letters::Compensating;
use crate::persistence::Persisting;
use crate::projector::{Image, Settling};
use crate::reading::Reading;
use crate::recovery::{self, Recovery};
use crate::sale::{Budget, Sale};
use crate::seen::Seen;
use crate::tables::Tables;
use crate::till::{Call, Placing};
use crate::words::{Bag, Intent, Item, ORDERS, OrderNo, Set};

/// One instant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    /// DynamoDB.
    pub tables: Tables,
    /// Redis.
    pub inventory: Inventory,
    /// order-intents and its dead-letter queue.
    pub queue: Bag<Intent>,
    /// The stream of the orders table.
    pub stream: Bag<Image>,
    /// settle-retries.
    pub retries: Set,
    /// Requests under way.
    pub placing: Bag<Placing>,
    /// Intents being persisted.
    pub persisting: Bag<Persisting>,
    /// Dead letters being seen to.
    pub letters: Bag<Compensating>,
    /// Orders being settled.
    pub settling: Bag<Settling>,
    /// Orders being ended.
    pub ending: Bag<Ending>,
    /// Looks at orders.
    pub reading: Bag<Reading>,
    /// The recovery.
    pub recovery: Recovery,
    /// Somebody found that Redis has lost writes.
    pub lost_writes: bool,
    /// For how many ticks each persisted order may still be paid.
    pub pay_left: [u8; ORDERS],
    /// Orders that nobody has asked for yet.
    pub unasked: Set,
    /// What may still happen.
    pub budget: Budget,
    /// What the onlooker keeps.
    pub seen: Seen,
}

impl World {
    /// Before anything happened.
    #[must_use]
    pub fn new(sale: &Sale) -> Self {
        Self {
            tables: Tables::new(),
            inventory: Inventory::new(),
            queue: Bag::default(),
            stream: Bag::default(),
            retries: Set::NONE,
            placing: Bag::default(),
            persisting: Bag::default(),
            letters: Bag::default(),
            settling: Bag::default(),
            ending: Bag::default(),
            reading: Bag::default(),
            recovery: Recovery::Idle,
            lost_writes: false,
            pay_left: [0; ORDERS],
            unasked: sale.orders().fold(Set::NONE, |set, order| set.or(Set::one(order.0))),
            budget: sale.budget,
            seen: Seen::default(),
        }
    }

    /// The orders table was written: the stream has a record of it.
    pub fn written(&mut self, order: OrderNo) {
        if let Some(item) = self.tables.order_fetch(order) {
            self.stream.put(Image { order, item });
        }
    }

    /// `order_refuse`: the item that was there; none: stored.
    pub fn order_refuse(&mut self, sale: &Sale, order: OrderNo, refusal: Item) -> Option<Item> {
        let present = self.tables.order_refuse(sale, order, refusal);
        if present.is_none() {
            self.written(order);
        }
        present
    }

    /// `settle`.
    pub fn settle(&mut self, sale: &Sale, wish: &Settle) -> Settled {
        self.inventory.settle(sale, wish)
    }

    /// Whether Redis has forgotten nothing so far.
    #[must_use]
    pub fn redis_lost_nothing(&self, sale: &Sale) -> bool {
        let (left, all) = (&self.budget, &sale.budget);
        (left.losses, left.lost_writes) == (all.losses, all.lost_writes)
    }

    /// Nothing is under way or waits for anything, not even for time to pass.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let processes = self.placing.is_empty()
            && self.persisting.is_empty()
            && self.letters.is_empty()
            && self.settling.is_empty()
            && self.ending.is_empty()
            && self.reading.is_empty();
        processes
            && self.queue.is_empty()
            && self.stream.is_empty()
            && self.retries.is_empty()
            && !recovery::is_due(self)
            && !self.waits_for_time()
    }

    /// Whether something ends by itself.
    #[must_use]
    pub fn waits_for_time(&self) -> bool {
        let sending = |placing: &Placing| matches!(placing.next, Call::Send(i) if i.left > 0);
        self.pay_left.iter().any(|left| *left > 0)
            || self.inventory.records.iter().flatten().any(|record| record.left > 0)
            || self.queue.iter().any(|intent| intent.left > 0)
            || self.persisting.iter().any(|persisting| persisting.intent.left > 0)
            || self.placing.iter().any(sending)
    }

    /// Time passes.
    pub fn tick(&mut self) {
        let pass = |left: &mut u8| *left = left.saturating_sub(1);
        self.pay_left.iter_mut().for_each(pass);
        self.inventory.tick();
        self.queue.change(|intent| pass(&mut intent.left));
        self.persisting.change(|persisting| {
            pass(&mut persisting.intent.left);
            persisting.aged = true;
        });
        self.placing.change(|placing| {
            if let Call::Send(intent) = &mut placing.next {
                pass(&mut intent.left);
            }
        });
    }
}
