//! The function's environment.

use lambda_kit::config::{InvalidVariables, Secret, Variables};
use redis_store::RedisMode;

/// The variables it reads.
pub const VARIABLES: &[&str] = &[
    "REDIS_URL",
    "REDIS_MODE",
    "CATALOG_TABLE",
    "CONNECTIONS_TABLE",
    "LIVE_UPDATES_QUEUE_URL",
    "CONNECTIONS_ENDPOINT",
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
    /// The table of connections.
    pub connections_table: String,
    /// The queue of live updates.
    pub live_updates_queue_url: String,
    /// Where frames are posted.
    pub connections_endpoint: String,
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
            connections_table: variables.text("CONNECTIONS_TABLE"),
            live_updates_queue_url: variables.text("LIVE_UPDATES_QUEUE_URL"),
            connections_endpoint: variables.text("CONNECTIONS_ENDPOINT"),
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
        let value = |name| if name == "REDIS_MODE" { "single" } else { "x" };
        let complete = VARIABLES.iter().map(|name| (*name, value(*name)));
        assert!(Config::read(Variables::from_map(complete)).is_ok());
        let nothing = Config::read(Variables::from_map([("", "")])).unwrap_err();
        assert_eq!(nothing.names(), VARIABLES);
    }
}
