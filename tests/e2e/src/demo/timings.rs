//! How long things took.

use std::time::Duration;

use serde::Serialize;

/// Median and 99th percentile of some durations, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Timings {
    /// How many were measured.
    pub count: usize,
    /// Half took no longer.
    pub median: u64,
    /// All but a hundredth took no longer.
    pub p99: u64,
}

impl Timings {
    /// Sums durations up; zeros where there are none.
    #[must_use]
    pub fn of(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self {
            count: durations.len(),
            median: milliseconds(nearest_rank(&durations, 50)),
            p99: milliseconds(nearest_rank(&durations, 99)),
        }
    }
}

/// The smallest value that so many of a hundred don't exceed.
#[must_use]
pub fn nearest_rank(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let of = |milliseconds: &[u64]| {
            Timings::of(milliseconds.iter().map(|&ms| Duration::from_millis(ms)).collect())
        };
        assert_eq!(of(&[]), Timings { count: 0, median: 0, p99: 0 });
        assert_eq!(of(&[7]), Timings { count: 1, median: 7, p99: 7 });
        assert_eq!(of(&[3, 1, 2]), Timings { count: 3, median: 2, p99: 3 });
        let hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(of(&hundred), Timings { count: 100, median: 50, p99: 99 });
    }
}
