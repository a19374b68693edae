//! What happens at the points of one task.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};

use crate::Point;

tokio::task_local! {
    static HERE: Arc<Plan>;
}

/// What is to happen at which point. A point that is reached again after its
/// fault has happened is passed.
#[derive(Debug, Default)]
pub struct Faults {
    plan: Plan,
}

#[derive(Debug, Default)]
struct Plan {
    faults: Mutex<HashMap<Point, Fault>>,
    passed: Mutex<Vec<Point>>,
    killed: Notify,
}

#[derive(Debug)]
enum Fault {
    Kill,
    Panic,
    Stop(Gate),
    Delay(Duration),
}

/// Where a task stands until it is let on.
#[derive(Debug, Clone)]
pub struct Gate {
    arrived: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Gate {
    fn shut() -> Self {
        Self { arrived: Arc::new(Semaphore::new(0)), open: Arc::new(Semaphore::new(0)) }
    }

    /// Waits until the task stands at the gate.
    pub async fn arrived(&self) {
        pass(&self.arrived).await;
    }

    /// Lets it on. Before it has arrived, too: then it does not stop.
    pub fn open(&self) {
        self.open.add_permits(1);
    }

    async fn stand(&self) {
        self.arrived.add_permits(1);
        pass(&self.open).await;
    }
}

/// A semaphore that is never closed always has a permit in the end.
async fn pass(semaphore: &Semaphore) {
    if let Ok(permit) = semaphore.acquire().await {
        permit.forget();
    }
}

impl Faults {
    /// Nothing happens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// At this point the task is dropped: nothing that it would have done after it
    /// happens, as when the process dies.
    #[must_use]
    pub fn kill(self, point: Point) -> Self {
        self.at(point, Fault::Kill)
    }

    /// At this point the task panics.
    #[must_use]
    pub fn panic(self, point: Point) -> Self {
        self.at(point, Fault::Panic)
    }

    /// At this point the task goes on after so long.
    #[must_use]
    pub fn delay(self, point: Point, by: Duration) -> Self {
        self.at(point, Fault::Delay(by))
    }

    /// At this point the task stands until the gate is opened.
    #[must_use]
    pub fn stop(self, point: Point) -> (Self, Gate) {
        let gate = Gate::shut();
        (self.at(point, Fault::Stop(gate.clone())), gate)
    }

    fn at(self, point: Point, fault: Fault) -> Self {
        locked(&self.plan.faults).insert(point, fault);
        self
    }

    /// Runs a task under these faults; none: it was killed.
    pub async fn run<F: Future>(self, task: F) -> Option<F::Output> {
        self.observed(task).await.0
    }

    /// The same, with the points that it came by, in order.
    pub async fn observed<F: Future>(self, task: F) -> (Option<F::Output>, Vec<Point>) {
        let plan = Arc::new(self.plan);
        let outcome = tokio::select! {
            biased;
            () = plan.killed.notified() => None,
            outcome = HERE.scope(Arc::clone(&plan), task) => Some(outcome),
        };
        let passed = std::mem::take(&mut *locked(&plan.passed));
        (outcome, passed)
    }

    /// Runs a task twice: the first time whatever it comes to, so that every effect
    /// is repeated. What the second one came to.
    pub async fn repeat<F: Future>(task: impl Fn() -> F) -> F::Output {
        task().await;
        task().await
    }
}

/// A task without faults passes.
#[expect(clippy::panic, reason = "a test asks for it")]
pub(crate) async fn reached(point: Point) {
    let Ok(plan) = HERE.try_with(Arc::clone) else { return };
    locked(&plan.passed).push(point);
    let fault = locked(&plan.faults).remove(&point);
    match fault {
        None => {}
        Some(Fault::Panic) => panic!("it was told to panic at {point}"),
        Some(Fault::Delay(by)) => tokio::time::sleep(by).await,
        Some(Fault::Stop(gate)) => gate.stand().await,
        Some(Fault::Kill) => {
            plan.killed.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
