//! What a demo can be told.

use clap::Parser;

use crate::demo::account::DEFINITIONS;

/// Sells out a hall to a simulated crowd, and gives account of it.
///
/// Creates an event on the running stack and lets fans join the line, enter,
/// look at the map, choose, buy, watch and leave, through HTTP and WebSocket
/// only. The seed decides what each fan is like, not how they interleave.
#[derive(Debug, Clone, Parser)]
#[command(name = "demo", after_long_help = DEFINITIONS)]
pub struct Options {
    /// How many fans come.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub fans: u32,
    /// Numbered seats, in three sections.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub seats: u32,
    /// Standing places.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub standing: u32,
    /// The most fans that may shop at once.
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub cap: u32,
    /// What the fans' characters are drawn from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Prints the account as one JSON object, the last line of standard output.
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Whether there is anything to sell.
    ///
    /// # Errors
    /// What to tell a person when there is not.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.seats + self.standing == 0 {
            return Err("--seats and --standing are both 0: there is nothing to sell");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_hold_together_and_the_definitions_are_in_the_help() {
        Options::command().debug_assert();
        let help = Options::command().render_long_help().to_string();
        for word in ["sold", "refused", "held", "oversold", "lost", "double", "stores_agree"] {
            assert!(help.contains(&format!("\n  {word}")), "{word}: {help}");
        }
        for option in ["--fans", "--seats", "--standing", "--cap", "--seed", "--json"] {
            assert!(help.contains(option), "{option}: {help}");
        }
        assert!(help.contains("\n  3  the sale could not be run"), "{help}");
        let options = Options::parse_from(["demo"]);
        let hall = (options.fans, options.seats, options.standing);
        assert_eq!(hall, (2_000, 400, 600));
        assert!(options.check().is_ok());
        assert!(Options::try_parse_from(["demo", "--fans", "0"]).is_err());
        let empty = Options::parse_from(["demo", "--seats", "0", "--standing", "0"]);
        assert!(empty.check().is_err());
    }
}
