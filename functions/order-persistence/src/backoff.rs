//! How soon a message that failed comes back.

const LONGEST_SECONDS: u32 = 30;

/// After how many seconds a message that failed comes back: 1, 2, 4, … up to 30.
#[must_use]
pub fn return_seconds(receive_count: u32) -> u32 {
    2_u32.saturating_pow(receive_count.saturating_sub(1)).min(LONGEST_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_sooner_than_its_queue_would_have_it() {
        assert_eq!([1, 2, 3, 5, 6, 1_000].map(return_seconds), [1, 2, 4, 16, 30, 30]);
        assert_eq!(return_seconds(0), 1);
    }
}
