//! The function's environment.

use std::time::Duration;

use lambda_kit::config::{InvalidVariables, Secret, Variables};
use redis_store::RedisMode;

/// The variables it reads.
pub const VARIABLES: &[&str] = &[
    "REDIS_URL",
    "REDIS_MODE",
    "CATALOG_TABLE",
    "ORDERS_TABLE",
    "UNITS_TABLE",
    "HOLD_SECONDS",
    "GROUPS_CLAIM",
];

/// What they say.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where Redis is.
    pub redis_url: Secret,
    /// One node or a cluster.
    pub redis_mode: RedisMode,
    /// The table of events.
    pub catalog_table: String,
    /// The table of orders.
    pub orders_table: String,
    /// The table of owned units.
    pub units_table: String,
    /// How long a hold lasts.
    pub hold: Duration,
    /// The claim that lists a person's groups.
    pub groups_claim: String,
}

impl Config {
    /// Reads the environment.
    ///
    /// # Errors
    /// When something is missing or wrong; all of it is named.
    pub fn read(mut variables: Variables) -> Result<Self, InvalidVariables> {
        let config = Self {
            redis_url: variables.secret("REDIS_URL"),
            redis_mode: variables.choice(
                "REDIS_MODE",
                ("single", RedisMode::Single),
                &[("cluster", RedisMode::Cluster)],
            ),
            catalog_table: variables.text("CATALOG_TABLE"),
            orders_table: variables.text("ORDERS_TABLE"),
            units_table: variables.text("UNITS_TABLE"),
            hold: Duration::from_secs(variables.seconds("HOLD_SECONDS").into()),
            groups_claim: variables.text("GROUPS_CLAIM"),
        };
        variables.finish()?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_it_reads_is_in_the_list() {
        let value = |name| match name {
            "REDIS_MODE" => "single",
            "HOLD_SECONDS" => "600",
            _ => "x",
        };
        let complete = VARIABLES.iter().map(|name| (*name, value(*name)));
        assert!(Config::read(Variables::from_map(complete)).is_ok());
        let nothing = Config::read(Variables::from_map([("", "")])).unwrap_err();
        assert_eq!(nothing.names(), VARIABLES);
    }
}
