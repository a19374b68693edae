//! One command after the other, on both.

use std::fmt::Debug;

use model::{Intent, OrderNo, Set};

use crate::command::{Case, Command, Redis};
use crate::product::Product;
use crate::spec::{Answer, Known, Spec};

/// Carries out a case.
///
/// # Panics
/// When the product and the model differ, or a promise is broken.
pub async fn run(case: &Case) {
    let product = Product::of(&case.sale).await;
    let mut both = Both { spec: Spec::of(&case.sale), product };
    for command in &case.commands {
        both.carry_out(command).await;
        both.compare(command).await;
    }
    both.come_to_rest(case).await;
}

struct Both {
    product: Product,
    spec: Spec,
}

impl Both {
    async fn carry_out(&mut self, command: &Command) {
        match command {
            Command::Place(order) => self.place(*order).await,
            Command::PlaceOther(order) => {
                if self.spec.knows(*order) {
                    assert_eq!(self.product.place_other(*order).await, Answer::OtherContent);
                }
            }
            Command::Read(order) => {
                let answer = self.product.read(*order).await;
                assert_eq!(answer, self.spec.read(*order));
            }
            Command::Deliver { message, copies, again, redis } => {
                if !self.product.queue.is_empty() {
                    let at = message.index(self.product.queue.len());
                    self.deliver(at, *copies, *again, *redis).await;
                }
            }
            Command::GiveUp(message) => {
                if !self.product.queue.is_empty() {
                    let at = message.index(self.product.queue.len());
                    let intent = self.intent(at);
                    self.product.give_up(at).await;
                    self.spec.give_up(intent);
                }
            }
            Command::Project { record, whole, again, redis } => {
                if !self.product.stream.is_empty() {
                    let at = record.index(self.product.stream.len());
                    self.project(at, *whole, *again, *redis).await;
                }
            }
            Command::Retry(which) => {
                if !self.product.retries.is_empty() {
                    let at = which.index(self.product.retries.len());
                    let order = self.product.retries.keys().nth(at).copied();
                    self.retry(order.expect("a retry")).await;
                }
            }
            Command::End { order, settles } => {
                let item = self.spec.world.tables.order_fetch(*order);
                if item.is_some_and(|item| item.is_live()) {
                    self.product.end(*order, *settles).await;
                    self.spec.end(*order, *settles);
                }
            }
            Command::Lapse(order) => self.lapse(*order).await,
            Command::FallDue(order) => self.fall_due(*order).await,
            Command::Restart => {
                self.product.restart();
                self.spec.restart();
            }
            Command::LoseRedis => {
                self.product.lose_redis().await;
                self.spec.lose_redis();
            }
            Command::Forget(order) => {
                self.product.forget(*order).await;
                self.spec.forget(*order);
            }
            Command::Recover { dies } => self.recover(*dies).await,
        }
    }

    async fn place(&mut self, order: OrderNo) {
        let answer = self.product.place(order).await;
        let pick = if let Answer::Queued(units) = answer { units } else { Set::NONE };
        assert_eq!(answer, self.spec.place(order, pick));
    }

    async fn deliver(&mut self, at: usize, copies: usize, again: bool, redis: Redis) {
        let intent = self.intent(at);
        self.product.deliver(at, copies, again, redis).await;
        self.spec.deliver(intent, again, redis);
    }

    /// A message as the model has it.
    fn intent(&self, at: usize) -> Intent {
        let waiting = self.product.waiting(&self.product.queue[at]);
        let is_it = |intent: &&Intent| {
            (intent.order, intent.epoch, intent.units, intent.left == 0) == waiting
        };
        self.spec.world.queue.iter().find(is_it).copied().expect("the same intent")
    }

    async fn project(&mut self, at: usize, whole: bool, again: bool, redis: Redis) {
        let order = self.product.stream[at].image.order;
        let of_order = |other: &usize| self.product.stream[*other].image.order == order;
        let all = 0..self.product.stream.len();
        let at: Vec<usize> = if whole { all.filter(of_order).collect() } else { vec![at] };
        let images: Vec<_> = at.iter().map(|at| self.product.stream[*at].image).collect();
        self.product.project(&at, again, redis).await;
        self.spec.project(&images, again, redis);
    }

    async fn retry(&mut self, order: OrderNo) {
        self.product.retry(order).await;
        self.spec.retry(order);
    }

    async fn lapse(&mut self, order: OrderNo) {
        self.product.lapse(order).await;
        self.spec.lapse(order);
    }

    async fn fall_due(&mut self, order: OrderNo) {
        if self.spec.is_unpaid(order) {
            self.product.fall_due(order).await;
            self.spec.fall_due(order);
        }
    }

    async fn recover(&mut self, dies: bool) {
        self.product.recover(dies).await;
        self.spec.recover(dies);
    }

    async fn compare(&mut self, after: &impl Debug) {
        self.product.stream_on().await;
        let (product, spec) = (self.product.picture().await, self.spec.picture());
        assert_eq!(product, spec, "after {after:?}: the product, and then the model");
        self.spec.keeps_its_promises();
    }

    /// Lets everything end that is under way, and time pass for the rest. Then the
    /// promises hold that are promised for the end.
    async fn come_to_rest(&mut self, case: &Case) {
        self.recover(false).await;
        while self.one_to_rest().await {
            self.compare(&"a step to rest").await;
        }
        for order in case.sale.orders() {
            self.lapse(order).await;
            self.fall_due(order).await;
            // Of an order that ended, nobody waits for the end of its time to pay.
            self.spec.fall_due(order);
        }
        self.compare(&"all time has passed").await;
        assert!(self.spec.world.is_at_rest());
        let known = self.spec.picture().known;
        let live = known.iter().flatten().map(|known| match known {
            Known::Live(units) => units.len(),
            Known::Held(_) | Known::Over => 0,
        });
        let sold = live.sum();
        let free = u32::from(case.sale.units) - sold;
        assert_eq!(self.product.counts().await, [free, 0, sold]);
    }

    /// Works off one of what waits; whether anything did.
    async fn one_to_rest(&mut self) -> bool {
        let retry = self.product.retries.keys().next().copied();
        if !self.product.queue.is_empty() {
            self.deliver(0, 1, false, Redis::Up).await;
        } else if !self.product.stream.is_empty() {
            self.project(0, false, false, Redis::Up).await;
        } else if self.spec.world.lost_writes {
            self.recover(false).await;
        } else if let Some(order) = retry {
            self.retry(order).await;
        } else {
            return false;
        }
        true
    }
}
