//! Named places in handlers and stores where a test can stop, kill, delay or repeat.
//!
//! A handler says where it is:
//!
//! ```
//! # async fn held() {
//! fault_points::reached(fault_points::RESERVATION_HELD).await;
//! # }
//! ```
//!
//! and a test says what happens there, to this task alone, so that tests run
//! beside each other:
//!
//! ```
//! use fault_points::{Faults, RESERVATION_HELD};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let faults = Faults::new().kill(RESERVATION_HELD);
//! let outcome = faults.run(async {
//!     fault_points::reached(RESERVATION_HELD).await;
//!     "answered"
//! });
//! assert_eq!(outcome.await, None);
//! # });
//! ```
//!
//! A whole process is told by a file that the variable `ONSALE_FAULTS` names: see
//! [`reached`].
//!
//! **Architecture invariant:** none of this is in a release build. Without debug
//! assertions [`reached`] is empty, and [`Faults`] doesn't exist.

mod point;

#[cfg(debug_assertions)]
mod faults;
#[cfg(debug_assertions)]
mod process;

pub use point::*;

#[cfg(debug_assertions)]
pub use faults::{Faults, Gate};

/// The code is here now. In a debug build this is where the task's [`Faults`]
/// happen, or the process': the file that `ONSALE_FAULTS` names has a line
/// `POINT kill` or `POINT stop`. A process that is killed ends without a word, one
/// that is stopped goes on when the line is gone; either first writes its process
/// id to the file's name with `.reached` behind it.
#[cfg(debug_assertions)]
pub async fn reached(point: Point) {
    faults::reached(point).await;
    process::reached(point).await;
}

/// The code is here now, which means nothing in a release build.
#[cfg(not(debug_assertions))]
pub async fn reached(_: Point) {}
