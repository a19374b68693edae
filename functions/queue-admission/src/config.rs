//! The function's environment.

use lambda_kit::config::{InvalidVariables, Secret, Variables};
use redis_store::RedisMode;

/// The variables it reads.
pub const VARIABLES: &[&str] =
    &["REDIS_URL", "REDIS_MODE", "CATALOG_TABLE", "SIGNING_SECRET_ARN", "GROUPS_CLAIM"];

/// What they say.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where Redis is.
    pub redis_url: Secret,
    /// One node or a cluster.
    pub redis_mode: RedisMode,
    /// The table of events, settings and keys.
    pub catalog_table: String,
    /// The secret that the signing key is derived from.
    pub signing_secret_arn: String,
    /// The claim that lists a person's groups.
    pub groups_claim: String,
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
        let signing_secret_arn = variables.text("SIGNING_SECRET_ARN");
        let groups_claim = variables.text("GROUPS_CLAIM");
        variables.finish()?;
        Ok(Self { redis_url, redis_mode, catalog_table, signing_secret_arn, groups_claim })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_it_reads_is_in_the_list() {
        let value = |name| if name == "REDIS_MODE" { "cluster" } else { "x" };
        let complete = VARIABLES.iter().map(|name| (*name, value(*name)));
        assert!(Config::read(Variables::from_map(complete)).is_ok());
        let nothing = Config::read(Variables::from_map([("", "")])).unwrap_err();
        assert_eq!(nothing.names(), VARIABLES);
    }
}
