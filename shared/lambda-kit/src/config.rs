//! Reading a function's configuration from its environment: once, and with
//! everything that is missing said together.

use std::collections::BTreeMap;
use std::fmt;

use domain::HoldTime;

/// One thing that is wrong with the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidVariable {
    /// The variable.
    pub name: &'static str,
    /// What is wrong with it.
    pub fault: &'static str,
}

/// All that is wrong with the environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment is not as it must be: {}", self.list())]
pub struct InvalidVariables(Vec<InvalidVariable>);

impl InvalidVariables {
    /// The names, in the order they were read.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|invalid| invalid.name).collect()
    }

    fn list(&self) -> String {
        let faults: Vec<String> =
            self.0.iter().map(|invalid| format!("{} {}", invalid.name, invalid.fault)).collect();
        faults.join(", ")
    }
}

/// A text that never prints: a password, a secret, an address with either.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text that must not be printed.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one who needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The environment while a configuration is being read. Readers give a
/// placeholder for what is missing, so that reading goes on to the end;
/// [`Variables::finish`] then says all faults at once.
#[derive(Debug)]
pub struct Variables {
    values: BTreeMap<String, String>,
    faults: Vec<InvalidVariable>,
}

impl Variables {
    /// The process's environment.
    #[must_use]
    pub fn read() -> Self {
        Self::from_map(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    /// Any environment, for tests.
    #[must_use]
    pub fn from_map<N: Into<String>, V: Into<String>>(
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { values, faults: Vec::new() }
    }

    /// A text that must be there.
    pub fn text(&mut self, name: &'static str) -> String {
        match self.values.get(name).filter(|value| !value.is_empty()) {
            Some(value) => value.clone(),
            None => {
                self.faults.push(InvalidVariable { name, fault: "is missing" });
                String::new()
            }
        }
    }

    /// A text that must be there and must not be printed.
    pub fn secret(&mut self, name: &'static str) -> Secret {
        Secret(self.text(name))
    }

    /// A text that may be missing and must not be printed.
    #[must_use]
    pub fn optional_secret(&self, name: &str) -> Option<Secret> {
        self.values.get(name).filter(|value| !value.is_empty()).cloned().map(Secret)
    }

    /// A whole number of seconds, at least one.
    pub fn seconds(&mut self, name: &'static str) -> u32 {
        let text = self.text(name);
        match text.parse() {
            Ok(seconds) if seconds > 0 => seconds,
            _ if text.is_empty() => 0,
            _ => {
                self.invalid(name, "is not a number of seconds");
                0
            }
        }
    }

    /// The one setting for time: `HOLD_SECONDS` and `PERSISTENCE_TIMEOUT_SECONDS`.
    pub fn hold_time(&mut self) -> HoldTime {
        let hold = self.seconds("HOLD_SECONDS");
        let timeout = self.seconds("PERSISTENCE_TIMEOUT_SECONDS");
        HoldTime::new(hold, timeout).unwrap_or_else(|| {
            // Placeholders have been noted already.
            if hold > 0 && timeout > 0 {
                let fault = "is less than twice PERSISTENCE_TIMEOUT_SECONDS + 5";
                self.invalid("HOLD_SECONDS", fault);
            }
            HoldTime::default()
        })
    }

    /// One of several words, each with what it means.
    pub fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        first: (&str, T),
        others: &[(&str, T)],
    ) -> T {
        let text = self.text(name);
        let chosen = std::iter::once(&first).chain(others).find(|(word, _)| *word == text);
        match chosen {
            Some((_, meaning)) => *meaning,
            None => {
                if !text.is_empty() {
                    self.invalid(name, "is none of the words it can be");
                }
                first.1
            }
        }
    }

    /// Notes a fault that the caller found (two values that contradict).
    pub fn invalid(&mut self, name: &'static str, fault: &'static str) {
        self.faults.push(InvalidVariable { name, fault });
    }

    /// Ends reading.
    ///
    /// # Errors
    /// When anything was missing or wrong; all of it is named.
    pub fn finish(self) -> Result<(), InvalidVariables> {
        if self.faults.is_empty() { Ok(()) } else { Err(InvalidVariables(self.faults)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Mode {
        Single,
        Cluster,
    }

    fn read_all(variables: &mut Variables) -> (String, u32, Mode) {
        (
            variables.text("URL"),
            variables.seconds("HOLD_SECONDS"),
            variables.choice("MODE", ("single", Mode::Single), &[("cluster", Mode::Cluster)]),
        )
    }

    #[test]
    fn everything_that_is_missing_is_said_together() {
        let mut variables = Variables::from_map([("URL", "")]);
        let _ = read_all(&mut variables);
        let error = variables.finish().unwrap_err();
        assert_eq!(error.names(), ["URL", "HOLD_SECONDS", "MODE"]);
    }

    #[test]
    fn a_wrong_value_is_said_once_and_not_shown() {
        let mut variables =
            Variables::from_map([("URL", "x"), ("HOLD_SECONDS", "-7"), ("MODE", "both")]);
        let _ = read_all(&mut variables);
        let error = variables.finish().unwrap_err();
        assert_eq!(error.names(), ["HOLD_SECONDS", "MODE"]);
        assert!(!error.to_string().contains("-7"));
    }

    #[test]
    fn a_hold_that_is_too_short_for_its_timeout_is_a_fault() {
        let read = |hold: &str, timeout: &str| {
            let mut variables = Variables::from_map([
                ("HOLD_SECONDS", hold),
                ("PERSISTENCE_TIMEOUT_SECONDS", timeout),
            ]);
            let time = variables.hold_time();
            variables.finish().map(|()| time)
        };
        assert_eq!(read("70", "30"), Ok(HoldTime::new(70, 30).unwrap()));
        assert_eq!(read("69", "30").unwrap_err().names(), ["HOLD_SECONDS"]);
        let both = ["HOLD_SECONDS", "PERSISTENCE_TIMEOUT_SECONDS"];
        assert_eq!(read("", "").unwrap_err().names(), both);
    }

    #[test]
    fn what_is_there_is_read() {
        let mut variables =
            Variables::from_map([("URL", "x"), ("HOLD_SECONDS", "600"), ("MODE", "cluster")]);
        assert_eq!(read_all(&mut variables), ("x".to_owned(), 600, Mode::Cluster));
        assert_eq!(variables.finish(), Ok(()));
    }

    #[test]
    fn a_secret_does_not_print() {
        let secret = Variables::from_map([("S", "hush")]).secret("S");
        assert_eq!(secret.expose(), "hush");
        assert!(!format!("{secret:?}").contains("hush"));
    }
}
