//! The function's environment.

use domain::HoldTime;
use lambda_kit::config::{InvalidVariables, Secret, Variables};
use redis_store::RedisMode;

/// The variables it reads.
pub const VARIABLES: &[&str] = &[
    "REDIS_URL",
    "REDIS_MODE",
    "CATALOG_TABLE",
    "ORDERS_TABLE",
    "UNITS_TABLE",
    "ORDER_INTENTS_QUEUE_URL",
    "ORDER_INTENTS_DEAD_LETTERS_URL",
    "HOLD_SECONDS",
    "PERSISTENCE_TIMEOUT_SECONDS",
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
    /// The queue of intents, where messages are made to come back sooner.
    pub order_intents_queue_url: String,
    /// Where intents end that can never be carried out.
    pub dead_letters_url: String,
    /// How long a hold lasts.
    pub hold: HoldTime,
}

impl Config {
    /// Reads the environment.
    ///
    /// # Errors
    /// When something is missing or wrong; all of it is named.
    pub fn read(mut variables: Variables) -> Result<Self, InvalidVariables> {
        let redis_url = variables.secret("REDIS_URL");
        let redis_mode = variables.choice(
            "REDIS_MODE",
            ("single", RedisMode::Single),
            &[("cluster", RedisMode::Cluster)],
        );
        let catalog_table = variables.text("CATALOG_TABLE");
        let orders_table = variables.text("ORDERS_TABLE");
        let units_table = variables.text("UNITS_TABLE");
        let order_intents_queue_url = variables.text("ORDER_INTENTS_QUEUE_URL");
        let dead_letters_url = variables.text("ORDER_INTENTS_DEAD_LETTERS_URL");
        let hold = variables.hold_time();
        variables.finish()?;
        Ok(Self {
            redis_url,
            redis_mode,
            catalog_table,
            orders_table,
            units_table,
            order_intents_queue_url,
            dead_letters_url,
            hold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> Vec<(&'static str, &'static str)> {
        let value = |name| match name {
            "REDIS_MODE" => "single",
            "HOLD_SECONDS" => "70",
            "PERSISTENCE_TIMEOUT_SECONDS" => "30",
            _ => "x",
        };
        VARIABLES.iter().map(|name| (*name, value(name))).collect()
    }

    #[test]
    fn everything_it_reads_is_in_the_list() {
        assert!(Config::read(Variables::from_map(complete())).is_ok());
        let nothing = Config::read(Variables::from_map([("", "")])).unwrap_err();
        assert_eq!(nothing.names(), VARIABLES);
    }

    #[test]
    fn a_hold_is_at_least_twice_the_margin() {
        let short = complete().into_iter().map(|(name, value)| match name {
            "HOLD_SECONDS" => (name, "69"),
            _ => (name, value),
        });
        let error = Config::read(Variables::from_map(short)).unwrap_err();
        assert_eq!(error.names(), ["HOLD_SECONDS"]);
    }
}
