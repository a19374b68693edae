//! The function's environment.

use lambda_kit::config::{InvalidVariables, Variables};

use crate::issuer::Issuer;

/// The variables it reads.
pub const VARIABLES: &[&str] =
    &["CATALOG_TABLE", "TOKEN_ISSUER", "TOKEN_AUDIENCE", "TOKEN_JWKS_URL"];

/// What they say.
#[derive(Debug, Clone)]
pub struct Config {
    /// The table of our public keys.
    pub catalog_table: String,
    /// Whose tokens fans bring.
    pub issuer: Issuer,
}

impl Config {
    /// Reads the environment.
    ///
    /// # Errors
    /// When something is missing or wrong; all of it is named.
    pub fn read(mut variables: Variables) -> Result<Self, InvalidVariables> {
        let catalog_table = variables.text("CATALOG_TABLE");
        let issuer = Issuer {
            name: variables.text("TOKEN_ISSUER"),
            audience: variables.text("TOKEN_AUDIENCE"),
            jwks_url: variables.text("TOKEN_JWKS_URL"),
        };
        variables.finish()?;
        Ok(Self { catalog_table, issuer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_it_reads_is_in_the_list() {
        let complete = VARIABLES.iter().map(|name| (*name, "x"));
        assert!(Config::read(Variables::from_map(complete)).is_ok());
        let nothing = Config::read(Variables::from_map([("", "")])).unwrap_err();
        assert_eq!(nothing.names(), VARIABLES);
    }
}
