//! What is printed.

use std::io::Write;

use serde_json::{Value, json};

use crate::postgres::{Postgres, Sold};
use crate::rates::Rates;

/// A line of the output. Nobody is left to tell when nobody listens any more.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Numbers measured beside a compiler are no numbers.
pub(crate) fn warn_of_builds() {
    let is_compiler = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = std::fs::read_to_string(entry.ok()?.path().join("comm")).ok()?;
        ["rustc", "cc1", "cc1plus"].contains(&name.trim()).then_some(())
    };
    let found =
        std::fs::read_dir("/proc").is_ok_and(|mut all| all.any(|e| is_compiler(e).is_some()));
    if found {
        say("A compiler runs on this machine: what follows is lower than it could be.");
    }
}

/// Everything that was measured.
pub(crate) struct Report {
    pub(crate) rates: Rates,
    pub(crate) bytes_per_hold: f64,
    pub(crate) bytes_per_waiting_fan: f64,
    pub(crate) postgres: Option<Postgres>,
}

impl Report {
    fn reserve_vs_postgres(&self) -> Option<f64> {
        let best = self.postgres.as_ref()?.best()?;
        Some(self.rates.reserve_at_100 / best)
    }

    /// For people.
    pub(crate) fn print(&self) {
        let rates = &self.rates;
        say("");
        say("Operations a second, 64 deep on one Redis (the fastest of 15 turns):");
        let beside = |name: &str, rate: f64| {
            say(&format!(
                "  {name:<36} {rate:>9.0}/s  {:>6.3} of a no-op script",
                rate / rates.noop
            ));
        };
        beside("a bare DECR", rates.decr);
        beside("a script that does nothing", rates.noop);
        beside("the same, with a reservation's arguments", rates.noop_with_arguments);
        beside("sold-out refusals", rates.sold_out);
        beside("reservations at 100 orders", rates.reserve_at_100);
        beside("reservations at 1,000,000 orders", rates.reserve_at_1m);
        let slower = rates.reserve_at_1m / rates.reserve_at_100;
        say(&format!("  at 1,000,000 orders {slower:.2} of the rate at 100"));
        say("");
        say(&format!(
            "Memory: {:.0} bytes a held order, {:.0} bytes a waiting fan",
            self.bytes_per_hold, self.bytes_per_waiting_fan
        ));
        say("");
        self.print_postgres();
    }

    fn print_postgres(&self) {
        let Some(postgres) = &self.postgres else {
            say("PostgreSQL can't be had here: not compared.");
            return;
        };
        say("The same sale on PostgreSQL, one row:");
        for sold in &postgres.sales {
            say(&format!(
                "  {:<10} {:>5} clients {:>7.0} sold/s {:>8.2} tries a sale {:>6} timeouts",
                sold.way.name(),
                sold.clients,
                sold.per_second,
                sold.tries_per_sale,
                sold.timeouts,
            ));
        }
        if let Some(times) = self.reserve_vs_postgres() {
            say(&format!("  Redis reserves {times:.0} times as fast as the best of these"));
        }
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let rates = &self.rates;
        let curve: Vec<_> = rates
            .curve
            .iter()
            .map(|(orders, rate)| json!({"orders": orders, "reserve_per_second": rate.round()}))
            .collect();
        let sale = |sold: &Sold| {
            json!({
                "way": sold.way.name(),
                "clients": sold.clients,
                "sold_per_second": sold.per_second.round(),
                "tries_per_sale": rounded(sold.tries_per_sale),
                "timeouts": sold.timeouts,
            })
        };
        let postgres: Option<Vec<_>> =
            self.postgres.as_ref().map(|postgres| postgres.sales.iter().map(sale).collect());
        json!({
            "reserve_vs_noop": rounded(rates.reserve_at_100 / rates.noop),
            "sold_out_vs_noop": rounded(rates.sold_out / rates.noop),
            "reserve_1m_vs_100": rounded(rates.reserve_at_1m / rates.reserve_at_100),
            "reserve_vs_postgres": self.reserve_vs_postgres().map(rounded),
            "bytes_per_waiting_fan": rounded(self.bytes_per_waiting_fan),
            "bytes_per_hold": rounded(self.bytes_per_hold),
            "noop_per_second": rates.noop.round(),
            "noop_with_arguments_per_second": rates.noop_with_arguments.round(),
            "decr_per_second": rates.decr.round(),
            "reserve_per_second": rates.reserve_at_100.round(),
            "reserve_1m_per_second": rates.reserve_at_1m.round(),
            "sold_out_per_second": rates.sold_out.round(),
            "curve": curve,
            "postgres": postgres,
        })
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}
