//! The function's environment.

use lambda_kit::config::{InvalidVariables, Secret, Variables};
use redis_store::RedisMode;

/// The variables it reads.
pub const VARIABLES: &[&str] = &[
    "REDIS_URL",
    "REDIS_MODE",
    "CATALOG_TABLE",
    "ORDERS_TABLE",
    "LIVE_UPDATES_QUEUE_URL",
    "ORDER_INTENTS_DEAD_LETTERS_URL",
    "ORDER_INTENTS_PARKED_URL",
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
    /// The queue of live updates.
    pub live_updates_queue_url: String,
    /// The queue of dead letters, where those that fail are made to come back.
    pub dead_letters_url: String,
    /// Where letters are kept.
    pub parked_url: String,
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
            live_updates_queue_url: variables.text("LIVE_UPDATES_QUEUE_URL"),
            dead_letters_url: variables.text("ORDER_INTENTS_DEAD_LETTERS_URL"),
            parked_url: variables.text("ORDER_INTENTS_PARKED_URL"),
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
        let all = VARIABLES.iter().map(|name| (*name, "single"));
        assert!(Config::read(Variables::from_map(all)).is_ok());
        let nothing = Config::read(Variables::from_map([("", "")])).unwrap_err();
        assert_eq!(nothing.names(), VARIABLES);
    }
}
