//! Errors in logs.

use std::error::Error;
use std::fmt;

/// An error with all its sources, in one line.
#[derive(Debug, Clone, Copy)]
pub struct Causes<E>(pub E);

impl<E: std::ops::Deref<Target: Error>> fmt::Display for Causes<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", &*self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::fmt::Error);

    #[test]
    fn an_error_is_logged_with_all_that_caused_it() {
        let text = Causes(&Outer(std::fmt::Error)).to_string();
        assert_eq!(text, format!("outer: {}", std::fmt::Error));
    }
}
