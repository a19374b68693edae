//! The account on paper: for people, and as one line of JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::demo::account::{Account, Books, PERSISTED_WITHIN_MS};
use crate::demo::options::Options;
use crate::demo::run::Finished;
use crate::demo::timings::Timings;

/// For people.
#[must_use]
pub fn text(finished: &Finished, options: &Options, took: Duration) -> String {
    let Finished { hall, account, failures } = finished;
    let event = &hall.sale.event;
    let mut lines = vec![
        format!(
            "{} fans, {} seats, {} standing places, cap {}, seed {}: {} s",
            options.fans,
            options.seats,
            options.standing,
            options.cap,
            options.seed,
            took.as_secs()
        ),
        String::new(),
    ];
    lines.extend(counts(account));
    lines.extend(failures.iter().map(|failure| format!("  a fan failed: {failure}")));
    lines.push(String::new());
    for books in &account.types {
        let equation = |store: &str, of: &Books| {
            format!(
                "  {store:<10} {:<10} {} = {} free + {} held + {} sold",
                books.ticket_type, books.capacity, of.free, of.held, of.sold
            )
        };
        lines.push(equation("Redis", &books.redis));
        lines.push(equation("DynamoDB", &books.dynamodb));
    }
    lines.push(String::new());
    lines.push(timing("accepted to persisted", account.accepted_to_persisted_ms));
    lines.push(format!("  {:<22} {}", "", in_time(account)));
    lines.push(timing("hold to seat map", account.hold_to_seat_map_ms));
    lines.push(String::new());
    lines.push(verdict(account).to_owned());
    lines.push(String::new());
    lines.push("The stack stays up:".to_owned());
    let stack = &hall.sale.world.stack;
    lines.push(format!("  HTTP       {}", stack.http_url));
    lines.push(format!("  WebSocket  {}", stack.ws_url));
    lines.push(format!("  curl {}/events/{event}/ticket-types", stack.http_url));
    lines.join("\n")
}

fn counts(account: &Account) -> Vec<String> {
    let count = |name: &str, value: u32, more: &str| format!("  {name:<22} {value:>6}{more}");
    vec![
        count("sold", account.sold, &format!(" of {}", account.capacity)),
        count("refused", account.refused, ""),
        count("accepted, then rejected", account.rejected, ""),
        count("still held", account.held, ""),
        count("oversold", account.oversold, ""),
        count("lost", account.lost, ""),
        count("double", account.double, ""),
        count("wrong seat maps", account.maps_wrong, ""),
        count("most shopping at once", account.most_shopping, ""),
        count("failed fans", account.failed, ""),
    ]
}

fn timing(what: &str, timings: Timings) -> String {
    let Timings { count, median, p99 } = timings;
    format!("  {what:<22} median {median} ms, 99 % within {p99} ms ({count} measured)")
}

fn in_time(account: &Account) -> String {
    let aim = PERSISTED_WITHIN_MS / 1_000;
    match account.persisted_in_time {
        true => format!("99 % took less than {aim} s, as they should"),
        false => format!("99 % SHOULD TAKE LESS THAN {aim} s (no promise: see --help)"),
    }
}

fn verdict(account: &Account) -> &'static str {
    match account.is_kept() {
        true => "Every promise was kept.",
        false => "A PROMISE WAS BROKEN (what the words mean: localstack/demo --help).",
    }
}

/// For machines.
#[must_use]
pub fn json(finished: &Finished, options: &Options, took: Duration) -> Value {
    let mut object = json!(finished.account);
    object["event"] = json!(finished.hall.sale.event);
    object["fans"] = json!(options.fans);
    object["seats"] = json!(options.seats);
    object["standing"] = json!(options.standing);
    object["cap"] = json!(options.cap);
    object["seed"] = json!(options.seed);
    object["seconds"] = json!(took.as_secs());
    object["promises_kept"] = json!(finished.account.is_kept());
    object
}
